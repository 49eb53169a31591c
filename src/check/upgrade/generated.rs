//! Ids that the upgrade to format 3 makes for system prompts (FORMAT §8.3).

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::check::wording::quoted;
use crate::json::Object;

rule_family! {
    "upgrade";
    /// A message has an id of the kind that the upgrade makes for system prompts.
    ///
    /// **What it means.** The upgrade to format 3 gives each system prompt an id of its own: `v2-to-v3-system-` and a
    /// hash in 64 hexadecimal digits of the session and the place. A message of the log has such an id already. The hash
    /// is not worked out here: any id of that form is told.
    ///
    /// **Why it matters.** Two messages of one id cannot be told apart, so the upgrade refuses a session that holds one
    /// of the ids that it makes. dsh opens the log in its own format.
    ///
    /// **How it comes about.** Messages were copied by hand, or by a tool, from a log that had been upgraded into one
    /// that had not.
    ///
    /// **What to do.** Give the message an id of its own in a copy; nothing refers to it but edits of the queue and
    /// feedback.
    TAKEN = error("upgrade-id-taken");
}

/// What ids of system prompts begin with, and how many digits follow.
const PREFIX: &[u8] = b"v2-to-v3-system-";
const DIGITS: usize = 64;

/// The ids that the step makes.
#[derive(Debug)]
pub(super) struct Generated {
    to: u64,
}

impl Generated {
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        chain.first(|step| step.promotes_prompt).map(|to| Self { to })
    }

    pub(super) fn event(&self, here: &mut Here) {
        let Some(list) = carrier(&here.event.event_type) else { return };
        // Hardly any payload holds the text at all.
        if memchr::memmem::find(here.event.data.get().as_bytes(), PREFIX).is_none() {
            return;
        }
        let Some(data) = here.payload.get() else { return };
        let message = match list {
            Carrier::Payload => is_taken(data).then(|| data.text("id")).flatten(),
            Carrier::Message => {
                data.object("message").filter(is_taken).and_then(|message| message.text("id"))
            }
            Carrier::List(key) => {
                let messages = data.array(key).unwrap_or_default().into_iter();
                messages.filter_map(Object::of).find(is_taken).and_then(|message| message.text("id"))
            }
        };
        if let Some(id) = message {
            let what =
                format!("a message whose id is of the kind that it makes itself: {}", quoted(&id.to_str()));
            let help = "the message was copied from a log that had been upgraded; it needs an id of its own";
            here.refuse(&TAKEN, self.to, &what, help);
        }
    }
}

/// Where an event holds messages.
enum Carrier {
    Payload,
    Message,
    List(&'static str),
}

fn carrier(event_type: &str) -> Option<Carrier> {
    match event_type {
        "user/message" => Some(Carrier::Payload),
        "assistant/message" | "tool/result" => Some(Carrier::Message),
        "agent/inbox/spliced" => Some(Carrier::List("inserted")),
        "session/title-llm-request" => Some(Carrier::List("messages")),
        _ => None,
    }
}

fn is_taken(message: &Object) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    message.text("id").is_some_and(|id| {
        id.as_bytes()
            .strip_prefix(PREFIX)
            .is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(is_digit))
    })
}
