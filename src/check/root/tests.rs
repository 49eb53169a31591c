use super::super::testing::HEADER;
use super::super::{Finding, Severity};
use super::*;
use crate::log::likeness::Likeness;
use crate::log::place::LogName;
use crate::log::{LogReader, Source};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// A log of a root that is on no disk.
#[derive(Debug, Clone)]
struct Log {
    path: PathBuf,
    spot: Spot,
    header: Option<Header>,
}

/// The log at `path`, which is `/root/project/session/name`, with these names beside it. `id` and `cwd` stand in
/// its header.
fn log(path: &str, beside: &[&str], id: &str, cwd: Option<&str>) -> Log {
    let path = PathBuf::from(path);
    let folder = path.parent().unwrap().to_owned();
    let name = LogName::of(&path).unwrap();
    let mut session = SessionFolder { path: folder.clone(), name, older: Vec::new(), twin: None };
    for beside in beside {
        let (other, path) = (LogName::parse(beside).unwrap(), folder.join(beside));
        if other.generation == name.generation {
            session.twin = Some(path);
        } else {
            session.older.push((other, path));
        }
    }
    let mut line = HEADER.replace(r#""id":"s""#, &format!(r#""id":"{id}""#));
    if let Some(cwd) = cwd {
        line = line.replacen('{', &format!(r#"{{"cwd":"{cwd}","#), 1);
    }
    let mut file = tempfile::tempfile().unwrap();
    writeln!(file, "{line}").unwrap();
    let reader = LogReader::open(&Source::of(file, Path::new("header")).unwrap()).unwrap();
    Log { path, spot: Spot::Session(session), header: Some(reader.header().clone()) }
}

fn resident(log: &Log) -> Resident<'_> {
    let version = log.header.as_ref().map(|header| header.version);
    Resident { path: &log.path, spot: &log.spot, version, header: log.header.as_ref(), content: None }
}

fn findings(logs: &[Log]) -> Vec<Vec<Finding>> {
    check_places(&logs.iter().map(resident).collect::<Vec<_>>())
}

fn codes(logs: &[Log]) -> Vec<Vec<&'static str>> {
    findings(logs).iter().map(|found| found.iter().map(|finding| finding.code).collect()).collect()
}

#[test]
fn a_root_of_one_kind_is_clean() {
    let logs = [
        log("/r/--w--/a/session.jsonl", &[], "a", Some("/w")),
        log("/r/_no-cwd/b/session.jsonl", &[], "b", None),
        log("/r/--G-work-~5BA2--/~D83E/session.jsonl", &[], r"\ud83e", Some(r"G:\\work\\客")),
        log("/other/p/a/session.jsonl.zstd", &[], "a", Some("/w")),
    ];
    assert_eq!(codes(&logs), [[""; 0]; 4]);
}

#[test]
fn the_encoding_of_fewer_files_is_named() {
    let logs = [
        log("/r/p/a/session.jsonl", &[], "a", None),
        log("/r/p/b/session.jsonl.zstd", &[], "b", None),
        log("/r/q/c/session.jsonl.zstd", &[], "c", None),
    ];
    assert_eq!(codes(&logs), [vec!["mixed-encodings"], vec![], vec![]]);
    let found = findings(&logs);
    assert_eq!(
        found[0][0].message,
        "this log is raw; its root holds 1 raw log file and 2 compressed log files; one of the compressed ones is \
         /r/p/b/session.jsonl.zstd"
    );
    // With as many of each, the raw ones are named.
    assert_eq!(codes(&logs[..2]), [vec!["mixed-encodings"], vec![]]);
}

#[test]
fn an_older_generation_mixes_encodings_too() {
    let mixed = log("/r/p/a/session.v3.jsonl.zstd", &["session.jsonl"], "a", None);
    let found = findings(&[mixed, log("/r/p/b/session.jsonl.zstd", &[], "b", None)]);
    let codes: Vec<&str> = found[0].iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["older-generations", "name-version", "mixed-encodings"]);
    assert!(found[0][2].message.starts_with("session.jsonl, an older generation beside this log, is raw; "));
    assert_eq!(found[1], []);
}

