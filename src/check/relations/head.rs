//! The system prompt stands first, or nowhere (FORMAT §7.2).

use super::here::Here;
use super::kind::Kind;
use crate::check::registry::rule_family;

rule_family! {
    "relations";
    /// A system message comes after others, and the surface did not begin with one.
    ///
    /// **What it means.** In formats 3 and 4 the system prompt is the first message of the log, and later
    /// system messages need one at the head. The first message here is of another kind, which the finding
    /// names; that alone is legal, for there need not be a prompt. A `system/message` after it is not.
    ///
    /// **Why it matters.** Which prompt holds would not be clear, as the protected place is taken. Format 4
    /// refuses the log, and so does the upgrade to it: logs of format 3 were stopped by this when format 4
    /// came.
    ///
    /// **How it comes about.** Context was injected before the first step, and the prompt, which dsh writes
    /// inside the step, came behind it. Or a tool appends a new prompt to a session that had none.
    ///
    /// **What to do.** In format 3 the session can be worked with as it is, so do not upgrade it before a dsh
    /// takes such logs. A tool that changes a prompt replaces the head by a `system/message`, where there is
    /// a head.
    HEAD_MISSING = error("system-head-missing");
}

/// How the surface began. Once it has a head it keeps one: a head is replaced by a system message alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Head {
    #[default]
    NoMessage,
    /// With a system message.
    System,
    /// With another message, the event of this seq.
    Other(u64),
    /// It is not known, or has been told.
    Unknown,
}

impl Head {
    /// Events were lost, among them perhaps the first message.
    pub(super) fn doubt(&mut self) {
        if *self == Self::NoMessage {
            *self = Self::Unknown;
        }
    }

    pub(super) fn event(&mut self, kind: Kind, here: &mut Here) {
        let is_system = match kind {
            Kind::SystemMessage => true,
            Kind::UserMessage | Kind::DeveloperMessage | Kind::AssistantMessage | Kind::ToolResult => false,
            _ => return,
        };
        match self {
            Self::NoMessage if is_system => *self = Self::System,
            Self::NoMessage => *self = Self::Other(here.event.seq),
            Self::Other(first) if is_system => {
                let message =
                    "a system message must be the first message of a log or follow one that is".to_owned();
                here.tell_relating(&HEAD_MISSING, message, *first, "the first message");
                *self = Self::Unknown;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{STEP, TURN, codes, found, header, judge, lines};

    const OPEN: [(&str, &str); 2] = [("turn/start", TURN), ("step/start", STEP)];
    const SYSTEM: (&str, &str) = ("system/message", STEP);
    const USER: (&str, &str) = ("user/message", "{}");

    #[test]
    fn a_system_message_needs_one_at_the_head() {
        assert_eq!(found(&[&OPEN[..], &[SYSTEM, USER, SYSTEM]].concat()), [""; 0]);
        assert_eq!(found(&[&OPEN[..], &[USER, USER]].concat()), [""; 0]);
        let late = [&OPEN[..], &[USER, SYSTEM, SYSTEM]].concat();
        assert_eq!(found(&late), ["system-head-missing@3"]);
        let mut lost = lines(&late);
        lost[1] = "{".to_owned();
        assert_eq!(codes(&judge(&header(4), &lost)), [""; 0], "the first message may have been lost");
    }
}
