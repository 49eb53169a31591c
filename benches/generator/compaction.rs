//! Compactions, which keep a surface small (FORMAT §7.4).

use super::prose::Text;
use super::session::{MODEL, Session, list, text_tokens};
use dshc::summarize::SECTIONS;
use std::io::{self, Write};

const PREAMBLE: &str = "What stood here before was replaced by this summary.\\n\\n<compacted-summary>";
/// Line ends count one each.
const PREAMBLE_UNITS: u64 = PREAMBLE.len() as u64 - 2;

impl<W: Write> Session<'_, W> {
    /// A compaction of all nodes between the task and this turn, inside it, as dsh does under pressure (FORMAT §7.4);
    /// dsh would take the task too, of which `dshc verify` warns.
    pub(super) fn compact(&mut self, first_kept: usize) -> io::Result<()> {
        let kept = self.nodes.split_off(first_kept);
        let shadowed = self.nodes.split_off(self.nodes.len().min(1));
        let (Some(first), Some(last)) = (shadowed.first().copied(), shadowed.last().copied()) else {
            self.nodes.extend(kept);
            return Ok(());
        };
        let seqs: Vec<u64> = shadowed.iter().map(|node| node.seq).collect();
        let host_tokens: u64 = shadowed.iter().map(|node| node.host_tokens).sum();
        let id = format!("{:016x}", self.dice.roll());
        let summary = self.summary();

        let start = self.bracket("compaction/start", &id)?;
        self.begin_event("compaction/summary")?;
        write!(
            self.line,
            r#"{{"compactionId":"{id}","summary":[{{"type":"text","text":"{}"}}],"#,
            summary.json
        )?;
        write!(
            self.line,
            r#""shadowedRange":{{"start":{},"end":{}}},"shadowedSeqs":["#,
            first.seq, last.seq
        )?;
        list(&mut self.line, seqs.iter().copied())?;
        write!(self.line, r#"],"shadowedTokenCount":{host_tokens},{MODEL}}}"#)?;
        self.end_event("")?;

        self.begin_event("user/message")?;
        write!(
            self.line,
            r#"{{"content":[{{"type":"text","text":"{PREAMBLE}"}},{{"type":"text","text":"{}"}},{{"type":"text","text":"</compacted-summary>"}}],"source":{{"#,
            summary.json
        )?;
        for (name, value) in self.format().checkpoint_source {
            write!(self.line, r#""{name}":"{value}","#)?;
        }
        write!(self.line, r#""compactionId":"{id}"}},"role":"user","id":""#)?;
        self.id()?;
        self.line.extend_from_slice(b"\"}");
        let blocks = [PREAMBLE_UNITS, summary.units, "</compacted-summary>".len() as u64];
        self.node(blocks.into_iter().map(text_tokens).sum::<u64>() + 4);
        self.sources([start, start + 1].into_iter().chain(seqs))?;
        let [from, to] = self.format().replace_members;
        self.end_event(&format!(
            r#","surfaceOp":{{"op":"replace","{from}":{},"{to}":{}}}"#,
            first.seq, last.seq
        ))?;
        self.nodes.extend(kept);
        self.bracket("compaction/end", &id)?;
        Ok(())
    }

    /// A summary under the headings that dsh asks models for.
    fn summary(&mut self) -> Text {
        let mut whole = Text::default();
        for heading in SECTIONS {
            let text = self.prose.say(12, &mut self.dice);
            whole.json.push_str("## ");
            whole.json.push_str(heading);
            whole.json.push_str("\\n- ");
            whole.json.push_str(&text.json);
            whole.json.push_str("\\n\\n");
            whole.units += heading.len() as u64 + text.units + 8;
        }
        whole
    }

    fn bracket(&mut self, kind: &str, id: &str) -> io::Result<u64> {
        let seq = self.seq;
        self.begin_event(kind)?;
        write!(self.line, r#"{{"compactionId":"{id}","turn":{}}}"#, self.turn)?;
        self.end_event("")?;
        Ok(seq)
    }
}
