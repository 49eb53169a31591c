//! `--shard K/N`: what the shards find, merged, is byte for byte what one run finds.

use crate::places::log;
use crate::sandbox::{Run, Sandbox, demo, fixture, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Copies the logs below a folder of fixtures to `name`.
fn copy_folder(sandbox: &Sandbox, folder: &Path, name: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            copy_folder(sandbox, &path, &name);
        } else {
            sandbox.write(&name, &fs::read(&path).unwrap());
        }
    }
}

/// An archive with everything that is found only where logs are looked at together, and logs of every kind of end.
fn archive() -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in ["cases", "corpus/plain-zstd", "demo", "demo-zstd"] {
        copy_folder(&sandbox, &fixture(folder), &format!("archive/{folder}"));
    }
    for path in ["root/p/s", "root/q/s", "root/p/t", "keys/--home--/u", "keys/--home--/v"] {
        let id = path.rsplit('/').next().unwrap();
        sandbox.write(&format!("archive/{path}/session.jsonl"), &log(id, Some("/elsewhere")));
    }
    for path in ["p/packed/session.jsonl.zstd", "q/s/session.v3.jsonl", "p/flat.jsonl", "p/t/copy.jsonl"] {
        sandbox.write(&format!("archive/root/{path}"), &demo());
    }
    // The same session twice: which of the two stands for it shows in what is said of the other project's.
    let whole = demo();
    sandbox.write("archive/root/p/twins/session.jsonl", &whole[..whole.len() / 2]);
    let packed = fs::read(fixture("demo-zstd/session.jsonl.zstd")).unwrap();
    sandbox.write("archive/root/p/twins/session.jsonl.zstd", &packed);
    sandbox.write("archive/root/q/demo/session.jsonl", &whole);
    sandbox.write("archive/root/q/empty/session.jsonl", b"");
    sandbox
}

/// What the runs of all shards gave, each with another number of jobs.
fn shards(sandbox: &Sandbox, words: &[&str], of: u32) -> Vec<Run> {
    let run = |index: u32| {
        let (shard, jobs) = (format!("{index}/{of}"), (1 + index % 3).to_string());
        sandbox.run(&[words, &["--shard", &shard, "-j", &jobs]].concat())
    };
    (1..=of).map(run).collect()
}

