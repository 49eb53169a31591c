//! What members of one object owe to each other.

use super::{MEMBERS, Rule, VALUE};
use crate::check::relations::repair;
use crate::format::payload::Condition;
use crate::json::{self, Object};
use std::collections::HashSet;

/// The rule that a condition belongs to.
pub(super) fn rule(condition: Condition) -> &'static Rule {
    match condition {
        Condition::IdOrBracket
        | Condition::StreamCallKeepsOutput
        | Condition::DefaultsAreConfigured
        | Condition::AgentRoute
        | Condition::NotEmpty
        | Condition::ErrorOfError => &MEMBERS,
        Condition::RangeOfSeqs
        | Condition::RetryWithinLimit
        | Condition::DistinctModels
        | Condition::References
        | Condition::AnswersItsCall
        | Condition::StatesGoalChange
        | Condition::RepairId => &VALUE,
    }
}

/// What is wrong with an object whose members have their shapes, if the condition does not hold.
pub(super) fn breach(condition: Condition, object: &Object, in_bracket: bool) -> Option<String> {
    let holds = match condition {
        Condition::IdOrBracket => in_bracket || object.get("compactionId").is_some(),
        Condition::StreamCallKeepsOutput => {
            object.get("llmStreamCall").is_none() || object.get("rawOutput").is_some()
        }
        Condition::RangeOfSeqs => range_of_seqs(object).unwrap_or(false),
        Condition::RetryWithinLimit => object.count("retry") <= object.count("maxRetries"),
        Condition::DefaultsAreConfigured => defaults_are_configured(object),
        Condition::AgentRoute => object.get("agentProvider").is_some() == object.get("agentModel").is_some(),
        Condition::NotEmpty => object.names().next().is_some(),
        Condition::DistinctModels => are_distinct(object),
        Condition::References => return references(object),
        Condition::AnswersItsCall => answers_its_call(object),
        Condition::StatesGoalChange => states_goal_change(object).unwrap_or(false),
        Condition::RepairId => has_repair_id(object),
        Condition::ErrorOfError => object.get("error").is_none() || is_error(object),
    };
    (!holds).then(|| wording(condition).to_owned())
}

fn wording(condition: Condition) -> &'static str {
    match condition {
        Condition::IdOrBracket => {
            "lacks the member \"compactionId\", and no bracket is open that could give it"
        }
        Condition::StreamCallKeepsOutput => "has llmStreamCall without rawOutput",
        Condition::RangeOfSeqs => {
            "has a shadowedRange that does not name the first and the last of its shadowedSeqs"
        }
        Condition::RetryWithinLimit => "counts a retry beyond its maxRetries",
        Condition::DefaultsAreConfigured => "has adapterDefaults for a setting that its config does not hold",
        Condition::AgentRoute => "has one of agentProvider and agentModel without the other",
        Condition::NotEmpty => "has no member",
        Condition::DistinctModels => "names a provider and model twice in its allowedModels",
        Condition::References => "has references that do not add up",
        Condition::AnswersItsCall => {
            "does not hold exactly one tool-result block, for the call that its source names"
        }
        Condition::StatesGoalChange => {
            "has a source with the change of a goal, but does not name that goal and revision, or holds more or less than \
             the text of the change"
        }
        Condition::RepairId => {
            "answers a call that never started, but its message has not the id that dsh gives such a result"
        }
        Condition::ErrorOfError => "has error details, but its result is no error",
    }
}

fn range_of_seqs(object: &Object) -> Option<bool> {
    let (range, seqs) = (object.object("shadowedRange")?, object.array("shadowedSeqs")?);
    let is = |end: &str, seq: Option<json::Raw>| Some(range.count(end)? == json::count(seq?)?);
    Some(is("start", seqs.first().copied())? && is("end", seqs.last().copied())?)
}

fn defaults_are_configured(header: &Object) -> bool {
    let (Some(defaults), Some(config)) = (header.object("adapterDefaults"), header.object("config")) else {
        return true;
    };
    defaults.names().all(|name| config.get(&name.to_str()).is_some())
}

