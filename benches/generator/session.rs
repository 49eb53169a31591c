//! One session, turn by turn, in the order in which dsh writes its events (FORMAT §6.2).

use super::dice::Dice;
use super::file::LogFile;
use super::prose::{Prose, Text};
use super::shape::Proportions;
use super::{Goal, Plan, Surface};
use dshc::format::{Format, Seeded, SystemPrompt, ToolResult};
use std::io::{self, Write};

pub const MODEL: &str = r#""provider":"deepseek-official","model":"deepseek-v4-flash""#;
const TOOLS: [(&str, &str); 3] = [
    ("bash", "Run a command in the sandbox."),
    ("read", "Show lines of a file."),
    ("edit", "Replace a passage of a file."),
];
/// A surface is compacted from this many host tokens on, as dsh does when its window fills.
const COMPACTS_AT: u64 = 40_000;

/// A node of the surface.
#[derive(Clone, Copy)]
pub struct Node {
    pub seq: u64,
    pub host_tokens: u64,
}

/// Writes a session.
pub struct Session<'p, W: Write> {
    pub(super) file: LogFile<W>,
    pub(super) plan: &'p Plan,
    pub(super) figures: Proportions,
    pub(super) dice: Dice,
    pub(super) prose: Prose,
    pub(super) line: Vec<u8>,
    pub(super) seq: u64,
    pub(super) time: u64,
    pub(super) turn: u64,
    step: u64,
    pub(super) nodes: Vec<Node>,
}

/// A tool call that the model asked for.
pub struct Call {
    pub id: String,
    pub tool: &'static str,
    pub command: Text,
}

pub const ARGUMENTS: [&str; 2] = ["{\\\"command\\\":\\\"", "\\\"}"];
/// What [`ARGUMENTS`] stand for, in UTF-16 code units.
pub const ARGUMENTS_UNITS: u64 = 14;

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

    pub(super) fn format(&self) -> &'static Format {
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

    /// Whether messages may come from a plugin that is not named as a kind of its own.
    fn has_plugin_sources(&self) -> bool {
        !self.format().refused_source_kinds.contains(&"plugin")
    }

    pub(super) fn host_tokens(&self) -> u64 {
        self.nodes.iter().map(|node| node.host_tokens).sum()
    }

    /// Notes that the event being written is a node.
    pub(super) fn node(&mut self, host_tokens: u64) {
        self.nodes.push(Node { seq: self.seq, host_tokens });
    }

    pub(super) fn begin_event(&mut self, kind: &str) -> io::Result<()> {
        self.time += self.dice.roll() % 8;
        self.line.clear();
        write!(self.line, r#"{{"type":"{kind}","seq":{},"time":{},"data":"#, self.seq, self.time)
    }

    /// Ends an event with what stands behind its payload.
    pub(super) fn end_event(&mut self, markers: &str) -> io::Result<()> {
        self.line.extend_from_slice(markers.as_bytes());
        self.line.extend_from_slice(b"}\n");
        self.seq += 1;
        self.file.line(&self.line)
    }

    /// Opens a payload with its turn and step.
    pub(super) fn place(&mut self) -> io::Result<()> {
        write!(self.line, r#"{{"turn":{},"step":{}"#, self.turn, self.step)
    }

    fn arguments(&mut self, call: &Call) {
        for part in [ARGUMENTS[0], &call.command.json, ARGUMENTS[1]] {
            self.line.extend_from_slice(part.as_bytes());
        }
    }

    pub(super) fn sources(&mut self, seqs: impl IntoIterator<Item = u64>) -> io::Result<()> {
        self.line.extend_from_slice(br#","sourceEventSeqs":["#);
        list(&mut self.line, seqs)?;
        self.line.push(b']');
        Ok(())
    }

    /// An id as dsh makes them.
    pub(super) fn id(&mut self) -> io::Result<()> {
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

pub const APPEND: &str = r#","surfaceOp":"append""#;
/// The price of a block of text (FORMAT §7.5).
pub fn text_tokens(units: u64) -> u64 {
    units.div_ceil(4) + 4
}

pub fn list(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) -> io::Result<()> {
    for (place, number) in numbers.into_iter().enumerate() {
        write!(out, "{}{number}", if place == 0 { "" } else { "," })?;
    }
    Ok(())
}
