//! Texts whose price dsh's estimate gets wrong by their script (FORMAT §7.5).
//!
//! Four UTF-16 units are one host token, whatever they are. Of Chinese, Japanese and Korean text a real tokenizer makes
//! about one token a character. The estimate here is the host tokens, with each such character counted as one token; no
//! vocabulary is loaded.

use super::Finding;
use super::here::Here;
use super::registry::rule_family;
use super::wording::{amount, seqs};
use crate::log::Place;
use std::collections::BTreeMap;

rule_family! {
    "tokens";
    /// Messages cost more than twice their host tokens, since they hold Chinese, Japanese or Korean text.
    ///
    /// **What it means.** The messages that are named are on the surface. With each CJK character counted as one token,
    /// and all else as dsh counts it, they come to more than twice their host tokens. That is an estimate by script; no
    /// tokenizer was loaded.
    ///
    /// **Why it matters.** dsh compacts when its own figure comes near the window. Where that figure is too low by a half
    /// or more, the model's window may be full before dsh sees any pressure, and the provider refuses the request.
    ///
    /// **How it comes about.** dsh takes four UTF-16 units for a token. That fits English and code; a CJK character is
    /// one unit, and about one token.
    ///
    /// **What to do.** Nothing is wrong with the log. Compact earlier than the figures ask for: `dshc compact` with
    /// `--tokenizer` counts exactly, and `dshc replay --tokenizer` shows both counts.
    ESTIMATE_LOW_FOR_CJK = note("estimate-low-for-cjk");
}

/// How many times the host tokens an estimate must exceed.
const TIMES: u64 = 2;

/// The messages of the surface that are priced too low.
#[derive(Debug, Default)]
pub(super) struct Script(BTreeMap<u64, Low>);

#[derive(Debug)]
struct Low {
    place: Place,
    host_tokens: u64,
    by_script: u64,
}

impl Script {
    /// Looks at an event that the session has just taken.
    pub(super) fn event(&mut self, here: &Here) {
        let Some(node) = here.node else { return };
        for seq in &node.replaces {
            self.0.remove(seq);
        }
        // Each such character costs up to three quarters of a token, and is of three bytes or more.
        let Some(content) = content(here).filter(|content| !content.is_ascii()) else { return };
        let bytes = content.bytes().filter(|byte| !byte.is_ascii()).count() as u64;
        if bytes / 4 <= node.host_tokens {
            return;
        }
        let quarters = quarters(content);
        let by_script = node.host_tokens.saturating_add(quarters / 4);
        if by_script > node.host_tokens.saturating_mul(TIMES) {
            let low = Low { place: here.place, host_tokens: node.host_tokens, by_script };
            self.0.insert(node.seq, low);
        }
    }

    /// One note for all of them, at the first.
    pub(super) fn finding(&self) -> Option<Finding> {
        let (seq, first) = self.0.first_key_value()?;
        let all: Vec<u64> = self.0.keys().copied().collect();
        let sum = |figure: fn(&Low) -> u64| self.0.values().map(figure).fold(0, u64::saturating_add);
        let message = format!(
            "{} with CJK text ({}): {} host tokens, but about {} where each CJK character counts as one token",
            amount(all.len() as u64, "message"),
            seqs(&all),
            sum(|low| low.host_tokens),
            sum(|low| low.by_script)
        );
        let help =
            "nothing is wrong with the log; dsh sees pressure later than the model does, so compact earlier";
        Some(Finding::new(&ESTIMATE_LOW_FOR_CJK, first.place, message).at_seq(*seq).with_help(help))
    }
}

/// The content of the event's message, as JSON. A stream beside it holds the same texts once more.
fn content<'e>(here: &Here<'_, 'e>) -> Option<&'e str> {
    let data = here.payload.get()?;
    let message = data.object("message");
    Some(message.as_ref().unwrap_or(data).get("content")?.get())
}

/// How many quarters of a token the CJK characters of a JSON text cost beyond what their UTF-16 units are priced at.
fn quarters(text: &str) -> u64 {
    let cjk = text.chars().filter(|c| is_cjk(*c));
    cjk.map(|c| 4_u64.saturating_sub(c.len_utf16() as u64)).sum()
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_events, codes, only, user};
    use super::super::{Checked, Severity};

    fn checked(text: &str) -> Checked {
        check_events(&[user(0, text), user(1, "plain")])
    }

    #[test]
    fn cjk_that_is_priced_too_low_is_noted_once() {
        let finding = only(checked(&"会".repeat(40)));
        assert_eq!(
            (finding.code, finding.severity, finding.seq),
            ("estimate-low-for-cjk", Severity::Note, Some(0))
        );
        // 10 and 8 on top; 30 more by script.
        assert_eq!(
            finding.message,
            "1 message with CJK text (0): 18 host tokens, but about 48 where each CJK character counts as one token"
        );
        let both = check_events(&[user(0, &"한".repeat(40)), user(1, &"か".repeat(40))]);
        assert!(only(both).message.starts_with("2 messages with CJK text (0, 1): 36 host tokens"));
        for plain in ["会话", &format!("{}{}", "会话", "a".repeat(400)), "naïve façade 🦀🦀🦀🦀🦀🦀🦀🦀"]
        {
            assert_eq!(codes(&checked(plain)), [""; 0], "{plain}");
        }
    }

    #[test]
    fn what_is_hidden_is_not_counted() {
        let log = [
            vec![user(0, &"会".repeat(40)), user(1, "x")],
            super::super::testing::bracket(2, "c", "null", 0),
        ]
        .concat();
        assert!(!codes(&check_events(&log)).contains(&"estimate-low-for-cjk"));
    }
}
