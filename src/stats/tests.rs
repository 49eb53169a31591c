use super::{Compactions, Figures, Inherited, Kinds, LogStats, SortBy, Stats, Status, Total};
use crate::exit::Exit;
use crate::log::Source;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A log of these lines under `path`, as it is measured. The header comes first.
fn measured(path: &str, lines: &[&str]) -> LogStats {
    let text = lines.join("\n") + "\n";
    LogStats::of(path.into(), None, |_| Ok(Source::of_bytes(text.as_bytes())))
}

fn figures(lines: &[&str]) -> (Figures, Vec<String>) {
    let stats = measured("log", lines);
    (stats.figures.unwrap(), stats.notes)
}

const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

fn header(version: u64, seeded: bool) -> String {
    format!(
        r#"{{"type":"session","version":{version},"id":"s","createdAt":1,"isSeeded":{seeded},"delegationDepth":0}}"#
    )
}

fn event(seq: u64, event_type: &str, data: &str) -> String {
    format!(r#"{{"type":"{event_type}","seq":{seq},"time":{},"data":{data}}}"#, 1000 + seq)
}

fn user(seq: u64, text: &str) -> String {
    format!(
        r#"{{"type":"user/message","seq":{seq},"time":{},"data":{{"id":"m{seq}","role":"user","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"user"}}}},"surfaceOp":"append"}}"#,
        1000 + seq
    )
}

fn row(seq: u64, texts: usize) -> String {
    let (texts, gaps) = (vec![r#""ab""#; texts].join(","), vec!["1"; texts - 1].join(","));
    format!(
        r#"{{"type":"text-chunks","seq0":{seq},"time0":500,"data":{{"turn":1,"step":1,"index":0,"dt":[{gaps}],"texts":[{texts}]}}}}"#
    )
}

fn chunk(seq: u64, kind: &str) -> String {
    event(seq, "assistant/chunk", &format!(r#"{{"turn":1,"step":1,"chunk":{{"type":"{kind}","index":0}}}}"#))
}

fn end_seed(seq: u64, data: &str) -> String {
    event(seq, "session/end-seed", data)
}

fn counts(kinds: &Kinds) -> Vec<(&str, u64)> {
    kinds.by_count()
}

#[test]
fn rows_count_as_the_events_that_they_stand_for() {
    let lines = [user(0, "hello"), row(1, 4), chunk(5, "block-end"), chunk(6, "text-delta")];
    let lines: Vec<&str> = [HEADER].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let (figures, notes) = figures(&lines);
    let tally = &figures.tally;
    assert_eq!((tally.records, tally.events), (4, 7));
    assert_eq!(counts(&tally.by_type), [("assistant/chunk", 6), ("user/message", 1)]);
    assert_eq!(counts(&tally.chunks.by_kind), [("text-delta", 5), ("block-end", 1)]);
    assert_eq!(tally.chunks.events, 6);
    let chunk_bytes: usize = lines[2..].iter().map(|line| line.len() + 1).sum();
    assert_eq!(tally.chunks.bytes, chunk_bytes as u64);
    assert_eq!(tally.bytes + HEADER.len() as u64 + 1, figures.decoded);
    assert_eq!((figures.nodes, figures.last_time, figures.frames), (1, Some(1006), None));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn a_log_of_a_header_alone_has_no_activity() {
    let (figures, notes) = figures(&[HEADER]);
    assert_eq!((figures.tally.events, figures.last_time, figures.inherited), (0, None, None));
    assert_eq!((figures.decoded, figures.tally.chunk_share()), (HEADER.len() as u64 + 1, None));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn streams_within_messages_are_told_as_bytes() {
    let stream = r#"[{"type":"text-chunks","time0":1,"index":0,"dt":[],"texts":["ab"]}]"#;
    let attempt = event(0, "assistant/attempt", &format!(r#"{{"turn":1,"step":1,"stream":{stream}}}"#));
    let (figures, _) = figures(&[&header(4, false), &attempt]);
    let tally = &figures.tally;
    assert_eq!((tally.stream_bytes, tally.chunks.events, tally.chunks.bytes), (stream.len() as u64, 0, 0));
    assert_eq!(tally.streamed_bytes(), stream.len() as u64);
}

#[test]
fn brackets_are_told_by_how_they_ended() {
    let start =
        |seq, id: &str| event(seq, "compaction/start", &format!(r#"{{"compactionId":"{id}","turn":null}}"#));
    let end = |seq, id: &str, more: &str| {
        event(seq, "compaction/end", &format!(r#"{{"compactionId":"{id}","turn":null{more}}}"#))
    };
    let lines = [
        start(0, "a"),
        end(1, "a", ""),
        start(2, "b"),
        end(3, "b", r#","error":"no""#),
        start(4, "c"),
        end_seed(5, "{}"),
        start(6, "d"),
    ];
    let lines: Vec<&str> = [HEADER].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let (figures, _) = figures(&lines);
    assert_eq!(figures.tally.compactions, Compactions { done: 1, failed: 1, open: 2 });
    assert_eq!(figures.tally.compactions.all(), 4);
}

#[test]
fn the_header_tells_what_was_inherited_in_older_formats() {
    let fork = HEADER.replace('}', r#","parentSession":"p","seedLength":4}"#);
    let lines = [user(0, "of the parent"), row(1, 3), end_seed(4, "{}"), user(5, "own")];
    let lines: Vec<&str> = [fork.as_str()].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let (figures, _) = figures(&lines);
    let inherited = figures.inherited.unwrap();
    let bytes = (lines[1].len() + lines[2].len() + 2) as u64;
    assert_eq!(
        (inherited.events, inherited.chunk_events, inherited.bytes, inherited.nodes),
        (4, 3, bytes, 1)
    );
    assert!(inherited.host_tokens > 0 && inherited.host_tokens < figures.host_tokens);
}

#[test]
fn a_row_across_the_end_of_what_was_inherited_is_shared_out() {
    let fork = HEADER.replace('}', r#","seedLength":3}"#);
    let (figures, _) = figures(&[&fork, &user(0, "a"), &row(1, 5), &user(6, "b")]);
    let inherited = figures.inherited.unwrap();
    assert_eq!((inherited.events, inherited.chunk_events, inherited.nodes), (3, 2, 1));
}

#[test]
fn a_log_may_hold_nothing_but_what_was_inherited() {
    let fork = HEADER.replace('}', r#","seedLength":2}"#);
    let (all, notes) = figures(&[&fork, &user(0, "a"), &user(1, "b")]);
    let part = all.inherited.unwrap();
    assert_eq!(
        (part.events, part.bytes, part.nodes, part.host_tokens),
        (2, all.tally.bytes, 2, all.host_tokens)
    );
    assert_eq!(notes, [""; 0]);
    let (short, notes) = figures(&[&fork, &user(0, "a")]);
    assert_eq!(short.inherited.unwrap().events, 1);
    assert!(notes[0].contains("2 events are inherited, and the log has 1"), "{notes:?}");
}

#[test]
fn the_last_marker_tells_what_was_inherited_in_newer_formats() {
    let lines = [
        user(0, "of the grandparent"),
        end_seed(1, r#"{"inherited":true}"#),
        user(2, "of the parent"),
        end_seed(3, r#"{"inherited":true}"#),
        user(4, "own"),
        end_seed(5, "{}"),
    ];
    let first = header(2, true);
    let lines: Vec<&str> = [first.as_str()].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let (figures, notes) = figures(&lines);
    let bytes: usize = lines[1..4].iter().map(|line| line.len() + 1).sum();
    let Inherited { events, bytes: found, nodes, .. } = figures.inherited.unwrap();
    assert_eq!((events, found, nodes), (3, bytes as u64, 2));
    assert_eq!(notes, [""; 0]);
    let (unmarked, notes) = self::figures(&[&first, &user(0, "a")]);
    assert_eq!(unmarked.inherited, None);
    assert!(notes[0].contains("no session/end-seed marks"), "{notes:?}");
}

#[test]
fn a_damaged_log_is_counted_up_to_its_damage() {
    let stats = measured("log", &[HEADER, &user(0, "a"), "{]", &user(2, "b"), &row(3, 3)]);
    assert_eq!((stats.status(), stats.status().exit()), (Status::Partial, Exit::Findings));
    let figures = stats.figures.unwrap();
    assert_eq!((figures.tally.events, figures.nodes, figures.left_out), (1, 1, 4));
    assert_eq!(stats.notes.len(), 1);
    assert!(
        stats.notes[0].ends_with("counted are the 1 event before it, not the 4 sound events behind it"),
        "{:?}",
        stats.notes
    );
}

#[test]
fn a_torn_tail_and_a_blank_line_cost_no_event() {
    let text = format!("{HEADER}\n\n{}\n{{\"type\":", user(0, "a"));
    let stats = LogStats::of("log".into(), None, |_| Ok(Source::of_bytes(text.as_bytes())));
    assert_eq!((stats.status(), stats.notes.len()), (Status::Counted, 2));
    let figures = stats.figures.unwrap();
    assert_eq!((figures.tally.events, figures.tally.bytes), (1, user(0, "a").len() as u64 + 1));
}

#[test]
fn events_of_unknown_types_are_counted() {
    let stats =
        measured("log", &[HEADER, &event(0, "acme/x", "{}"), &user(1, "a"), &event(2, "acme/x", "1")]);
    assert_eq!(stats.status(), Status::Counted);
    let figures = stats.figures.unwrap();
    assert_eq!(counts(&figures.tally.by_type), [("acme/x", 2), ("user/message", 1)]);
    assert!(
        stats.notes[0].contains("type \"acme/x\" is unknown (2 events, the first at seq 0)"),
        "{:?}",
        stats.notes
    );
}

#[test]
fn frames_are_counted_and_shared_out_to_nobody() {
    let frame = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let bytes =
        [frame(&format!("{HEADER}\n")), frame(&format!("{}\n{}\n", user(0, "a"), user(1, "b")))].concat();
    let stats = LogStats::of("log".into(), None, |_| Ok(Source::of_bytes(&bytes)));
    assert_eq!(stats.disk, Some(bytes.len() as u64));
    let figures = stats.figures.unwrap();
    assert_eq!((figures.frames, figures.tally.records), (Some(2), 2));
    assert_eq!(figures.decoded, HEADER.len() as u64 + 1 + figures.tally.bytes);
}

#[test]
fn of_two_encodings_the_one_that_holds_more_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, texts: &[&str]| {
        let mut file = std::fs::File::create(folder.path().join(name)).unwrap();
        writeln!(file, "{HEADER}").unwrap();
        for (seq, text) in texts.iter().enumerate() {
            writeln!(file, "{}", user(seq as u64, text)).unwrap();
        }
        folder.path().join(name)
    };
    let (short, long) = (write("a", &["x"]), write("b", &["x", "y"]));
    for (named, twin) in [(&short, &long), (&long, &short)] {
        let stats = LogStats::of(named.clone(), Some(twin), Source::open);
        assert_eq!((&stats.path, stats.left_out.as_ref()), (&long, Some(&short)));
        assert_eq!(stats.figures.unwrap().tally.events, 2);
        assert!(
            stats.notes[0].contains("the session is counted once, as b, which holds more"),
            "{:?}",
            stats.notes
        );
    }
    let gone = folder.path().join("gone");
    let stats = LogStats::of(gone.clone(), Some(&short), Source::open);
    assert_eq!((&stats.path, stats.left_out), (&short, Some(gone)));
}

#[test]
fn a_fault_of_dshc_is_told_as_such() {
    let stats = LogStats::panicked("log".into(), "no twos (crew.rs:1)");
    assert_eq!((stats.status(), stats.disk), (Status::Unreadable, None));
    let why = stats.figures.unwrap_err();
    assert_eq!(why.to_string(), "cannot read: dshc failed on it: no twos (crew.rs:1)");
    assert!(why.help.contains("report it"));
}

fn run(sort: SortBy, top: Option<usize>) -> Stats {
    let old = row(1, 5);
    let logs = vec![
        measured("c", &[HEADER, &user(0, "a long text, longer than all others here")]),
        measured("b", &[HEADER, &user(0, "a"), &old]),
        measured("a", &["no log"]),
        measured("d", &[HEADER]),
        measured("B", &[HEADER, &user(0, "a"), &old]),
    ];
    Stats::of(logs, vec!["z".into(), "y".into()], sort, top)
}

fn paths(stats: &Stats) -> Vec<&Path> {
    stats.logs.iter().map(|log| log.path.as_path()).collect()
}

#[test]
fn logs_are_sorted_by_a_figure_and_then_by_path() {
    for (sort, expected) in [
        (SortBy::Size, ["B", "b", "c", "d", "a"]),
        (SortBy::Decoded, ["B", "b", "c", "d", "a"]),
        (SortBy::Events, ["B", "b", "c", "d", "a"]),
        (SortBy::Tokens, ["c", "B", "b", "d", "a"]),
        (SortBy::Chunks, ["B", "b", "c", "d", "a"]),
        (SortBy::Compactions, ["B", "b", "c", "d", "a"]),
        (SortBy::Activity, ["c", "B", "b", "a", "d"]),
        (SortBy::Path, ["B", "a", "b", "c", "d"]),
    ] {
        assert_eq!(paths(&run(sort, None)), expected.map(Path::new), "{sort}");
        assert_eq!(sort.as_str().parse(), Ok(sort));
    }
    assert_eq!("weight".parse::<SortBy>().unwrap_err().to_string(), r#"logs cannot be sorted by "weight""#);
}

#[test]
fn what_is_not_told_is_in_the_sums() {
    let (all, first) = (run(SortBy::Size, None), run(SortBy::Size, Some(2)));
    assert_eq!((first.logs.len(), first.untold(), all.untold()), (2, 3, 0));
    assert_eq!((&first.total, first.exit), (&all.total, Exit::Unreadable));
    assert_eq!(first.ignored, ["y", "z"].map(PathBuf::from));
    assert_eq!((all.total.counted, all.total.partial, all.total.unreadable), (4, 0, 1));
}

/// So that the sums of shards are those of the run.
#[test]
fn every_sum_is_that_of_its_parts() {
    let fork = HEADER.replace('}', r#","seedLength":2}"#);
    let one = || {
        measured("a", &[&fork, &user(0, "a"), &row(1, 4), &event(5, "compaction/start", "{\"turn\":null}")])
    };
    let two = || measured("b", &[HEADER, &user(0, "b"), "{]", &user(2, "c")]);
    let [first, second, both] = [vec![one()], vec![two()], vec![one(), two()]].map(|logs| Total::of(&logs));
    assert_eq!(both.logs(), 2);
    for (sum, parts) in [
        (both.disk, [first.disk, second.disk]),
        (both.decoded, [first.decoded, second.decoded]),
        (both.tally.events, [6, 1]),
        (both.tally.records, [3, 1]),
        (both.tally.bytes, [first.tally.bytes, second.tally.bytes]),
        (both.tally.chunks.events, [4, 0]),
        (both.tally.chunks.bytes, [first.tally.chunks.bytes, 0]),
        (both.tally.compactions.open, [1, 0]),
        (both.nodes, [1, 1]),
        (both.host_tokens, [first.host_tokens, second.host_tokens]),
        (both.inherited.events, [2, 0]),
        (both.inherited.bytes, [first.inherited.bytes, 0]),
        (both.inherited.host_tokens, [first.inherited.host_tokens, 0]),
        (both.forks, [1, 0]),
        (both.left_out, [0, 1]),
    ] {
        assert_eq!(sum, parts[0] + parts[1]);
    }
    assert_eq!(both.tally.by_type.named()["user/message"], 2);
}
