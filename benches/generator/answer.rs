//! What the model says: streamed, then whole (FORMAT §5, §6.2).

use super::prose::Text;
use super::session::{APPEND, ARGUMENTS, ARGUMENTS_UNITS, Call, MODEL, Session, text_tokens};
use super::stream::{self, Kind, Part};
use dshc::format::Stream;
use std::io::{self, Write};

impl<W: Write> Session<'_, W> {
    /// What the model streamed, and the message that it makes up.
    pub(super) fn assistant(&mut self, calls: &[Call]) -> io::Result<()> {
        let pieces = self.dice.within(self.figures.reasoning);
        let reasoning = (self.dice.chance(self.figures.reasoning_percent))
            .then(|| self.prose.say(pieces, &mut self.dice));
        let pieces = self.dice.within(self.figures.answer).max(u64::from(calls.is_empty()));
        let answer = (pieces > 0).then(|| self.prose.say(pieces, &mut self.dice));

        let mut parts = Vec::new();
        let mut content = Vec::new();
        let mut host_tokens = 4;
        let texts = reasoning
            .iter()
            .map(|text| (Kind::Reasoning, "reasoning", text))
            .chain(answer.iter().map(|text| (Kind::Text, "text", text)));
        for (kind, name, text) in texts {
            let block = format!(r#"{{"type":"{name}","text":"{}"}}"#, text.json);
            push_block(&mut parts, &mut content, name, &block, kind, text, ["", ""]);
            host_tokens += text_tokens(text.units);
        }
        for call in calls {
            let block = format!(
                r#"{{"type":"tool-call","id":"{}","name":"{}","arguments":"{}{}{}"}}"#,
                call.id, call.tool, ARGUMENTS[0], call.command.json, ARGUMENTS[1]
            );
            let kind = Kind::Call { id: &call.id, name: call.tool };
            push_block(&mut parts, &mut content, "tool-call", &block, kind, &call.command, ARGUMENTS);
            host_tokens +=
                (call.tool.len() as u64).div_ceil(4) + (call.command.units + ARGUMENTS_UNITS).div_ceil(4) + 4;
        }
        let output: u64 = host_tokens;
        let usage = format!(r#"{{"inputTokens":{},"outputTokens":{output}}}"#, self.host_tokens());
        parts.push(Part::Chunk(format!(r#"{{"type":"usage","usage":{usage}}}"#)));
        let reason = if calls.is_empty() { "stop" } else { "tool-calls" };
        parts.push(Part::Chunk(format!(r#"{{"type":"finish","reason":{{"kind":"{reason}"}}}}"#)));

        let first = self.seq;
        let mut embedded = Vec::new();
        for part in &parts {
            match self.format().stream {
                Stream::Rows => self.streamed(part)?,
                Stream::Embedded => self.embed(part, &mut embedded)?,
            }
        }
        let sources = first..self.seq;

        self.begin_event("assistant/message")?;
        self.place()?;
        self.line.extend_from_slice(br#","message":{"role":"assistant","content":["#);
        self.line.extend_from_slice(&content);
        write!(self.line, r#"],"source":{{"kind":"model",{MODEL}}},"id":""#)?;
        self.id()?;
        write!(self.line, r#""}},"usage":{usage}"#)?;
        if self.format().stream == Stream::Embedded {
            self.line.extend_from_slice(br#","stream":["#);
            self.line.extend_from_slice(&embedded);
            self.line.push(b']');
        }
        self.line.push(b'}');
        self.node(host_tokens);
        if !self.format().assistant_cites_chunks {
            return self.end_event(APPEND);
        }
        // The readers of the first release take no ranges.
        self.sources(sources)?;
        self.end_event(APPEND)
    }

    /// A part of a stream as events and rows of their own.
    fn streamed(&mut self, part: &Part) -> io::Result<()> {
        match part {
            Part::Chunk(chunk) => {
                self.begin_event("assistant/chunk")?;
                self.place()?;
                write!(self.line, r#","chunk":{chunk}}}"#)?;
                self.end_event("")
            }
            &Part::Deltas { kind, index, text, around } if self.figures.packs && text.ends.len() >= 3 => {
                let times = stream::times(text.ends.len(), &mut self.dice);
                self.time += self.dice.within([1, 30]);
                self.line.clear();
                write!(
                    self.line,
                    r#"{{"type":"{}","seq0":{},"time0":{},"data":"#,
                    kind.row(),
                    self.seq,
                    self.time
                )?;
                self.place()?;
                write!(self.line, r#","index":{index},"#)?;
                stream::row_members(&mut self.line, kind, text, around, &times, false)?;
                self.line.extend_from_slice(b"}}\n");
                self.seq += text.ends.len() as u64;
                self.time += times.iter().sum::<u64>();
                self.file.line(&self.line)
            }
            &Part::Deltas { kind, index, text, around } => {
                for parts in stream::pieces(text, around) {
                    self.begin_event("assistant/chunk")?;
                    self.place()?;
                    self.line.extend_from_slice(br#","chunk":"#);
                    stream::delta(&mut self.line, kind, index, parts)?;
                    self.line.push(b'}');
                    self.end_event("")?;
                }
                Ok(())
            }
        }
    }

    /// A part of a stream as a member of its message.
    fn embed(&mut self, part: &Part, out: &mut Vec<u8>) -> io::Result<()> {
        if !out.is_empty() {
            out.push(b',');
        }
        self.time += self.dice.within([1, 30]);
        match part {
            Part::Chunk(chunk) => write!(out, r#"{{"type":"chunk","time":{},"chunk":{chunk}}}"#, self.time),
            &Part::Deltas { kind, index, text, around } => {
                let times = stream::times(text.ends.len(), &mut self.dice);
                write!(out, r#"{{"type":"{}","time0":{},"index":{index},"#, kind.row(), self.time)?;
                stream::row_members(out, kind, text, around, &times, true)?;
                out.push(b'}');
                self.time += times.iter().sum::<u64>();
                Ok(())
            }
        }
    }
}

/// Adds a block to a message, and to its stream: the start, the deltas, the end.
fn push_block<'a>(
    parts: &mut Vec<Part<'a>>,
    content: &mut Vec<u8>,
    name: &str,
    block: &str,
    kind: Kind<'a>,
    text: &'a Text,
    around: [&'a str; 2],
) {
    let index = (parts.len() / 3) as u64;
    if !content.is_empty() {
        content.push(b',');
    }
    content.extend_from_slice(block.as_bytes());
    parts.push(Part::Chunk(format!(r#"{{"type":"block-start","index":{index},"blockType":"{name}"}}"#)));
    parts.push(Part::Deltas { kind, index, text, around });
    parts.push(Part::Chunk(format!(r#"{{"type":"block-end","index":{index},"block":{block}}}"#)));
}
