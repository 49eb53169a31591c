//! A log, a server, and what must hold after a failure.

use crate::sandbox::{Run, Sandbox, fixture, lines, text};
use crate::schemas::{faults, validator};
use llmposter::{Fixture, MockServer, ServerBuilder};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

/// The key, which nothing may show.
pub const KEY: &str = "sk-not-to-be-seen";

/// The summarizers that speak HTTP.
pub const DIALECTS: [&str; 2] = ["openai", "anthropic"];

/// The mock server, on a runtime of its own.
pub struct Mock {
    server: MockServer,
    _runtime: tokio::runtime::Runtime,
}

impl Mock {
    /// A server that gives these answers to what they match.
    pub fn new(fixtures: Vec<Fixture>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(ServerBuilder::new().fixtures(fixtures).build()).unwrap();
        Self { server, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn requests(&self) -> usize {
        self.server.request_count()
    }
}

/// A log to compact, and the words that do it.
pub struct Bench {
    sandbox: Sandbox,
    log: PathBuf,
    old: Vec<u8>,
    /// The lines that it had.
    lines: usize,
    digest: Value,
}

impl Bench {
    pub fn new() -> Self {
        let sandbox = Sandbox::new();
        let log = sandbox.copy(fixture("demo/session.jsonl"));
        let old = fs::read(&log).unwrap();
        let digest = sandbox.json(&["replay", text(&log)]).0["digest"].clone();
        let lines = lines(&log).len();
        Self { sandbox, log, old, lines, digest }
    }

    /// Compacts the log with a model of this dialect behind `url`.
    pub fn compact(&self, dialect: &str, url: &str, more: &[&str]) -> Run {
        let base = ["compact", text(&self.log), "--keep-turns", "2", "--format", "json"];
        let asked =
            ["--summarizer", dialect, "--base-url", url, "--model", "m-1", "--api-key-env", "THE_KEY"];
        let mut command = self.sandbox.command(&[&base[..], &asked, more].concat());
        command.env("THE_KEY", KEY).stdin(Stdio::null());
        // A server on this machine is asked without it.
        command.env("ALL_PROXY", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");
        Run::of(command.output().unwrap())
    }

    /// The report on the log.
    pub fn report(run: &Run) -> Value {
        let document: Value =
            serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        assert_eq!(faults(&validator("docs/compact.schema.json"), &document), [""; 0]);
        document["files"][0].clone()
    }

    /// The events that were added to the log.
    pub fn added(&self) -> Vec<Value> {
        lines(&self.log).split_off(self.lines)
    }

    /// Compacts, and checks that it fails with these words and harms nothing; the message.
    pub fn fails(&self, dialect: &str, url: &str, more: &[&str], expected: &str) -> String {
        self.fails_as("summary", dialect, url, more, expected)
    }

    /// The same, for another reason than that there is no good summary.
    pub fn fails_as(&self, code: &str, dialect: &str, url: &str, more: &[&str], expected: &str) -> String {
        let run = self.compact(dialect, url, more);
        let report = Self::report(&run);
        let reason = &report["reason"];
        assert_eq!(
            (run.code, &report["status"], &reason["code"]),
            (5, &json!("failed"), &json!(code)),
            "{run:?}"
        );
        let message = reason["message"].as_str().unwrap();
        assert!(message.contains(expected), "{dialect}: {expected:?} is wanted, {message:?} found");
        assert!(run.err.contains(message), "{run:?}");
        self.is_unharmed(message);
        self.hides_the_key(&run);
        message.to_owned()
    }

    /// Nothing is replaced; the bracket is closed, once, with the error.
    pub fn is_unharmed(&self, message: &str) {
        let log = text(&self.log);
        assert!(fs::read(&self.log).unwrap().starts_with(&self.old));
        let added = self.added();
        let types: Vec<&str> = added.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["compaction/start", "compaction/end"]);
        let error = added[1]["data"]["error"].to_string();
        assert!(error.contains(json!(message).to_string().trim_matches('"')), "{message} is not in {error}");
        let (view, _) = self.sandbox.json(&["replay", log]);
        assert_eq!((&view["digest"], &view["lock"]["state"]), (&self.digest, &json!("free")));
        let verify = self.sandbox.run(&["verify", log]);
        assert_eq!(verify.code, 0, "{verify:?}");
    }

    pub fn hides_the_key(&self, run: &Run) {
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(![&run.out, &run.err, &log].iter().any(|place| place.contains(KEY)), "{run:?}");
    }

    /// What the log's surface is now.
    pub fn view(&self) -> Value {
        self.sandbox.json(&["replay", text(&self.log)]).0
    }
}
