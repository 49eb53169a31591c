//! One change of an official log, or a few, and how they are made.

use super::members::{Edit, edits};
use super::numbering::{Numbering, renumber};
use crate::sandbox::decoded;
use dshc::log::append::zstd_frame;
use proptest::prelude::*;
use std::path::Path;
use zstd::zstd_safe;

/// The line of the header.
const HEADER: usize = 0;

/// A log and what is changed in it, in this order. Places are taken modulo what there is.
#[derive(Debug, Clone)]
pub struct Mutant {
    pub log: usize,
    pub lines: Vec<LineStep>,
    pub numbering: Numbering,
    /// The text is compressed anew, so many lines a frame; a compressed log is left as it is otherwise.
    pub lines_a_frame: Option<usize>,
    pub frames: Vec<FrameStep>,
    pub bytes: Vec<ByteStep>,
}

/// A change to the lines of the text, the header being the first.
#[derive(Debug, Clone)]
pub enum LineStep {
    /// So many lines from this one on.
    Drop(usize, usize),
    Repeat(usize, usize),
    Swap(usize, usize),
    Move(usize, usize),
    /// The line ends early.
    Cut(usize, usize),
    Blank(usize),
    Edit(usize, Edit),
}

/// A change to the frames of a compressed log.
#[derive(Debug, Clone)]
pub enum FrameStep {
    Drop(usize),
    Repeat(usize, usize),
    Swap(usize, usize),
    /// The frame ends so many bytes early.
    Cut(usize, usize),
    /// The last frame ends so many bytes early, as a torn one does.
    CutLast(usize),
    /// A frame that decoders skip.
    Skippable(usize),
}

/// A change to the bytes of the file.
#[derive(Debug, Clone)]
pub enum ByteStep {
    Cut(usize),
    Flip(usize, u8),
}

/// Mutants of so many logs.
pub fn mutants(logs: usize) -> impl Strategy<Value = Mutant> {
    let at = any::<usize>;
    let line = prop_oneof![
        2 => at().prop_map(|at| LineStep::Drop(at, 1)),
        1 => (at(), 2usize..12).prop_map(|(at, count)| LineStep::Drop(at, count)),
        1 => (at(), at()).prop_map(|(at, length)| LineStep::Cut(at, length)),
        1 => at().prop_map(LineStep::Blank),
        1 => (at(), at()).prop_map(|(from, to)| LineStep::Repeat(from, to)),
        1 => (at(), 1usize..4).prop_map(|(one, by)| LineStep::Swap(one, one.wrapping_add(by))),
        1 => (at(), at()).prop_map(|(from, to)| LineStep::Move(from, to)),
        8 => (at(), edits()).prop_map(|(line, edit)| LineStep::Edit(line, edit)),
        1 => edits().prop_map(|edit| LineStep::Edit(HEADER, edit)),
    ];
    let frame = prop_oneof![
        at().prop_map(FrameStep::Drop),
        (at(), at()).prop_map(|(from, to)| FrameStep::Repeat(from, to)),
        (at(), at()).prop_map(|(one, other)| FrameStep::Swap(one, other)),
        (at(), 1usize..40).prop_map(|(at, bytes)| FrameStep::Cut(at, bytes)),
        (1usize..40).prop_map(FrameStep::CutLast),
        at().prop_map(FrameStep::Skippable),
    ];
    let byte = prop_oneof![
        at().prop_map(ByteStep::Cut),
        (at(), 0..8u8).prop_map(|(at, bit)| ByteStep::Flip(at, bit))
    ];
    let numbering =
        prop_oneof![1 => Just(Numbering::Kept), 1 => Just(Numbering::Dense), 3 => Just(Numbering::Followed)];
    let text = (prop::collection::vec(line, 1..3), numbering, prop::option::weighted(0.1, 1usize..30));
    let rest = prop_oneof![
        9 => Just((vec![], vec![])),
        1 => prop::collection::vec(frame, 1..3).prop_map(|frames| (frames, vec![])),
        1 => prop::collection::vec(byte, 1..3).prop_map(|bytes| (vec![], bytes)),
    ];
    (0..logs, prop::bool::weighted(0.9), text, rest).prop_map(
        |(log, changes_text, (lines, numbering, lines_a_frame), (frames, bytes))| {
            let changes_text = changes_text || (frames.is_empty() && bytes.is_empty());
            let lines = if changes_text { lines } else { Vec::new() };
            Mutant { log, lines, numbering, lines_a_frame, frames, bytes }
        },
    )
}

