//! How a run would have ended, by the entries of its report.

use super::entry::{Entry, Facts};
use crate::check::Severity;
use crate::exit::Exit;

/// A status that no report of this dshc has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} has the status \"{status}\", which is not known here")]
pub struct UnknownStatus {
    path: String,
    status: String,
}

/// How the run of one entry's log ended. Findings count from `threshold` on.
pub(super) fn exit(entry: &Entry, threshold: Severity) -> Result<Exit, UnknownStatus> {
    let Facts { worst, findings, reason, .. } = &entry.facts;
    let Some(status) = entry.status() else { return Ok(Exit::Done) };
    let found = findings.iter().map(|finding| &finding.severity).chain(worst);
    let is_grave = found.filter_map(|word| Severity::named(word)).any(|severity| severity >= threshold);
    let is_cancelled = reason.as_ref().is_some_and(|reason| reason.code == "cancelled");
    match status {
        "refused" | "failed" if is_cancelled => Ok(Exit::Interrupted),
        "unreadable" => Ok(Exit::Unreadable),
        "refused" => Ok(Exit::Refused),
        "failed" => Ok(Exit::Failed),
        "partial" => Ok(Exit::Findings),
        "clean" | "findings" if is_grave => Ok(Exit::Findings),
        status if DONE.contains(&status) => Ok(Exit::Done),
        _ => Err(UnknownStatus { path: entry.path().display().to_string(), status: status.to_owned() }),
    }
}

/// The statuses of logs that did what was asked of them.
const DONE: [&str; 7] = ["clean", "findings", "compacted", "planned", "nothing_to_do", "repacked", "counted"];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entry: &str, threshold: Severity) -> Result<Exit, UnknownStatus> {
        let raw = serde_json::from_str(entry).unwrap();
        exit(&Entry::of(raw).unwrap(), threshold)
    }

    #[test]
    fn a_status_has_the_exit_of_its_command() {
        for (status, expected) in [
            ("clean", Exit::Done),
            ("nothing_to_do", Exit::Done),
            ("unreadable", Exit::Unreadable),
            ("refused", Exit::Refused),
            ("failed", Exit::Failed),
            ("partial", Exit::Findings),
        ] {
            let entry = format!(r#"{{"path":"a","status":"{status}"}}"#);
            assert_eq!(of(&entry, Severity::Error), Ok(expected), "{status}");
            let entry = format!(r#"{{"path":"a","status":"skipped","outcome":"{status}"}}"#);
            assert_eq!(of(&entry, Severity::Error), Ok(expected), "{status}");
        }
        let cancelled = r#"{"path":"a","status":"failed","reason":{"code":"cancelled"}}"#;
        assert_eq!(of(cancelled, Severity::Error), Ok(Exit::Interrupted));
        assert_eq!(of(r#"{"path":"a"}"#, Severity::Error), Ok(Exit::Done));
        let error = of(r#"{"path":"a","status":"eaten"}"#, Severity::Error).unwrap_err();
        assert_eq!(error.to_string(), "a has the status \"eaten\", which is not known here");
    }

    #[test]
    fn findings_count_from_the_severity_that_is_asked_for() {
        let entry =
            r#"{"path":"a","status":"findings","findings":[{"severity":"note"},{"severity":"warning"}]}"#;
        assert_eq!(of(entry, Severity::Error), Ok(Exit::Done));
        assert_eq!(of(entry, Severity::Warning), Ok(Exit::Findings));
        let skipped = r#"{"path":"a","status":"skipped","outcome":"findings","worst":"error"}"#;
        assert_eq!(of(skipped, Severity::Error), Ok(Exit::Findings));
    }
}
