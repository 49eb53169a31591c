//! A folder of its own for each test, and the binary in it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder; logs are copied into it, so that fixtures stay as they are.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    assert!(path.exists(), "no fixture {name}");
    path
}

/// Every log of format 0 below `fixtures/corpus`, with what the official reader sees in it.
pub fn corpus() -> Vec<(PathBuf, Value)> {
    let facts = fs::read_to_string(fixture("corpus/official.jsonl")).unwrap();
    let facts = facts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    facts.map(|facts| (fixture(&format!("corpus/{}", facts["path"].as_str().unwrap())), facts)).collect()
}

/// A log that nothing is wrong with.
pub fn demo() -> Vec<u8> {
    fs::read(fixture("demo/session.jsonl")).unwrap()
}

/// The header of a log of format 0 that is put together by hand.
pub const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#;

impl Sandbox {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies a fixture, or any log, under its own file name. The copy's time is long past.
    pub fn copy(&self, log: impl AsRef<Path>) -> PathBuf {
        let log = log.as_ref();
        let copy = self.path(log.file_name().unwrap().to_str().unwrap());
        self.write(copy.file_name().unwrap().to_str().unwrap(), &fs::read(log).unwrap());
        copy
    }

    /// Writes a file whose time is long past.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let past = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(past).unwrap();
        path
    }

    /// The binary, with no settings of this machine's.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dshc"));
        command.args(arguments).current_dir(self.folder.path());
        for setting in ["CI", "NO_COLOR", "CLICOLOR_FORCE", "DSH_HOME", "DSHC_BASE_URL", "DSHC_MODEL"] {
            command.env_remove(setting);
        }
        command.env("HOME", self.folder.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    pub fn run_with_input(&self, arguments: &[&str], input: &Path) -> Run {
        Run::of(self.command(arguments).stdin(fs::File::open(input).unwrap()).output().unwrap())
    }

    /// Runs a command with `--format json`; the document and the exit code.
    pub fn json(&self, arguments: &[&str]) -> (Value, i32) {
        let run = self.run(&[arguments, &["--format", "json"]].concat());
        let document = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        (document, run.code)
    }
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Errors and warnings of a report of `verify`, but for the one that dsh's own compactions give: they hide the task.
pub fn alarms(report: &Value) -> Vec<&Value> {
    let files = report["files"].as_array().unwrap().iter();
    let findings = files.flat_map(|file| file["findings"].as_array().unwrap());
    findings.filter(|finding| finding["severity"] != "note" && finding["code"] != "task-lost").collect()
}

/// One member of each of a replay's nodes.
pub fn column(nodes: &Value, member: &str) -> Vec<Value> {
    nodes.as_array().unwrap().iter().map(|node| node[member].clone()).collect()
}

/// The finding of this code in a file of a report.
pub fn finding<'a>(file: &'a Value, code: &str) -> &'a Value {
    let findings = file["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code).unwrap_or_else(|| panic!("{file}"))
}

/// All lines of a log, its header first.
pub fn lines(log: &Path) -> Vec<Value> {
    let text = decoded(log);
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// A log's text, whatever its container.
pub fn decoded(log: &Path) -> Vec<u8> {
    let bytes = fs::read(log).unwrap();
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::decode_all(bytes.as_slice()).unwrap()
    } else {
        bytes
    }
}
