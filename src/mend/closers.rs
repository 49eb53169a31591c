//! The events that end an interrupted turn, as dsh writes them when it resumes a session (FORMAT §9.3, §9.4).

use super::pending::PendingCall;
use crate::format::{
    Format, INTERRUPTED_RESULT_ID, MessageKind, NOT_STARTED, OUTCOME_UNKNOWN, RepairResult, ToolResult,
};
use crate::json::{self, Document};
use crate::log::NewRecord;
use crate::session::Session;
use serde::Serialize;

#[derive(Serialize)]
struct ResultData {
    turn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    message: Document<'static>,
    error: ErrorData,
}

#[derive(Serialize)]
struct ErrorData {
    name: &'static str,
    code: &'static str,
}

#[derive(Serialize)]
struct StepEnd {
    turn: u64,
    step: u64,
}

#[derive(Serialize)]
struct TurnEnd {
    turn: u64,
    reason: Reason,
}

#[derive(Serialize)]
struct Reason {
    kind: &'static str,
}

/// The closers of a session's open turn: a result for each of its `pending` calls, the end of its open step, and its own
/// end. Empty where no turn is open.
pub(super) fn closers(session: &Session, pending: &[PendingCall]) -> serde_json::Result<Vec<String>> {
    let Some(turn) = session.turns.open() else { return Ok(Vec::new()) };
    let time = session.last_time.unwrap_or_default();
    let mut seqs = session.events..;
    let mut next = || seqs.next().unwrap_or(u64::MAX);
    let mut records = Vec::new();
    for call in pending {
        records.push(result(session, turn, call, next())?);
    }
    if let Some(step) = session.turns.open_step() {
        records.push(NewRecord::new("step/end", next(), time, StepEnd { turn, step }).to_text()?);
    }
    let end = TurnEnd { turn, reason: Reason { kind: "interrupted" } };
    records.push(NewRecord::new("turn/end", next(), time, end).to_text()?);
    Ok(records)
}

fn result(session: &Session, turn: u64, call: &PendingCall, seq: u64) -> serde_json::Result<String> {
    let repair = if call.call_seq.is_some() { &OUTCOME_UNKNOWN } else { &NOT_STARTED };
    let data = ResultData {
        turn,
        step: call.step.or(session.turns.open_step()),
        message: Document::new(message(session.format, repair, &call.id, seq))?,
        error: ErrorData { name: repair.error_name, code: repair.code },
    };
    NewRecord {
        source_event_seqs: call.call_seq.map(|call| vec![call]),
        surface_op: Some(Document::new("\"append\"".to_owned())?),
        ..NewRecord::new("tool/result", seq, session.last_time.unwrap_or_default(), data)
    }
    .to_text()
}

/// The message of a result for the call whose id is the JSON text `call`.
fn message(format: &Format, repair: &RepairResult, call: &str, seq: u64) -> String {
    let mut kinds = format.surface_types.iter();
    let role =
        kinds.find(|surface| surface.kind == MessageKind::ToolResult).map_or("", |surface| surface.role);
    let unquoted = call.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(call);
    let id = format!("\"{INTERRUPTED_RESULT_ID}{unquoted}-{seq}\"");
    let source = format!("{{\"kind\":\"tool\",\"callId\":{call}}}");
    let content = format!("[{{\"type\":\"text\",\"text\":{}}}]", json::quote(repair.text));
    match format.tool_result {
        ToolResult::Wrapped => format!(
            "{{\"id\":{id},\"role\":\"{role}\",\"source\":{source},\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":{call},\"isError\":true,\"content\":{content}}}]}}"
        ),
        ToolResult::Flat => format!(
            "{{\"id\":{id},\"role\":\"{role}\",\"source\":{source},\"toolCallId\":{call},\"content\":{content},\"isError\":true}}"
        ),
    }
}
