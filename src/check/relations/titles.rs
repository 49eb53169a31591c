//! Titles: made from prompts of a human that came before them (FORMAT §6.2, §10.2).

use super::here::{Here, shown};
use crate::check::registry::rule_family;
use crate::check::wording::short_list;
use crate::json::{self, Object};
use std::collections::HashSet;

rule_family! {
    "relations";
    /// A title cites no prompt though no user gave it, or cites some though a user did, or nobody gave it.
    ///
    /// **What it means.** A `session/title` that a provider or a fallback made names in `messageSeqs` the
    /// prompts that it was made from; one that the user typed names none. This one has it the other way
    /// about.
    ///
    /// **Why it matters.** Format 4 refuses to open the whole session over it, though a title is only shown
    /// in lists. The formats before open the log and do not upgrade it.
    ///
    /// **How it comes about.** A plugin sets titles from the outside. It takes over the user's kind of source
    /// and adds the prompts, or the provider's kind without any.
    ///
    /// **What to do.** Write the source `user` with an empty list, or cite at least one prompt of a human.
    /// Titles can be given again later at any time, but the wrong event stays; for format 4 take a copy that
    /// ends before it.
    EMPTY = error("title-empty");
    /// A title, or the request for one, cites what is no earlier prompt of a human, or one prompt twice.
    ///
    /// **What it means.** Each member of `messageSeqs` must be the seq of an earlier `user/message` whose
    /// source kind is `user`, and each only once. Injected context, checkpoints and messages of subagents do
    /// not count. A prompt that was lost with a damaged line is not held against the title.
    ///
    /// **Why it matters.** The list tells what the title was made from, and upgrades of formats 0 and 1 build
    /// the text of the request anew from it. Format 4 refuses the log for a wrong one, and every upgrade does
    /// as well.
    ///
    /// **How it comes about.** A plugin cites all user messages of the surface, checkpoints too. Or it took
    /// the numbers from before an upgrade, which renumbers events.
    ///
    /// **What to do.** Filter by the source and not by the type. The citation in the log cannot be changed;
    /// the session goes on from a copy that ends before the title.
    SOURCES = error("title-sources");
    /// The request for a title is not one message with one text, made for the purpose.
    ///
    /// **What it means.** A `session/title-llm-request` holds exactly one message of role `user` with one
    /// text block, whose source is the title maker's: `dsh-session-title-llm`, as a plugin before format 4
    /// and as a kind of its own in it. It must cite at least one prompt. The text itself is not compared
    /// here.
    ///
    /// **Why it matters.** The event records what was sent to a model beside the conversation. Format 4
    /// refuses the log if it is of another shape, and upgrades refuse it too.
    ///
    /// **How it comes about.** A plugin that makes titles writes its own source or several messages. A log
    /// whose format was changed by hand has the source of the old one.
    ///
    /// **What to do.** A title maker of your own should write only the `session/title`, with the source kind
    /// `provider`, and no request. What stands in the log needs a copy that ends before it.
    REQUEST = error("title-request");
}

/// The prompts of humans so far, by seq.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// In rising order.
    human: Vec<u64>,
}

impl Titles {
    pub(super) fn message(&mut self, here: &Here) {
        if has(here.data, "source", &[("kind", "user")]) {
            self.human.push(here.event.seq);
        }
    }

    pub(super) fn title(&self, here: &mut Here) {
        let Some(cited) = self.cited(here) else { return };
        if here.data.object("source").is_none() {
            return here.tell(&EMPTY, "the title has no source".to_owned());
        }
        let is_by_user = has(here.data, "source", &[("kind", "user")]);
        if cited == 0 && !is_by_user {
            here.tell(&EMPTY, "the title cites no prompt, and its source is no user".to_owned());
        } else if cited > 0 && is_by_user {
            here.tell(&EMPTY, "the title cites prompts, though a user gave it".to_owned());
        }
    }

    pub(super) fn request(&self, here: &mut Here) {
        let Some(cited) = self.cited(here) else { return };
        let messages = here.data.array("messages");
        let is_sound = match messages.as_deref() {
            Some([one]) => {
                Object::of(*one).is_some_and(|message| is_request(&message, here.facts.title_source))
            }
            _ => false,
        };
        if cited == 0 {
            here.tell(&REQUEST, "the request for a title cites no prompt".to_owned());
        }
        if !is_sound {
            let message = "the request for a title must hold one message of role user, with one text block and the \
                           source of the title maker";
            here.tell(&REQUEST, message.to_owned());
        }
    }

