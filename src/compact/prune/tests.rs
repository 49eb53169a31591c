//! Prunings of whole logs, written, folded again and checked.

use super::*;
use crate::check;
use crate::json::Object;
use crate::log::append::{Appender, RealDisk};
use crate::log::{LogReader, Source};
use crate::session::{self, Folded, Keep, Stop};
use std::fs;
use std::path::{Path, PathBuf};

/// Conversations with long results, one of them in each format that it is there in.
const BULKY: [&str; 5] = [
    "bulky-results/--home-dev-project-1--/gen-16-1/session.jsonl.zstd",
    "bulky-results/--home-dev-project-0--/gen-16-0/session.jsonl.zstd",
    "upgraded/v2/--home-dev-project-1--/gen-16-1/session.v2.jsonl",
    "upgraded/v3/--home-dev-project-1--/gen-16-1/session.v3.jsonl",
    "upgraded/v4/--home-dev-project-1--/gen-16-1/session.v4.jsonl",
];

/// A log in a folder that goes with it.
struct Log {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Log {
    fn named(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Self { path, _folder: folder }
    }

    fn corpus(name: &str) -> Self {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus").join(name);
        let bytes = fs::read(&fixture).unwrap();
        Self::named(fixture.file_name().unwrap().to_str().unwrap(), &bytes)
    }

    /// A log of these lines.
    fn of(name: &str, lines: &[String]) -> Self {
        Self::named(name, format!("{}\n", lines.join("\n")).as_bytes())
    }

    fn fold(&self) -> Folded {
        let source = Source::open(&self.path).unwrap();
        session::fold(&mut LogReader::open(&source).unwrap(), Keep::Messages, Stop::default()).unwrap()
    }

    /// Errors and warnings of a check.
    fn alarms(&self) -> Vec<&'static str> {
        let source = Source::open(&self.path).unwrap();
        let checked =
            check::check(&mut LogReader::open(&source).unwrap(), check::Options::default()).unwrap();
        let alarms = checked.findings.iter().filter(|finding| finding.severity != check::Severity::Note);
        alarms.map(|finding| finding.code).collect()
    }

    /// Appends the pruning of all results; gives it and the session behind it.
    fn prune(&self) -> (Pruning, Folded) {
        let pruning = all_of(&self.fold().session);
        Appender::open(&self.path, &RealDisk).unwrap().append(&pruning.records).unwrap();
        (pruning, self.fold())
    }
}

fn all_of(session: &Session) -> Pruning {
    plan(session, 0..session.surface.nodes().len()).unwrap()
}

fn types(pruning: &Pruning) -> Vec<String> {
    let parsed = pruning.records.iter().map(|record| Object::of(json::leaked(record)).unwrap());
    parsed.map(|record| record.text("type").unwrap().into_str().into_owned()).collect()
}

