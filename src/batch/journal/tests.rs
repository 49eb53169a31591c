use super::*;
use proptest::prelude::*;
use std::fs;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn log(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("run.journal")
    }

    fn open(&self, kind: Kind) -> Journal {
        Journal::open(&self.journal(), kind).unwrap()
    }

    /// A run that does these logs.
    fn run(&self, logs: &[(&Path, u8)]) {
        let journal = self.open(kind());
        for (log, exit) in logs {
            journal.note(log, Revision::of(log).ok(), &past(*exit));
        }
        journal.close().unwrap();
    }

    fn is_done(&self, log: &Path) -> bool {
        self.open(kind()).done(log).is_some()
    }
}

fn kind() -> Kind {
    Kind::of("verify").with("target-format", Some(4))
}

fn past(exit: u8) -> Past {
    Past { status: "clean".into(), exit, ..Past::default() }
}

#[test]
fn what_ended_well_is_done_and_nothing_else() {
    let bench = Bench::new();
    let logs: Vec<(PathBuf, u8)> =
        [0, 1, 3, 4, 5, 130].map(|exit| (bench.log(&format!("{exit}.jsonl"), "x"), exit)).into();
    bench.run(&logs.iter().map(|(log, exit)| (log.as_path(), *exit)).collect::<Vec<_>>());
    let journal = bench.open(kind());
    let done: Vec<u8> = logs.iter().filter(|(log, _)| journal.done(log).is_some()).map(|log| log.1).collect();
    assert_eq!((done, journal.damage), (vec![0, 1], Damage::default()));
    assert_eq!(journal.done(&logs[1].0), Some(&past(1)));
    assert_eq!(journal.done(&bench.log("new.jsonl", "x")), None);
}

#[test]
fn a_log_that_changed_is_done_again() {
    let bench = Bench::new();
    let log = bench.log("a.jsonl", "x");
    bench.run(&[(&log, 0)]);
    assert!(bench.is_done(&log));
    let time = log.metadata().unwrap().modified().unwrap();
    bench.log("a.jsonl", "xy");
    File::options().write(true).open(&log).unwrap().set_modified(time).unwrap();
    assert!(!bench.is_done(&log), "longer, of the same time");
    bench.log("a.jsonl", "y");
    let later = time + std::time::Duration::from_micros(1);
    File::options().write(true).open(&log).unwrap().set_modified(later).unwrap();
    assert!(!bench.is_done(&log), "as long, of a later time");
    fs::remove_file(&log).unwrap();
    assert!(!bench.is_done(&log), "gone");
}

#[test]
fn the_last_line_of_a_log_counts() {
    let bench = Bench::new();
    let log = bench.log("a.jsonl", "x");
    bench.run(&[(&log, 0), (&log, 4)]);
    assert!(!bench.is_done(&log));
    bench.run(&[(&log, 0)]);
    assert!(bench.is_done(&log));
    bench.open(kind()).note(&log, None, &past(0));
    assert!(!bench.is_done(&log), "of no known revision");
}

#[test]
fn runs_of_another_kind_go_by_lines_of_their_own() {
    let bench = Bench::new();
    let log = bench.log("a.jsonl", "x");
    bench.run(&[(&log, 0)]);
    for other in [Kind::of("verify"), Kind::of("compact").with("target-format", Some(4))] {
        assert_eq!(bench.open(other.clone()).done(&log), None);
        bench.open(other).note(&log, Revision::of(&log).ok(), &past(4));
    }
    assert!(bench.is_done(&log));
}

#[test]
fn a_torn_line_is_cut_off_wherever_it_is_torn() {
    let bench = Bench::new();
    let logs = ["a", "b"].map(|name| bench.log(&format!("{name}.jsonl"), "x"));
    bench.run(&[(&logs[0], 0), (&logs[1], 0)]);
    let whole = fs::read(bench.journal()).unwrap();
    let first = memchr::memchr(b'\n', &whole).unwrap() + 1;
    for cut in 0..=whole.len() {
        fs::write(bench.journal(), &whole[..cut]).unwrap();
        let journal = bench.open(kind());
        let done = logs.each_ref().map(|log| journal.done(log).is_some());
        // A line is whole without its line feed, too.
        assert_eq!(done, [cut + 1 >= first, cut + 1 >= whole.len()], "{cut}");
        assert_eq!(
            journal.damage.is_torn,
            ![0, first - 1, first, whole.len() - 1, whole.len()].contains(&cut),
            "{cut}"
        );
        assert_eq!(journal.damage.unread_lines, 0);
        for log in &logs {
            journal.note(log, Revision::of(log).ok(), &past(0));
        }
        journal.close().unwrap();
        let text = fs::read_to_string(bench.journal()).unwrap();
        assert!(
            text.lines().all(|line| Line::parse(line.as_bytes()).is_some()) && text.ends_with('\n'),
            "{text}"
        );
        assert!(logs.iter().all(|log| bench.is_done(log)));
    }
}