    /// Checks what is cited. Gives the number of citations, none where there is no list.
    fn cited(&self, here: &mut Here) -> Option<usize> {
        let Some(cited) = here.data.array("messageSeqs") else {
            here.tell(&SOURCES, format!("{} has no list of messageSeqs", here.name()));
            return None;
        };
        let mut seen = HashSet::new();
        let mut wrong = Vec::new();
        for raw in &cited {
            let seq = json::count(*raw);
            let is_prompt = |seq: u64| self.human.binary_search(&seq).is_ok() || here.losses.contains(seq);
            if !seq.is_some_and(|seq| seq < here.event.seq && is_prompt(seq) && seen.insert(seq)) {
                wrong.push(shown(Some(*raw)));
            }
        }
        if !wrong.is_empty() {
            let message = format!(
                "{} cites what is no earlier prompt of a human, or cites it twice: {}",
                here.name(),
                short_list(wrong.iter())
            );
            here.tell(&SOURCES, message);
        }
        Some(cited.len())
    }
}

fn is_request(message: &Object, source: &[(&str, &str)]) -> bool {
    let content = message.array("content");
    let is_text = match content.as_deref() {
        Some([block]) => Object::of(*block).is_some_and(|block| block.has_text("type", "text")),
        _ => false,
    };
    is_text && message.has_text("role", "user") && has(message, "source", source)
}

/// Whether the member `key` is an object with these texts.
fn has(object: &Object, key: &str, members: &[(&str, &str)]) -> bool {
    object
        .object(key)
        .is_some_and(|object| members.iter().all(|(member, value)| object.has_text(member, value)))
}

#[cfg(test)]
mod tests {
    use crate::check::relations::testing::{codes, found, found_in, header, judge, lines};

    const HUMAN: (&str, &str) = ("user/message", r#"{"source":{"kind":"user"}}"#);
    const INJECTED: (&str, &str) = ("user/message", r#"{"source":{"kind":"webhook"}}"#);

    fn title(seqs: &str, kind: &str) -> String {
        format!(r#"{{"title":"t","messageSeqs":{seqs},"source":{{"kind":"{kind}"}}}}"#)
    }

    #[test]
    fn titles_cite_earlier_human_prompts() {
        for (seqs, kind, expected) in [
            ("[0,2]", "provider", vec![]),
            ("[]", "user", vec![]),
            ("[]", "fallback", vec!["title-empty@3"]),
            ("[0]", "user", vec!["title-empty@3"]),
            ("[1]", "provider", vec!["title-sources@3"]),
            ("[0,0]", "provider", vec!["title-sources@3"]),
            ("[3]", "provider", vec!["title-sources@3"]),
            ("[4]", "provider", vec!["title-sources@3"]),
            ("0", "provider", vec!["title-sources@3"]),
        ] {
            let title = title(seqs, kind);
            assert_eq!(
                found(&[HUMAN, INJECTED, HUMAN, ("session/title", &title), HUMAN]),
                expected,
                "{seqs} {kind}"
            );
        }
        let nowhere = r#"{"title":"t","messageSeqs":[],"source":"user"}"#;
        assert_eq!(found(&[("session/title", nowhere)]), ["title-empty@0"]);
        let mut log = lines(&[HUMAN, ("session/title", &title("[0]", "provider"))]);
        log[0] = "{".to_owned();
        assert_eq!(codes(&judge(&header(4), &log)), [""; 0], "the prompt may have been lost");
    }

    #[test]
    fn requests_hold_one_text_of_the_title_maker() {
        let v4 = r#"{"messageSeqs":[0],"messages":[{"role":"user","content":[{"type":"text","text":"x"}],"source":{"kind":"dsh-session-title-llm"}}]}"#;
        let v3 = v4.replace(r#""kind":"#, r#""kind":"plugin","plugin":"#);
        let request = |version, data: &str| found_in(version, &[HUMAN, ("session/title-llm-request", data)]);
        assert_eq!(request(4, v4), [""; 0]);
        assert_eq!(request(3, &v3), [""; 0]);
        assert_eq!(request(4, &v3), ["title-request@1"]);
        assert_eq!(request(4, &v4.replace("[0]", "[]")), ["title-request@1"]);
        assert_eq!(request(4, &v4.replace("\"role\":\"user\"", "\"role\":\"system\"")), ["title-request@1"]);
        assert_eq!(request(4, &v4.replace("[{\"type\"", "[{},{\"type\"")), ["title-request@1"]);
    }
}