impl Mutant {
    /// The bytes of the changed log, and whether they are compressed.
    pub fn of(&self, log: &Base) -> (Vec<u8>, bool) {
        let mut frames = log.frames.clone();
        let mut text = log.text.clone();
        if !self.lines.is_empty() {
            text = self.change(text);
        }
        let is_zstd = self.lines_a_frame.is_some() || !frames.is_empty();
        if is_zstd && (!self.lines.is_empty() || self.lines_a_frame.is_some()) {
            frames = compressed(&text, self.lines_a_frame.unwrap_or(20));
        }
        for step in self.frames.iter().filter(|_| is_zstd) {
            step.apply(&mut frames);
        }
        let mut bytes = if is_zstd { frames.concat() } else { text };
        for step in &self.bytes {
            step.apply(&mut bytes);
        }
        (bytes, is_zstd)
    }

    fn change(&self, text: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8(text).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for step in &self.lines {
            step.apply(&mut lines);
        }
        renumber(&mut lines, self.numbering);
        lines.iter().flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect()
    }

    /// The same with less.
    pub fn smaller(&self) -> Vec<Self> {
        let without = |change: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            smaller
        };
        let lines = (0..self.lines.len()).map(|at| without(&|mutant| _ = mutant.lines.remove(at)));
        let frames = (0..self.frames.len()).map(|at| without(&|mutant| _ = mutant.frames.remove(at)));
        let bytes = (0..self.bytes.len()).map(|at| without(&|mutant| _ = mutant.bytes.remove(at)));
        let raw = self.lines_a_frame.map(|_| without(&|mutant| mutant.lines_a_frame = None));
        let kept = (self.numbering != Numbering::Kept)
            .then(|| without(&|mutant| mutant.numbering = Numbering::Kept));
        lines.chain(frames).chain(bytes).chain(raw).chain(kept).collect()
    }
}

impl LineStep {
    fn apply(&self, lines: &mut Vec<String>) {
        let count = lines.len();
        if count == 0 {
            return;
        }
        match self {
            Self::Drop(at, many) => drop(lines.drain(at % count..count.min(at % count + many))),
            Self::Cut(at, length) => {
                let line = &mut lines[at % count];
                let length = (0..=length % (line.len() + 1)).rev().find(|at| line.is_char_boundary(*at));
                line.truncate(length.unwrap_or_default());
            }
            Self::Blank(at) => lines.insert(at % count, String::new()),
            Self::Repeat(from, to) => lines.insert(to % count, lines[from % count].clone()),
            Self::Swap(one, other) => lines.swap(one % count, other % count),
            Self::Move(from, to) => {
                let line = lines.remove(from % count);
                lines.insert(to % count, line);
            }
            Self::Edit(at, edit) => {
                if let Some(line) = edit.of(&lines[at % count]) {
                    lines[at % count] = line;
                }
            }
        }
    }
}

impl FrameStep {
    fn apply(&self, frames: &mut Vec<Vec<u8>>) {
        let count = frames.len();
        if count == 0 {
            return;
        }
        match self {
            Self::Drop(at) => drop(frames.remove(at % count)),
            Self::Repeat(from, to) => frames.insert(to % count, frames[from % count].clone()),
            Self::Swap(one, other) => frames.swap(one % count, other % count),
            Self::Cut(at, bytes) => {
                let frame = &mut frames[at % count];
                frame.truncate(frame.len().saturating_sub(*bytes));
            }
            Self::CutLast(bytes) => {
                let frame = &mut frames[count - 1];
                frame.truncate(frame.len().saturating_sub(*bytes));
            }
            Self::Skippable(at) => {
                frames.insert(at % count, [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat());
            }
        }
    }
}

impl ByteStep {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        match self {
            Self::Cut(at) => bytes.truncate(at % length),
            Self::Flip(at, bit) => {
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= 1 << bit;
                }
            }
        }
    }
}

/// An official log that is changed.
#[derive(Debug)]
pub struct Base {
    pub name: String,
    pub text: Vec<u8>,
    /// Its frames, if it is compressed.
    pub frames: Vec<Vec<u8>>,
}

impl Base {
    /// A log of the fixtures.
    pub fn of(name: &str, path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let frames = if path.extension().unwrap() == "zstd" { frames(&bytes) } else { Vec::new() };
        Self { name: name.to_owned(), text: decoded(path), frames }
    }

    /// The same text under another version number: formats 0 and 1 differ in little else.
    pub fn in_version(self, from: u64, to: u64) -> Self {
        let text = String::from_utf8(self.text).unwrap();
        let text = text.replacen(&format!("\"version\":{from},"), &format!("\"version\":{to},"), 1);
        Self { name: format!("{} as format {to}", self.name), text: text.into_bytes(), frames: Vec::new() }
    }
}

fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let length = zstd_safe::find_frame_compressed_size(bytes).unwrap();
        frames.push(bytes[..length].to_vec());
        bytes = &bytes[length..];
    }
    frames
}

/// The header alone in the first frame, then so many lines a frame.
fn compressed(text: &[u8], lines_a_frame: usize) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (header, rest) = lines.split_at(lines.len().min(1));
    let chunks = rest.chunks(lines_a_frame).map(<[_]>::concat);
    std::iter::once(header.concat()).chain(chunks).map(|text| zstd_frame(&text).unwrap()).collect()
}
