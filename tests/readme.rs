//! Every example of the README is run, and must print what the README says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let copy = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(copy).unwrap();
        } else {
            fs::copy(entry.path(), copy).unwrap();
        }
    }
}

#[test]
fn its_examples_print_what_it_says() {
    let sandbox = tempfile::tempdir().unwrap();
    let readme = sandbox.path().join("README.md");
    fs::copy(home().join("README.md"), &readme).unwrap();
    for name in [
        "demo/session.jsonl",
        "demo-zstd/session.jsonl.zstd",
        "bytes/torn-raw.jsonl",
        "cases/R04-damaged-line-then-work-without-turn-end/session.jsonl",
        "cases/R16-orphan-lock-owner-turn-already-ended/session.jsonl",
        "cases/R31-unknown-required-event/variant-ignorable.jsonl",
        "cases/R36-v3-system-head-and-generation-files/session.jsonl",
        "cases/R36-v3-system-head-and-generation-files/session.v3.jsonl",
    ] {
        let copy = sandbox.path().join("fixtures").join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(home().join("fixtures").join(name), copy).unwrap();
    }
    copy_folder(&home().join("fixtures/corpus"), &sandbox.path().join("fixtures/corpus"));
    std::env::set_current_dir(sandbox.path()).unwrap();
    trycmd::TestCases::new().case(&readme).env("NO_COLOR", "1").run();
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::copy(readme, home().join("README.md")).unwrap();
    }
}

#[test]
fn its_two_commands_are_the_tested_ones() {
    let readme = fs::read_to_string(home().join("README.md")).unwrap();
    let commands: Vec<&str> = readme.lines().filter(|line| line.starts_with("cargo ")).collect();
    let [main_job, tests] = commands.as_slice() else {
        panic!("two commands do all the set-up: {commands:?}")
    };
    let arguments = main_job.strip_prefix("cargo run --release --locked -- ").unwrap();
    assert!(
        readme.contains(&format!("\n$ dshc {arguments}\n")),
        "the main job is no tested example: {arguments}"
    );
    let ci = fs::read_to_string(home().join(".ci/run")).unwrap();
    assert!(ci.contains(tests), ".ci/run does not run `{tests}`");
}
