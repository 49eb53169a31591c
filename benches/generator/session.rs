//! One session, turn by turn, in the order in which dsh writes its events (FORMAT §6.2).

use super::dice::Dice;
use super::file::LogFile;
use super::prose::{Prose, Text};
use super::shape::Proportions;
use super::stream::{self, Kind, Part};
use super::{Goal, Plan, Surface};
use dshc::format::{Format, Seeded, Stream, SystemPrompt, ToolResult};
use std::io::{self, Write};

const MODEL: &str = r#""provider":"deepseek-official","model":"deepseek-v4-flash""#;
const TOOLS: [(&str, &str); 3] = [
    ("bash", "Run a command in the sandbox."),
    ("read", "Show lines of a file."),
    ("edit", "Replace a passage of a file."),
];
/// A surface is compacted from this many host tokens on, as dsh does when its window fills.
const COMPACTS_AT: u64 = 40_000;

/// A node of the surface.
#[derive(Clone, Copy)]
struct Node {
    seq: u64,
    host_tokens: u64,
}

/// Writes a session.
pub struct Session<'p, W: Write> {
    file: LogFile<W>,
    plan: &'p Plan,
    figures: Proportions,
    dice: Dice,
    prose: Prose,
    line: Vec<u8>,
    seq: u64,
    time: u64,
    turn: u64,
    step: u64,
    nodes: Vec<Node>,
}

/// A tool call that the model asked for.
struct Call {
    id: String,
    tool: &'static str,
    command: Text,
}

const ARGUMENTS: [&str; 2] = ["{\\\"command\\\":\\\"", "\\\"}"];
/// What [`ARGUMENTS`] stand for, in UTF-16 code units.
const ARGUMENTS_UNITS: u64 = 14;

impl<'p, W: Write> Session<'p, W> {
    /// Begins the log of session `id`, which worked in `cwd`.
    pub fn begin(out: W, plan: &'p Plan, id: &str, cwd: &str) -> io::Result<Self> {
        let mut dice = Dice::new(plan.seed);
        let figures = plan.shape.proportions();
        let prose = Prose::new(figures.tongue, &mut dice);
        let time = 1_790_000_000_000 + dice.within([0, 5_000_000_000]);
        let seeded = if plan.format.header.seeded == Seeded::Flag { r#""isSeeded":false,"# } else { "" };
        let header = format!(
            "{{\"type\":\"session\",\"version\":{},\"id\":\"{id}\",\"createdAt\":{time},\"cwd\":\"{cwd}\",{seeded}\"delegationDepth\":0}}\n",
            plan.format.version
        );
        let file = LogFile::begin(out, plan.packing, header.as_bytes())?;
        Ok(Self {
            file,
            plan,
            figures,
            dice,
            prose,
            line: Vec::new(),
            seq: 0,
            time,
            turn: 0,
            step: 0,
            nodes: Vec::new(),
        })
    }

    /// Writes turns until the goal is reached. Returns the bytes of text and what it was written to.
    pub fn run(mut self) -> io::Result<(u64, W)> {
        loop {
            self.turn()?;
            let reached = match self.plan.goal {
                Goal::Bytes(bytes) => self.file.text_bytes >= bytes,
                Goal::Events(events) => self.seq >= events,
                Goal::Record(_) => self.turn > 3,
            };
            if reached {
                return self.file.finish();
            }
        }
    }

    fn format(&self) -> &'static Format {
        self.plan.format
    }

