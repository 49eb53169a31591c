use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

/// Makes empty files; a name that ends in `/` makes a directory.
fn make(root: &Path, files: &[&str]) {
    for file in files {
        let path = root.join(file);
        if file.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// What is found below `root`: the logs with what lies beside them, and what is ignored.
fn found(root: &Path) -> (Vec<String>, Vec<String>) {
    let found = find(&[root.to_owned()]);
    let log = |log: &FoundLog| {
        assert_eq!(log.below.as_deref(), Some(root));
        let beside = match &log.spot {
            None => " hidden".into(),
            Some(Spot::Flat) => " flat".into(),
            Some(Spot::Session(folder)) => {
                assert_eq!(
                    root.canonicalize().unwrap().join(below(root, log.path.parent().unwrap())),
                    folder.path
                );
                assert_eq!(LogName::of(&log.path), Some(folder.name));
                let twin = folder.twin.iter().map(|twin| format!(" + {}", below(root, twin)));
                let older = folder.older.iter().map(|(_, older)| format!(" > {}", below(root, older)));
                twin.chain(older).collect::<String>()
            }
        };
        below(root, &log.path) + &beside
    };
    (found.logs.iter().map(log).collect(), found.ignored.iter().map(|path| below(root, path)).collect())
}

fn check(files: &[&str], logs: &[&str], ignored: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    make(root.path(), files);
    let (found_logs, found_ignored) = found(root.path());
    assert_eq!(found_logs, logs, "{files:?}");
    assert_eq!(found_ignored, ignored, "{files:?}");
}

#[test]
fn a_folder_stands_for_the_highest_generation_of_each_session() {
    check(
        &[
            "p/b/session.jsonl",
            "p/a/session.v2.jsonl",
            "p/a/session.v10.jsonl",
            ".hid/c/session.jsonl.zstd",
            "p/a/note.jsonl",
            "p/a/x.txt",
        ],
        &[".hid/c/session.jsonl.zstd", "p/a/session.v10.jsonl > p/a/session.v2.jsonl", "p/b/session.jsonl"],
        &["p/a/note.jsonl", "p/a/session.v2.jsonl"],
    );
}

#[test]
fn encodings_of_one_generation_are_twins_those_of_an_older_one_are_not() {
    check(
        &["p/a/session.jsonl", "p/a/session.jsonl.zstd"],
        &["p/a/session.jsonl + p/a/session.jsonl.zstd"],
        &[],
    );
    check(
        &["p/a/session.jsonl", "p/a/session.jsonl.zstd", "p/a/session.v3.jsonl.zstd"],
        &["p/a/session.v3.jsonl.zstd > p/a/session.jsonl > p/a/session.jsonl.zstd"],
        &["p/a/session.jsonl", "p/a/session.jsonl.zstd"],
    );
}

#[test]
fn files_in_a_project_directory_are_flat() {
    check(
        &[
            "p/s/session.jsonl",
            "p/old.jsonl",
            "p/old.jsonl.zstd",
            "p/old.txt",
            "stray.jsonl",
            "q/other.jsonl",
        ],
        &["p/old.jsonl flat", "p/old.jsonl.zstd flat", "p/s/session.jsonl"],
        &["q/other.jsonl", "stray.jsonl"],
    );
    // A canonical name makes a session's directory, but for one that only a project can have.
    check(
        &["--p--/session.jsonl", "--p--/s/session.jsonl", "stray.jsonl"],
        &["--p--/s/session.jsonl", "--p--/session.jsonl flat"],
        &["stray.jsonl"],
    );
    check(
        &["s/session.jsonl", "s/copy.jsonl", "s/backup/session.jsonl"],
        &["s/backup/session.jsonl", "s/session.jsonl"],
        &["s/copy.jsonl"],
    );
    check(&["--s--/session.jsonl", "--s--/copy.jsonl"], &["--s--/session.jsonl"], &["--s--/copy.jsonl"]);
}

#[test]
fn a_directory_with_a_logs_name_is_taken_for_one_and_looked_into() {
    check(
        &["p/s/session.jsonl/", "p/s/session.jsonl/deep/session.jsonl"],
        &["p/s/session.jsonl", "p/s/session.jsonl/deep/session.jsonl"],
        &[],
    );
    check(
        &["p/s/session.v3.jsonl/", "p/s/session.jsonl"],
        &["p/s/session.v3.jsonl > p/s/session.jsonl"],
        &["p/s/session.jsonl"],
    );
    let root = tempfile::tempdir().unwrap();
    make(root.path(), &["session.jsonl/s/session.jsonl"]);
    let named = root.path().join("session.jsonl");
    let logs: Vec<PathBuf> =
        find(std::slice::from_ref(&named)).logs.into_iter().map(|log| log.path).collect();
    assert_eq!(logs, [named.clone(), named.join("s/session.jsonl")]);
}

#[test]
fn a_log_that_is_named_twice_is_one_and_learns_where_it_lies() {
    let root = tempfile::tempdir().unwrap();
    make(root.path(), &["session.jsonl", "session.jsonl.zstd"]);
    let (raw, zstd) = (root.path().join("session.jsonl"), root.path().join("session.jsonl.zstd"));
    for (named, other) in [(&raw, &zstd), (&zstd, &raw)] {
        let found = find(&[named.clone(), root.path().to_owned(), root.path().join(".")]);
        let [log] = found.logs.as_slice() else { panic!("{found:?}") };
        assert_eq!((&log.path, &log.below, log.twin()), (named, &None, None));
        let Some(Spot::Session(folder)) = &log.spot else { panic!("{log:?}") };
        assert_eq!((folder.twin.as_ref(), Some(folder.name)), (Some(other), LogName::of(named)));
    }
    let alone = find(std::slice::from_ref(&raw));
    assert_eq!(alone.logs, [FoundLog { path: raw, below: None, spot: None }]);
}

#[test]
fn what_is_not_there_is_taken_for_a_log() {
    let root = tempfile::tempdir().unwrap();
    let nowhere = root.path().join("nowhere");
    assert_eq!(
        find(std::slice::from_ref(&nowhere)).logs,
        [FoundLog { path: nowhere, below: None, spot: None }]
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", root.path().join("link")).unwrap();
        std::os::unix::fs::symlink("..", root.path().join("up")).unwrap();
        assert_eq!(find(&[root.path().to_owned()]), Found::default());
        std::os::unix::fs::symlink("nowhere", root.path().join("session.jsonl")).unwrap();
        assert_eq!(find(&[root.path().to_owned()]).logs.len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_is_walked_the_same_way_however_it_was_made(
        files in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec![
                "session.jsonl", "session.jsonl.zstd", "session.v2.jsonl", "session.v10.jsonl.zstd",
                "session.v99999999999999999999.jsonl", "--p--", "_no-cwd", "----", "s", "会话", " ", "x.jsonl", "~0041",
            ]), 1..5),
            0..14,
        ),
    ) {
        let forth: Vec<String> = files.iter().map(|parts| parts.join("/")).collect();
        let back: Vec<String> = forth.iter().rev().cloned().collect();
        let mut seen = Vec::new();
        for order in [&forth, &back] {
            let root = tempfile::tempdir().unwrap();
            // A name that is a file in one path and a directory in another is a directory.
            for file in order {
                let is_folder = forth.iter().any(|other| other.starts_with(&format!("{file}/")));
                make(root.path(), &[&*if is_folder { format!("{file}/") } else { file.clone() }]);
            }
            let (logs, ignored) = found(root.path());
            let distinct: BTreeSet<&String> = logs.iter().chain(&ignored).collect();
            prop_assert_eq!(distinct.len(), logs.len() + ignored.len());
            seen.push((logs, ignored));
        }
        prop_assert_eq!(&seen[0], &seen[1]);
    }
}