#[test]
fn twins_count_in_a_root_and_are_not_told_twice() {
    let twins = log("/r/p/a/session.jsonl", &["session.jsonl.zstd"], "a", None);
    assert_eq!(codes(std::slice::from_ref(&twins)), [[""; 0]]);
    let raw = |name: &str| log(&format!("/r/p/{name}/session.jsonl"), &[], name, None);
    assert_eq!(codes(&[twins.clone(), raw("b")]), [[""; 0]; 2]);
    let zstd = log("/r/p/z/session.jsonl.zstd", &[], "z", None);
    assert_eq!(codes(&[twins, raw("b"), raw("c"), zstd]), [vec![], vec![], vec![], vec!["mixed-encodings"]]);
}

#[test]
fn one_id_in_two_projects_is_named_on_each() {
    let logs = [
        log("/r/p/a/session.jsonl", &[], "a", None),
        log("/r/q/a/session.jsonl", &[], "a", None),
        log("/s/q/a/session.jsonl", &[], "a", None),
        log("/r/q/b/session.jsonl", &[], r"\ud83d", None),
        log("/r/p/c/session.jsonl", &[], r"\ud83e", None),
        log("/r/q/c/session.jsonl", &[], "", None),
        log("/r/p/d/session.jsonl", &[], "", None),
    ];
    let found = findings(&logs);
    let codes: Vec<usize> = found.iter().map(Vec::len).collect();
    assert_eq!(codes, [1, 1, 0, 0, 0, 0, 0], "{found:?}");
    assert_eq!(found[0][0].code, "duplicate-session-id");
    assert!(found[0][0].message.contains("\"a\"") && found[0][0].message.contains("/r/q/a/session.jsonl"));
    assert!(found[1][0].message.contains("/r/p/a/session.jsonl"));
    // Two in one project are a matter of paths.
    assert_eq!(
        super::tests::codes(&[logs[0].clone(), log("/r/p/x/session.jsonl", &[], "a", None)]),
        [[""; 0]; 2]
    );
}

#[test]
fn a_name_must_promise_the_headers_version() {
    let [found] = &findings(&[log("/r/p/a/session.v3.jsonl", &[], "a", None)])[..] else { panic!() };
    assert_eq!((found[0].code, found[0].severity), ("name-version", Severity::Error));
    assert_eq!(found[0].message, "by its name session.v3.jsonl is of format 3, by its header of format 0");
}

#[test]
fn a_log_that_lies_elsewhere_is_noted_only_among_project_keys() {
    let astray = log("/r/--w--/a b/session.jsonl", &[], "a b", Some("/w/x"));
    let [found] = &findings(std::slice::from_ref(&astray))[..] else { panic!() };
    assert_eq!((found[0].code, found[0].severity), ("header-path", Severity::Note));
    assert!(found[0].message.contains("--w-x--/a~0020b below the root"), "{}", found[0].message);
    assert!(found[0].message.ends_with("lies in --w--/a b"), "{}", found[0].message);
    assert_eq!(codes(&[astray, log("/r/archive/c/session.jsonl", &[], "c", None)]), [[""; 0]; 2]);
    let nameless = log("/r/--w--/a/session.jsonl", &[], "", Some("/w"));
    assert_eq!(codes(&[nameless]), [["header-path"]]);
}

#[test]
fn older_generations_are_named() {
    let beside = ["session.v2.jsonl", "session.jsonl"];
    let found = findings(&[log("/r/p/a/session.v3.jsonl", &beside, "a", None)]).remove(0);
    assert_eq!((found[0].code, found[0].severity), ("older-generations", Severity::Note));
    let message = &found[0].message;
    assert!(message.contains("left alone: session.v2.jsonl, session.jsonl; dsh 0.0.1 to 0.1.2"), "{message}");
    let found = findings(&[log("/r/p/a/session.v3.jsonl", &beside[..1], "a", None)]).remove(0);
    assert!(!found[0].message.contains("0.1.2"));
}

/// The raw log of a session and the compressed one beside it.
fn twins(raw: (Option<u64>, i64), zstd: (Option<u64>, i64), likeness: std::io::Result<Likeness>) -> Twins {
    let side = |name: &str, (events, time): (Option<u64>, i64)| Side {
        path: name.into(),
        session: Some("s".into()),
        events,
        last_time: events.map(|_| time),
        errors: 0,
        faults: BTreeSet::new(),
    };
    Twins { first: side("p/session.jsonl", raw), second: side("p/session.jsonl.zstd", zstd), likeness }
}