/// The shards' reports, merged; each shard is checked to be no more and no less than its share.
fn merged(sandbox: &Sandbox, words: &[&str], options: &[&str], of: u32) -> Run {
    let mut files = Vec::new();
    for (index, run) in (1..).zip(shards(sandbox, words, of)) {
        let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        assert_eq!(report["shard"], serde_json::json!({ "index": index, "of": of }));
        let name = format!("{index}-{of}.json");
        sandbox.write(&name, run.out.as_bytes());
        // In whatever order they are named.
        files.insert(0, name);
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    sandbox.run(&[&["merge-reports"], options, &files].concat())
}

fn assert_same(whole: &Run, merged: &Run, what: &str) {
    assert!(whole.out == merged.out, "{what}: one run\n{}\nmerged\n{}", whole.out, merged.out);
    assert_eq!((whole.code, merged.code, merged.err.as_str()), (whole.code, whole.code, ""), "{what}");
}

#[test]
fn what_verify_finds() {
    let sandbox = archive();
    for options in [&[][..], &["--target-format", "4", "--rule", "places=warning"]] {
        let words = [&["verify", "archive", "--format", "json"], options].concat();
        let whole = sandbox.run(&words);
        for code in ["duplicate-session-id", "mixed-encodings", "header-path", "two-encodings", "empty-file"]
        {
            // Or nothing was tested of it.
            assert!(whole.out.contains(code), "{code}");
        }
        for of in 1..=7 {
            assert_same(&whole, &merged(&sandbox, &words, &[], of), &format!("{options:?}, {of} shards"));
        }
    }
}

#[test]
fn what_fails_a_run_of_verify() {
    let sandbox = Sandbox::new();
    sandbox.write("archive/p/a/session.jsonl", &demo());
    let torn = fs::read(fixture("bytes/torn-raw.jsonl")).unwrap();
    sandbox.write("archive/p/b/session.jsonl", &torn);
    for (severity, code) in [("error", 0), ("warning", 1)] {
        let words = ["verify", "archive", "--format", "json", "--fail-on", severity];
        let whole = sandbox.run(&words);
        assert_eq!(whole.code, code);
        assert_same(&whole, &merged(&sandbox, &words, &["--fail-on", severity], 3), severity);
    }
}

#[test]
fn what_compact_plans_and_writes() {
    let sandbox = archive();
    let words = ["compact", "-n", "archive", "--keep-turns", "1", "--format", "json"];
    let whole = sandbox.run(&words);
    for of in 1..=7 {
        assert_same(&whole, &merged(&sandbox, &words, &[], of), &format!("{of} shards"));
    }
    let words = ["compact", "archive", "--keep-turns", "1", "--format", "json", "-o", "new"];
    let whole = sandbox.run(&words);
    assert!(whole.out.contains("\"status\":\"compacted\""));
    fs::rename(sandbox.path("new"), sandbox.path("of-one-run")).unwrap();
    assert_same(&whole, &merged(&sandbox, &words, &[], 5), "written");
    assert_eq!(tree(&sandbox.path("new")), tree(&sandbox.path("of-one-run")));
}

#[test]
fn what_repack_plans() {
    let sandbox = archive();
    let words = ["repack", "-n", "archive", "--level", "3", "--format", "json"];
    let whole = sandbox.run(&words);
    assert!(whole.out.contains("\"status\":\"planned\"") && whole.out.contains("copy.jsonl"), "{whole:?}");
    for of in [1, 3, 7] {
        assert_same(&whole, &merged(&sandbox, &words, &[], of), &format!("{of} shards"));
    }
}

#[test]
fn what_stats_measures() {
    let sandbox = archive();
    for options in [&[][..], &["--sort", "tokens", "--top", "5"], &["--sort", "activity"]] {
        let words = [&["stats", "archive", "--format", "json"], options].concat();
        let whole = sandbox.run(&words);
        for of in [1, 4] {
            let merged = merged(&sandbox, &words, &[], of);
            assert!(whole.out == merged.out, "{options:?}: one run\n{}\nmerged\n{}", whole.out, merged.out);
            assert_eq!(whole.code, merged.code, "{options:?}");
        }
    }
}

#[test]
fn what_is_named_in_another_order() {
    let sandbox = archive();
    let words = |folders: [&'static str; 3]| [&["verify", "--format", "json"][..], &folders].concat();
    let whole = sandbox.run(&words(["archive/root", "archive/cases", "archive/demo/session.jsonl"]));
    let turned = words(["archive/demo/session.jsonl", "archive/root", "archive/cases"]);
    assert_same(&whole, &merged(&sandbox, &turned, &[], 4), "turned");
}

/// All files below a folder, with their bytes.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = text(path.strip_prefix(folder).unwrap()).to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_share_of_several_logs_is_written_into_a_folder_though_it_be_one_log() {
    let sandbox = Sandbox::new();
    for name in ["a.jsonl", "b.jsonl"] {
        sandbox.write(name, &demo());
    }
    for run in shards(&sandbox, &["compact", "a.jsonl", "b.jsonl", "--keep-turns", "1", "-o", "new"], 3) {
        assert_eq!(run.code, 0, "{run:?}");
    }
    let names: Vec<String> = tree(&sandbox.path("new")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a.jsonl", "b.jsonl"]);
}

#[test]
fn what_is_for_one_log_is_refused_in_every_shard() {
    let sandbox = Sandbox::new();
    for name in ["a.jsonl", "b.jsonl"] {
        sandbox.write(name, &demo());
    }
    for run in shards(&sandbox, &["compact", "-n", "a.jsonl", "b.jsonl", "--region", "3..34"], 3) {
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("--region is for one log, and 2 are there"), "{run:?}");
    }
    let run = sandbox.run(&["verify", "a.jsonl", "--shard", "4/3"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("K from 1 to N"), "{run:?}");
}

#[test]
fn machines_that_mount_the_archive_elsewhere_share_it_alike() {
    let sandbox = Sandbox::new();
    for mount in ["here", "mnt/there"] {
        for name in ["a", "b", "c", "d", "e"] {
            sandbox.write(&format!("{mount}/p/{name}/session.jsonl"), &log(name, None));
            sandbox.write(&format!("{mount}/p/{name}/note.jsonl"), b"");
        }
    }
    let shares = ["1/2", "2/2"].map(|shard| {
        let share = share(&sandbox, "here", shard);
        assert_eq!(share, self::share(&sandbox, "mnt/there", shard));
        share
    });
    assert!(shares.iter().all(|share| !share.is_empty()) && shares.concat().len() == 10, "{shares:?}");
}

/// The files of a shard of `mount`, counted from there.
fn share(sandbox: &Sandbox, mount: &str, shard: &str) -> Vec<String> {
    let absolute = sandbox.path(mount);
    let (report, _) = sandbox.json(&["verify", text(&absolute), "--shard", shard]);
    let files = report["files"].as_array().unwrap().iter().map(|file| &file["path"]);
    let paths = files.chain(report["ignored"].as_array().unwrap());
    paths.map(|path| path.as_str().unwrap().strip_prefix(text(&absolute)).unwrap().to_owned()).collect()
}
