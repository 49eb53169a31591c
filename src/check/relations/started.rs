//! Tool calls as dsh's own checks of format 0 see them: what no `tool/call` has started in the step has no result, unless
//! the result says so itself (FORMAT §10.2). Which calls a message makes is nothing to them.

use super::here::Here;
use super::tools::{RESULT_NOT_STARTED, answered, shown};
use super::turns::Boundary;
use crate::json::{self, Object};
use std::collections::HashSet;

/// The calls that have started and have no result yet.
#[derive(Debug, Default)]
pub(super) struct Started {
    calls: HashSet<Vec<u8>>,
    /// Events of the step were lost, among them perhaps the start of a call.
    in_doubt: bool,
}

impl Started {
    pub(super) fn doubt(&mut self) {
        self.in_doubt = true;
    }

    /// A step ends, and all that is open in it.
    pub(super) fn close(&mut self, boundary: Boundary) {
        match boundary {
            Boundary::Sound => {
                self.calls.clear();
                self.in_doubt = false;
            }
            Boundary::Unsound => self.in_doubt = true,
            Boundary::Nothing => {}
        }
    }

    pub(super) fn call(&mut self, here: &Here) {
        if let Some(id) = here.data.text("callId") {
            self.calls.insert(id.as_bytes().to_vec());
        }
    }

    pub(super) fn result(&mut self, is_in_step: bool, here: &mut Here) {
        let Some(message) = here.data.object("message") else { return };
        let Some(id) = answered(&message) else { return };
        let was_started = self.calls.remove(id.as_bytes());
        if !was_started && is_in_step && !self.in_doubt && !says_not_started(here.data, &message) {
            let problem = format!("the result answers call {}, which no tool/call has started", shown(&id));
            here.tell(&RESULT_NOT_STARTED, problem);
        }
    }
}

/// Whether a result says that its call never started. Nothing else of it is looked at.
fn says_not_started(data: &Object, message: &Object) -> bool {
    let has_code = data.object("error").is_some_and(|error| error.has_text("code", "TOOL_NOT_STARTED"));
    let content = message.array("content").unwrap_or_default();
    let block = content.first().and_then(|block| Object::of(*block));
    has_code && block.and_then(|block| block.get("isError")).is_some_and(json::is_true)
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{STEP, TURN, call, calls, codes, found_in, header, judge, lines};

    const OPEN: [(&str, &str); 2] = [("turn/start", TURN), ("step/start", STEP)];
    const CALL: &str = "tool/call";
    const RESULT: &str = "tool/result";

    fn result(id: &str, more: &str, is_error: bool) -> String {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"content":[{{"type":"tool-result","toolCallId":"{id}","isError":{is_error}}}],"source":{{"kind":"tool","callId":"{id}"}}}}{more}}}"#
        )
    }

    fn judged(events: &[(&str, &str)]) -> Vec<String> {
        found_in(0, &[&OPEN[..], events].concat())
    }

    #[test]
    fn a_result_needs_a_start_or_says_that_there_was_none() {
        let (start, plain) = (call("a"), result("a", "", true));
        let code = r#","error":{"code":"TOOL_NOT_STARTED"}"#;
        assert_eq!(judged(&[(CALL, &start), (RESULT, &plain)]), [""; 0], "no message need make the call");
        assert_eq!(judged(&[(RESULT, &plain)]), ["result-not-started@2"]);
        assert_eq!(judged(&[(CALL, &start), (RESULT, &plain), (RESULT, &plain)]), ["result-not-started@4"]);
        assert_eq!(judged(&[(RESULT, &result("a", code, true))]), [""; 0]);
        assert_eq!(judged(&[(RESULT, &result("a", code, false))]), ["result-not-started@2"]);
        assert_eq!(
            judged(&[(RESULT, &result("a", &code.replace("NOT", "OUT"), true))]),
            ["result-not-started@2"]
        );
    }

    #[test]
    fn a_step_may_end_without_results_and_takes_its_calls_along() {
        let (start, plain) = (call("a"), result("a", "", true));
        let next = plain.replace("\"step\":1", "\"step\":2");
        let log = [
            ("assistant/message", &*calls(&["a", "b"])),
            (CALL, &start),
            ("step/end", STEP),
            ("step/start", r#"{"turn":1,"step":2}"#),
            (RESULT, &next),
        ];
        assert_eq!(judged(&log), ["result-not-started@6"]);
    }

    #[test]
    fn a_lost_start_is_no_breach() {
        let (start, plain) = (call("a"), result("a", "", true));
        let mut log = lines(&[&OPEN[..], &[(CALL, &start), (RESULT, &plain)]].concat());
        log[2] = "{".to_owned();
        assert_eq!(codes(&judge(&header(0), &log)), [""; 0]);
    }
}