    fn turn(&mut self) -> io::Result<()> {
        self.turn += 1;
        self.step = 0;
        let first_node = self.nodes.len();
        self.begin_event("turn/start")?;
        write!(self.line, r#"{{"turn":{}}}"#, self.turn)?;
        self.end_event("")?;
        let steps = self.dice.within(self.figures.steps);
        for step in 1..=steps {
            self.step(step == steps)?;
        }
        if self.plan.surface == Surface::Small && self.host_tokens() >= COMPACTS_AT {
            self.compact(first_node)?;
        }
        self.begin_event("turn/end")?;
        write!(self.line, r#"{{"turn":{},"reason":{{"kind":"completed"}}}}"#, self.turn)?;
        self.end_event("")?;
        self.file.end_batch()
    }

    fn step(&mut self, is_last: bool) -> io::Result<()> {
        self.step += 1;
        self.mark("step/start")?;
        if self.step == 1 {
            let is_first = self.turn == 1;
            if is_first && self.format().system_prompt == SystemPrompt::HeadNode {
                self.system()?;
            }
            self.prompt()?;
            if is_first {
                self.request()?;
            }
        }
        let calls = if is_last { 0 } else { self.dice.within(self.figures.calls) };
        let calls: Vec<Call> = (0..calls).map(|_| self.call()).collect();
        self.assistant(&calls)?;
        let mut started = Vec::new();
        for call in &calls {
            started.push(self.seq);
            self.begin_event("tool/call")?;
            self.place()?;
            write!(self.line, r#","callId":"{}","name":"{}","arguments":""#, call.id, call.tool)?;
            self.arguments(call);
            self.line.extend_from_slice(b"\"}");
            self.end_event("")?;
        }
        for (call, started) in calls.iter().zip(started) {
            self.result(call, started)?;
        }
        self.mark("step/end")
    }

    /// An event that holds nothing but its place.
    fn mark(&mut self, kind: &str) -> io::Result<()> {
        self.begin_event(kind)?;
        self.place()?;
        self.line.push(b'}');
        self.end_event("")
    }

    fn system(&mut self) -> io::Result<()> {
        let text = self.prose.say(40, &mut self.dice);
        self.begin_event("system/message")?;
        self.place()?;
        self.line.extend_from_slice(br#","message":{"role":"system","content":[{"type":"text","text":""#);
        self.line.extend_from_slice(text.json.as_bytes());
        let source = if self.has_plugin_sources() {
            r#""kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt""#
        } else {
            r#""kind":"system-prompt""#
        };
        write!(self.line, r#""}}],"source":{{{source}}},"id":""#)?;
        self.id()?;
        self.line.extend_from_slice(b"\"}}");
        // The head is never shadowed: it is no node that a compaction may take.
        self.end_event(APPEND)
    }

    fn prompt(&mut self) -> io::Result<()> {
        let pieces = self.dice.within(self.figures.prompt);
        let text = self.prose.say(pieces, &mut self.dice);
        self.begin_event("user/message")?;
        self.line.extend_from_slice(br#"{"content":[{"type":"text","text":""#);
        self.line.extend_from_slice(text.json.as_bytes());
        self.line.extend_from_slice(br#""}],"source":{"kind":"user"},"role":"user","id":""#);
        self.id()?;
        self.line.extend_from_slice(b"\"}");
        self.node(text_tokens(text.units) + 4);
        self.end_event(APPEND)
    }

    fn request(&mut self) -> io::Result<()> {
        let system = self.prose.say(40, &mut self.dice);
        self.begin_event("request/header")?;
        write!(self.line, r#"{{"header":{{"config":{{{MODEL}}},"#)?;
        if self.format().system_prompt == SystemPrompt::RequestHeader {
            write!(self.line, r#""system":"{}","#, system.json)?;
        }
        self.line.extend_from_slice(br#""tools":["#);
        for (place, (name, description)) in TOOLS.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(
                self.line,
                r#"{comma}{{"name":"{name}","description":"{description}","parameters":{{"type":"object","properties":{{"command":{{"type":"string"}}}}}}}}"#
            )?;
        }
        self.line.extend_from_slice(br#"]},"reason":"initial"}"#);
        self.end_event("")?;
        self.begin_event("request/context")?;
        write!(self.line, r#"{{{MODEL},"contextWindow":131072}}"#)?;
        self.end_event("")
    }

    fn call(&mut self) -> Call {
        let (tool, _) = TOOLS.get(self.dice.favoured(TOOLS.len())).copied().unwrap_or(TOOLS[0]);
        Call {
            id: format!("call_{:012x}", self.dice.roll() >> 16),
            tool,
            command: self.prose.command(&mut self.dice),
        }
    }

    /// What the model streamed, and the message that it makes up.
    fn assistant(&mut self, calls: &[Call]) -> io::Result<()> {
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
            push_block(&mut parts, &mut content, name, block, kind, text, ["", ""]);
            host_tokens += text_tokens(text.units);
        }
        for call in calls {
            let block = format!(
                r#"{{"type":"tool-call","id":"{}","name":"{}","arguments":"{}{}{}"}}"#,
                call.id, call.tool, ARGUMENTS[0], call.command.json, ARGUMENTS[1]
            );
            let kind = Kind::Call { id: &call.id, name: call.tool };
            push_block(&mut parts, &mut content, "tool-call", block, kind, &call.command, ARGUMENTS);
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

    fn result(&mut self, call: &Call, started: u64) -> io::Result<()> {
        let bytes = match self.plan.goal {
            Goal::Record(bytes) if self.turn == 2 && self.step == 1 => {
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
            _ => {
                let is_bulky = self.dice.chance(self.figures.bulky_percent);
                let size = if is_bulky { self.figures.bulky } else { self.figures.result };
                usize::try_from(self.dice.within(size)).unwrap_or(usize::MAX)
            }
        };
        let text = self.prose.output(bytes, &mut self.dice);
        let role = self.format().surface_type("tool/result").map_or("user", |surface| surface.role);
        let is_wrapped = self.format().tool_result == ToolResult::Wrapped;
        self.time += self.dice.within([10, 9_000]);
        self.begin_event("tool/result")?;
        self.place()?;
        write!(
            self.line,
            r#","message":{{"role":"{role}","source":{{"kind":"tool","callId":"{}"}},"#,
            call.id
        )?;
        if is_wrapped {
            write!(self.line, r#""content":[{{"type":"tool-result","toolCallId":"{}","content":["#, call.id)?;
        } else {
            write!(self.line, r#""toolCallId":"{}","content":["#, call.id)?;
        }
        self.line.extend_from_slice(br#"{"type":"text","text":""#);
        self.line.extend_from_slice(text.json.as_bytes());
        self.line.extend_from_slice(if is_wrapped {
            br#""}],"isError":false}],"id":""#
        } else {
            br#""}],"isError":false,"id":""#
        });
        self.id()?;
        self.line.extend_from_slice(b"\"}}");
        let wrapper = if is_wrapped { 4 } else { 0 };
        self.node(text_tokens(text.units) + wrapper + 4);
        self.sources([started])?;
        self.end_event(APPEND)
    }

    /// A compaction of all nodes between the task and this turn, inside it, as dsh does under pressure (FORMAT §7.4);
    /// dsh would take the task too, of which `dshc verify` warns.
    fn compact(&mut self, first_kept: usize) -> io::Result<()> {
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
        for heading in HEADINGS {
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

    /// Whether messages may come from a plugin that is not named as a kind of its own.
    fn has_plugin_sources(&self) -> bool {
        !self.format().refused_source_kinds.contains(&"plugin")
    }

    fn host_tokens(&self) -> u64 {
        self.nodes.iter().map(|node| node.host_tokens).sum()
    }

    /// Notes that the event being written is a node.
    fn node(&mut self, host_tokens: u64) {
        self.nodes.push(Node { seq: self.seq, host_tokens });
    }

    fn begin_event(&mut self, kind: &str) -> io::Result<()> {
        self.time += self.dice.roll() % 8;
        self.line.clear();
        write!(self.line, r#"{{"type":"{kind}","seq":{},"time":{},"data":"#, self.seq, self.time)
    }

    /// Ends an event with what stands behind its payload.
    fn end_event(&mut self, markers: &str) -> io::Result<()> {
        self.line.extend_from_slice(markers.as_bytes());
        self.line.extend_from_slice(b"}\n");
        self.seq += 1;
        self.file.line(&self.line)
    }

    /// Opens a payload with its turn and step.
    fn place(&mut self) -> io::Result<()> {
        write!(self.line, r#"{{"turn":{},"step":{}"#, self.turn, self.step)
    }

    fn arguments(&mut self, call: &Call) {
        for part in [ARGUMENTS[0], &call.command.json, ARGUMENTS[1]] {
            self.line.extend_from_slice(part.as_bytes());
        }
    }

    fn sources(&mut self, seqs: impl IntoIterator<Item = u64>) -> io::Result<()> {
        self.line.extend_from_slice(br#","sourceEventSeqs":["#);
        list(&mut self.line, seqs)?;
        self.line.push(b']');
        Ok(())
    }

    /// An id as dsh makes them.
    fn id(&mut self) -> io::Result<()> {
        let (one, other) = (self.dice.roll(), self.dice.roll());
        write!(
            self.line,
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            one >> 32,
            one & 0xffff,
            other >> 52,
            (one >> 16) & 0xfff,
            other & 0xffff_ffff_ffff
        )
    }
}

const APPEND: &str = r#","surfaceOp":"append""#;
const PREAMBLE: &str = "What stood here before was replaced by this summary.\\n\\n<compacted-summary>";
/// Line ends count one each.
const PREAMBLE_UNITS: u64 = PREAMBLE.len() as u64 - 2;
const HEADINGS: [&str; 8] = [
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Files and Code",
    "Errors and Fixes",
    "Pending Jobs",
    "Current Work",
    "Next Step",
    "Critical Context",
];

/// The price of a block of text (FORMAT §7.5).
fn text_tokens(units: u64) -> u64 {
    units.div_ceil(4) + 4
}

fn list(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) -> io::Result<()> {
    for (place, number) in numbers.into_iter().enumerate() {
        write!(out, "{}{number}", if place == 0 { "" } else { "," })?;
    }
    Ok(())
}

/// Adds a block to a message, and to its stream: the start, the deltas, the end.
fn push_block<'a>(
    parts: &mut Vec<Part<'a>>,
    content: &mut Vec<u8>,
    name: &str,
    block: String,
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