fn are_distinct(policy: &Object) -> bool {
    let mut seen = HashSet::new();
    policy.array("allowedModels").unwrap_or_default().into_iter().all(|model| {
        let route = Object::of(model);
        let part = |key| route.as_ref().and_then(|route| route.text(key));
        // Readers tell routes apart by both names with a zero between.
        let parts = [part("provider").unwrap_or_default(), part("model").unwrap_or_default()];
        seen.insert([parts[0].as_bytes(), parts[1].as_bytes()].join(&0))
    })
}

/// The first reference to another session that does not add up.
fn references(source: &Object) -> Option<String> {
    let references = source.array("references")?;
    if references.is_empty() {
        return Some("has no references".to_owned());
    }
    let mut sessions = HashSet::new();
    (0..).zip(references).find_map(|(index, raw)| {
        let reference = Object::of(raw)?;
        let problem = if !sessions.insert(reference.text("sessionId")?) {
            "names a session that another one names"
        } else if reference.count("inputIndex")? != index {
            "has an inputIndex that is not its place"
        } else {
            counts(&reference)?
        };
        Some(format!("has references of which number {index} {problem}"))
    })
}

/// What is wrong with the counts of a reference.
fn counts(reference: &Object) -> Option<&'static str> {
    let count = |key| reference.count(key);
    let (original, retained) = (count("originalMessages")?, count("retainedMessages")?);
    let (omitted, bytes) = (count("omittedMessages")?, count("omittedBytes")?);
    if original.checked_sub(retained) != Some(omitted) {
        return Some("omits other than what it has not retained");
    }
    let is_truncated = reference.get("truncated").is_some_and(json::is_true);
    (is_truncated != (omitted > 0 || bytes > 0))
        .then_some("is truncated though nothing is omitted, or the other way round")
}

/// The one block of a tool's message.
fn wrapper<'a>(message: &Object<'a>) -> Option<Object<'a>> {
    match message.array("content")?[..] {
        [block] => Object::of(block).filter(|block| block.has_text("type", "tool-result")),
        _ => None,
    }
}

fn answers_its_call(message: &Object) -> bool {
    let call = message.object("source").and_then(|source| source.text("callId"));
    wrapper(message).is_some_and(|block| block.text("toolCallId") == call)
}

fn is_error(result: &Object) -> bool {
    let block = result.object("message").and_then(|message| wrapper(&message));
    block.is_some_and(|block| block.get("isError").is_some_and(json::is_true))
}

fn has_repair_id(result: &Object) -> bool {
    let never_started =
        result.object("error").is_some_and(|error| error.has_text("code", "TOOL_NOT_STARTED"));
    if !never_started {
        return true;
    }
    let message = result.object("message");
    message.is_some_and(|message| {
        let call = message.object("source").and_then(|source| source.text("callId"));
        call.is_some_and(|call| repair::suffix(&message, "interrupted", &call).is_some())
    })
}

/// Whether a message whose source carries the change of a goal fits it; `None` where a part is missing.
fn states_goal_change(message: &Object) -> Option<bool> {
    let source = message.object("source")?;
    let Some(change) = source.object("change").filter(|_| source.has_text("kind", "goal")) else {
        return Some(true);
    };
    let is_clear = change.has_text("operation", "clear");
    let goal = change.object(if is_clear { "cleared" } else { "goal" })?;
    if source.text("goalId") != goal.text("id") || source.count("revision") != goal.count("revision") {
        return Some(false);
    }
    let [block] = message.array("content")?[..] else { return Some(false) };
    let block = Object::of(block)?;
    let stated = block.text("text").filter(|_| block.has_text("type", "text"))?;
    Some(stated == *goal_state(&change, is_clear)?)
}

/// The text with which development builds stated the change of a goal; readers compare it.
fn goal_state(change: &Object, is_clear: bool) -> Option<String> {
    const KEPT: &[&str] = &["goal", "roundsStarted", "createdAt", "updatedAt"];
    const CLEARED: &[&str] = &["cleared", "clearedAt"];
    let members = if is_clear { CLEARED } else { KEPT }.iter();
    let members: Option<Vec<String>> = members
        .map(|name| change.get(name).map(|value| format!("\"{name}\":{}", json::stringify(value))))
        .collect();
    Some(format!("<goal_state>{{{}}}</goal_state>", members?.join(",")))
}