#[test]
fn the_fuller_twin_stands_for_the_session() {
    let prefix = twins((Some(11), 5), (Some(17), 3), Ok(Likeness::FirstIsPrefix));
    assert_eq!(
        prefix.finding().message,
        "session.jsonl (11 events) and session.jsonl.zstd (17 events) are one session in both encodings: the first \
         is an exact prefix of the second; session.jsonl.zstd is the newer one, since it goes on; the session is \
         counted once, as session.jsonl.zstd, which holds more"
    );
    let later = twins((Some(11), 5), (Some(11), 9), Ok(Likeness::DifferFrom(3)));
    let message = later.finding().message;
    assert!(
        message.contains("session.jsonl.zstd is the newer one, by the time of its last event; "),
        "{message}"
    );
    assert!(message.ends_with("as session.jsonl.zstd, which holds as much and is newer"), "{message}");
    let broken = twins((Some(11), 5), (None, 9), Err(std::io::Error::other("x")));
    let message = broken.finding().message;
    assert!(message.contains("session.jsonl.zstd (cannot be read)"), "{message}");
    assert!(message.ends_with("as session.jsonl, which holds more"), "{message}");
    let same = twins((Some(11), 5), (Some(11), 9), Ok(Likeness::Equal));
    assert!(same.finding().message.ends_with(
        "both hold the same text; the session is counted once, as session.jsonl, the first by name"
    ));
}

#[test]
fn the_faults_of_a_twin_count_and_are_told() {
    let mut one = twins((Some(11), 5), (Some(11), 5), Ok(Likeness::Equal));
    (one.first.errors, one.first.faults) = (1, BTreeSet::from(["frame-checksum", "torn-tail"]));
    one.second.faults = BTreeSet::from(["torn-tail"]);
    assert!(!one.takes_first());
    let message = one.finding().message;
    assert!(
        message.ends_with(
            "as session.jsonl.zstd, which holds as much and has fewer errors; session.jsonl has faults that this one has \
             not: frame-checksum"
        ),
        "{message}"
    );
}

#[test]
fn two_sessions_in_one_directory_are_told_so() {
    let mut two = twins((Some(11), 5), (Some(17), 3), Ok(Likeness::DifferFrom(1)));
    two.second.session = Some("t".into());
    let finding = two.finding();
    assert!(
        finding
            .message
            .contains("lie in one directory, and their headers name two sessions, \"s\" and \"t\": "),
        "{}",
        finding.message
    );
    assert!(finding.message.ends_with("one alone is checked here, session.jsonl.zstd, which holds more"));
    assert!(finding.help.contains("into a directory of its own"), "{}", finding.help);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_logs_does_not_matter(
        parts in prop::collection::vec(("[ab]", "(--w--|p|_no-cwd)", "[s~]", prop::bool::ANY, prop::bool::ANY), 0..7),
        turn in 0usize..7,
    ) {
        let logs: Vec<Log> = parts.iter().enumerate().map(|(index, (root, project, id, is_zstd, is_upgraded))| {
            let ending = if *is_zstd { ".zstd" } else { "" };
            let name = if *is_upgraded { "session.v2.jsonl" } else { "session.jsonl" };
            let older: &[&str] = if *is_upgraded { &["session.jsonl"] } else { &[] };
            log(&format!("/{root}/{project}/{index}/{name}{ending}"), older, id, Some("/w"))
        }).collect();
        let mut turned = logs.clone();
        turned.rotate_left(turn.min(logs.len()));
        let mut expected = codes(&logs);
        expected.rotate_left(turn.min(logs.len()));
        prop_assert_eq!(codes(&turned), expected);
        let mut messages: Vec<String> = findings(&logs).concat().into_iter().map(|finding| finding.message).collect();
        let mut others: Vec<String> = findings(&turned).concat().into_iter().map(|finding| finding.message).collect();
        messages.sort();
        others.sort();
        prop_assert_eq!(messages, others);
    }
}