#[test]
fn lines_that_cannot_be_read_are_passed_over() {
    let bench = Bench::new();
    let logs = ["a", "b"].map(|name| bench.log(&format!("{name}.jsonl"), "x"));
    bench.run(&[(&logs[0], 0)]);
    let mut text = fs::read(bench.journal()).unwrap();
    text.extend(b"\0\0\0\n{}\n");
    text.extend(std::iter::repeat_n(b'x', usize::try_from(1_u64 << 20).unwrap() + 9));
    text.push(b'\n');
    fs::write(bench.journal(), text).unwrap();
    bench.run(&[(&logs[1], 0)]);
    let journal = bench.open(kind());
    assert!(logs.iter().all(|log| journal.done(log).is_some()));
    // What is too long to be a line is read in two pieces.
    assert_eq!(journal.damage, Damage { is_torn: false, unread_lines: 4 });
}

#[test]
fn a_file_that_is_no_journal_is_left_alone() {
    let bench = Bench::new();
    for text in
        ["\n", "{\"type\":\"session\"}\n", "{\"sche\n", "{\"schema\":\"dshc.verify/1\"}", "\u{feff}", "{}"]
    {
        fs::write(bench.journal(), text).unwrap();
        let error = Journal::open(&bench.journal(), kind()).unwrap_err();
        assert!(matches!(error, JournalError::Foreign { .. }), "{text}: {error}");
        assert_eq!(fs::read_to_string(bench.journal()).unwrap(), text);
    }
    let error = Journal::open(bench.folder.path(), kind()).unwrap_err();
    assert!(matches!(error, JournalError::Io { .. }), "{error}");
}

#[test]
fn one_run_at_a_time_has_a_journal() {
    let bench = Bench::new();
    let journal = bench.open(kind());
    let error = Journal::open(&bench.journal(), kind()).unwrap_err();
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    drop(journal);
    bench.open(kind());
}

#[cfg(unix)]
#[test]
fn paths_that_are_shown_alike_are_two() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let [one, other] =
        [b"a\xff", b"a\xfe"].map(|name| bench.folder.path().join(std::ffi::OsStr::from_bytes(name)));
    for log in [&one, &other] {
        fs::write(log, "x").unwrap();
    }
    bench.run(&[(&one, 0)]);
    assert!(bench.is_done(&one) && !bench.is_done(&other));
}

#[test]
fn what_cannot_be_written_is_told_at_the_end_and_torn_lines_are_taken_back() {
    let bench = Bench::new();
    let log = bench.log("a.jsonl", "x");
    bench.run(&[(&log, 0)]);
    let whole = fs::read(bench.journal()).unwrap();
    let mut journal = bench.open(kind());
    // Opened for reading alone, the file takes no line.
    journal.end.get_mut().unwrap().file = File::open(bench.journal()).unwrap();
    journal.note(&log, None, &past(0));
    journal.note(&log, None, &past(0));
    assert!(journal.close().is_err());
    assert_eq!(fs::read(bench.journal()).unwrap(), whole);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200), is_behind_a_line: bool) {
        let bench = Bench::new();
        let log = bench.log("a.jsonl", "x");
        bench.run(&[(&log, 0)]);
        let mut bytes = if is_behind_a_line { fs::read(bench.journal()).unwrap() } else { Vec::new() };
        bytes.extend(&text);
        fs::write(bench.journal(), &bytes).unwrap();
        if let Ok(journal) = Journal::open(&bench.journal(), kind()) {
            prop_assert_eq!(journal.done(&log).is_some(), is_behind_a_line);
        } else {
            prop_assert_eq!(fs::read(bench.journal()).unwrap(), bytes);
        }
    }
}