/// A log of format 0 with a call `c` and its result, whose payload is given; `end` comes behind the result.
fn with_result(payload: &str, end: &[&str]) -> Log {
    let mut lines = vec![
        r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#.to_owned(),
        r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#.to_owned(),
        r#"{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}"#.to_owned(),
        r#"{"type":"user/message","seq":2,"time":1,"data":{"id":"u","role":"user","content":[{"type":"text","text":"go"}],"source":{"kind":"user"}},"surfaceOp":"append"}"#.to_owned(),
        calling(3),
        r#"{"type":"tool/call","seq":4,"time":1,"data":{"turn":1,"step":1,"callId":"c","name":"sh","arguments":"{}"}}"#.to_owned(),
        format!(r#"{{"type":"tool/result","seq":5,"time":1,"data":{payload},"sourceEventSeqs":[4],"surfaceOp":"append"}}"#),
    ];
    lines.extend(end.iter().map(|line| (*line).to_owned()));
    Log::named("session.jsonl", format!("{}\n", lines.join("\n")).as_bytes())
}

/// An assistant message that makes the call `c`.
fn calling(seq: u64) -> String {
    format!(
        r#"{{"type":"assistant/message","seq":{seq},"time":1,"data":{{"turn":1,"step":1,"message":{{"id":"a{seq}","role":"assistant","content":[{{"type":"tool-call","id":"c","name":"sh","arguments":"{{}}"}}],"source":{{"kind":"model","provider":"p","model":"m"}}}}}},"surfaceOp":"append"}}"#
    )
}

/// A payload of a result with this text, spelt as no writer spells it.
fn payload(text: &str) -> String {
    format!(
        r#"{{ "meta" : {{"exit":1.0,"exit":2}}, "step":1,"message":{{"content":[ {{"isError": true,"content":[{{"type":"text","text":"{text}"}}],"type":"tool-result","toolCallId":"c","x":[1e0]}} ],"id":"r","role":"user","source":{{"callId":"c","kind":"tool"}}}},"error":{{"name":"E","code":"\u0045"}},"turn":1}}"#
    )
}

const STEP_END: &str = r#"{"type":"step/end","seq":6,"time":7,"data":{"turn":1,"step":1}}"#;
const TURN_END: &str =
    r#"{"type":"turn/end","seq":7,"time":8,"data":{"turn":1,"reason":{"kind":"completed"}}}"#;

#[test]
fn long_results_become_short_in_every_format() {
    for name in BULKY {
        let log = Log::corpus(name);
        let (before, alarms, old) = (log.fold().session, log.alarms(), fs::read(&log.path).unwrap());
        let (pruning, after) = log.prune();
        assert!(pruning.pruned.len() > 1, "{name}");
        assert!(fs::read(&log.path).unwrap().starts_with(&old), "{name}");
        assert!(after.damage.is_none(), "{name}: {:?}", after.damage);
        assert_eq!(log.alarms(), alarms, "{name}");
        let after = after.session;
        assert_eq!(
            after.surface.host_tokens()
                + pruning.pruned.iter().map(|one| one.before - one.after).sum::<u64>(),
            before.surface.host_tokens(),
            "{name}"
        );
        let drift = |session: &Session| session.estimate.sum - i128::from(session.surface.host_tokens());
        assert_eq!(drift(&after), drift(&before), "{name}");
        assert_eq!(after.turns.open(), before.turns.open(), "{name}");
        assert_eq!(after.last_time, before.last_time, "{name}");
        let nodes = before.surface.nodes().iter().zip(after.surface.nodes());
        for (old, new) in nodes.filter(|(old, new)| old.seq != new.seq) {
            let pruned = pruning.pruned.iter().find(|pruned| pruned.seq == old.seq).unwrap();
            let expected = Pruned {
                seq: old.seq,
                replacement_seq: new.seq,
                before: old.host_tokens,
                after: new.host_tokens,
            };
            assert_eq!(*pruned, expected, "{name}");
            assert!(new.host_tokens < old.host_tokens && new.turn == old.turn, "{name}");
        }
        assert_eq!(all_of(&after).records, [""; 0], "{name}: once is enough");
    }
}

#[test]
fn only_results_at_the_positions_are_taken() {
    let session = Log::corpus(BULKY[0]).fold().session;
    let first = all_of(&session).pruned[0];
    let position = session.surface.position(first.seq).unwrap();
    let seqs = |positions| {
        let pruned = plan(&session, positions).unwrap().pruned;
        pruned.iter().map(|pruned| pruned.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(position..position + 1), [first.seq]);
    assert_eq!((seqs(0..position), seqs(position..position)), (Vec::new(), Vec::new()));
    assert_eq!(seqs(0..usize::MAX), Vec::<u64>::new(), "there are no such positions");
}

#[test]
fn all_but_the_cut_text_stays_word_for_word() {
    let log = with_result(&payload(&"\\u0061".repeat(9_000)), &[STEP_END, TURN_END]);
    let (pruning, after) = log.prune();
    assert!(after.damage.is_none(), "{:?}", after.damage);
    assert_eq!(types(&pruning), ["turn/start", "compaction/prune", "tool/result", "turn/end"]);
    let marker = "\\n\\n[3880 characters are left out here; the session log keeps them]\\n\\n";
    let text = format!("{}{marker}{}", "\\u0061".repeat(4_096), "\\u0061".repeat(1_024));
    let rewrite = format!(
        r#"{{"type":"tool/result","seq":10,"time":8,"data":{},"sourceEventSeqs":[5],"surfaceOp":{{"op":"replace","start":5,"end":5}}}}"#,
        payload(&text)
    );
    assert_eq!(pruning.records[2], rewrite);
    assert_eq!(pruning.records[0], r#"{"type":"turn/start","seq":8,"time":8,"data":{"turn":2}}"#);
    assert_eq!(
        pruning.records[1],
        r#"{"type":"compaction/prune","seq":9,"time":8,"data":{"shadowedRange":{"start":5,"end":5},"shadowedSeqs":[5],"shadowedTokenCount":2262}}"#
    );
    assert_eq!(
        pruning.records[3],
        r#"{"type":"turn/end","seq":11,"time":8,"data":{"turn":2,"reason":{"kind":"completed"}}}"#
    );
}

#[test]
fn in_an_open_turn_no_other_is_opened() {
    let log = with_result(&payload(&"a".repeat(9_000)), &[STEP_END]);
    let (pruning, after) = log.prune();
    assert_eq!(types(&pruning), ["compaction/prune", "tool/result"]);
    assert!(after.damage.is_none());
    assert_eq!((after.session.turns.open(), log.alarms()), (Some(1), Vec::new()));
}

#[test]
fn a_result_whose_call_id_waits_for_another_answer_is_left() {
    let again = calling(6);
    let log = with_result(&payload(&"a".repeat(9_000)), &[&again]);
    assert_eq!(all_of(&log.fold().session).pruned, []);
    // Once its turn is over, no answer will come.
    let ends = [&*again, &STEP_END.replace(":6,", ":7,"), &TURN_END.replace(":7,", ":8,")];
    let log = with_result(&payload(&"a".repeat(9_000)), &ends);
    assert_eq!(all_of(&log.fold().session).pruned.len(), 1);
}

#[test]
fn the_estimate_never_goes_below_zero() {
    let result = payload(&"a".repeat(9_000));
    let log = with_result(&result, &[STEP_END, TURN_END]);
    // By this prune of the prompt the surface costs far less than it does.
    let low = |figure: u64| {
        let prune = format!(
            r#"{{"type":"compaction/prune","seq":8,"time":8,"data":{{"shadowedRange":{{"start":2,"end":2}},"shadowedSeqs":[2],"shadowedTokenCount":{figure}}}}}"#
        );
        let note = r#"{"type":"user/message","seq":9,"time":8,"data":{"id":"n","role":"user","content":[],"source":{"kind":"plugin","plugin":"x"}},"sourceEventSeqs":[2],"surfaceOp":{"op":"replace","start":2,"end":2}}"#;
        let log = with_result(&result, &[STEP_END, TURN_END, &prune, note]);
        log.prune().1.session
    };
    let right = log.prune().1.session.estimate.sum;
    for figure in [9, 1_000, 2_200] {
        let session = low(figure);
        assert!(session.estimate.sum >= 0, "{figure}: {}", session.estimate.sum);
    }
    // The prompt's price is 9, that of the empty note 4.
    assert_eq!(low(9).estimate.sum, right - 5);
    let session = low(1_000);
    assert_eq!(session.estimate.sum, i128::from(session.surface.host_tokens()), "it is set right");
}

#[test]
fn images_that_were_offloaded_stay_so() {
    for version in [3, 4] {
        let name = format!("upgraded/v{version}/--home-dev-project-1--/gen-16-1/session.v{version}.jsonl");
        let log = Log::corpus(&name);
        let session = log.fold().session;
        let seq = all_of(&session).pruned[0].seq;
        let image = r#"{"type":"image","attachment":{"attachmentId":"i","mediaType":"image/png","bytes":1,"width":1,"height":1}}"#;
        let lines: Vec<String> = fs::read_to_string(&log.path).unwrap().lines().map(str::to_owned).collect();
        let with_image = |line: String| {
            let is_it =
                line.contains(&format!(r#""seq":{seq},"#)) && line.contains(r#""type":"tool/result""#);
            let at = line.rfind(r#"{"type":"text","#).filter(|_| is_it);
            at.map_or(line.clone(), |at| format!("{}{image},{}", &line[..at], &line[at..]))
        };
        let mut lines: Vec<String> = lines.into_iter().map(with_image).collect();
        let offload = format!(
            r#"{{"type":"image/offload","seq":{},"time":1,"data":{{"targets":[{{"seq":{seq},"imageIndexes":[0]}}]}}}}"#,
            session.events
        );
        lines.push(offload);
        let log = Log::of(log.path.file_name().unwrap().to_str().unwrap(), &lines);
        let (pruning, after) = log.prune();
        assert!(after.damage.is_none(), "format {version}: {:?}", after.damage);
        let rewrite = pruning.pruned.iter().find(|pruned| pruned.seq == seq).unwrap();
        let session = &after.session;
        let node = &session.surface.nodes()[session.surface.position(rewrite.replacement_seq).unwrap()];
        let message = node.message().unwrap().get();
        assert!(
            message.contains(r#""height":1},"offloaded":true},{"type":"text","#),
            "format {version}: {message}"
        );
        assert_eq!(log.alarms(), Vec::<&str>::new(), "format {version}");
    }
}

#[test]
fn nothing_is_planned_where_turns_cannot_be_counted_any_further() {
    let last = TURN_END.replace("\"turn\":1", "\"turn\":9007199254740991");
    let start = r#"{"type":"turn/start","seq":8,"time":1,"data":{"turn":9007199254740991}}"#;
    let end = last.replace(":7,", ":9,");
    let log = with_result(&payload(&"a".repeat(9_000)), &[STEP_END, TURN_END, start, &end]);
    let pruning = all_of(&log.fold().session);
    assert!(pruning.records.is_empty() && pruning.pruned.is_empty());
}

#[test]
fn results_of_development_builds_are_taken_as_readers_take_them() {
    let old = format!(
        r#"{{"turn":1,"step":1,"callId":"c","content":[{{"type":"text","text":"{}"}}],"isError":false}}"#,
        "a".repeat(9_000)
    );
    let log = with_result(&old, &[STEP_END, TURN_END]);
    let (pruning, after) = log.prune();
    assert_eq!(pruning.pruned.len(), 1);
    assert!(after.damage.is_none(), "{:?}", after.damage);
}
