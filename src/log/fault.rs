//! What can be wrong with a log's bytes, and where.

use super::debris::Debris;
use super::lines::MAX_LINE;
use std::fmt;

/// Where in a log something stands. Every figure is known only for some containers and kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Line of the decoded text; the header is line 1.
    pub line: Option<u64>,
    /// Zstandard frame, from 1.
    pub frame: Option<u64>,
    /// Offset in the file: of the line in a raw log, of the frame in a zstd log.
    pub byte: Option<u64>,
    /// Offset in the decoded text.
    pub text_byte: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!("line {line}"));
        let frame = self.frame.map(|frame| format!("frame {frame}"));
        let byte = self.byte.map(|byte| format!("byte {byte}"));
        let known: Vec<String> = [line, frame, byte].into_iter().flatten().collect();
        f.write_str(&known.join(", "))
    }
}

/// A flaw of the container, of a line or of the numbering, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where.
    pub place: Place,
    /// The seq that belongs here, counted from the records before it.
    pub seq: u64,
}

/// The kinds of [`Fault`]. The text says what was found and what belongs there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The file ends inside its last line (raw) or its last frame (zstd); a killed writer leaves this.
    #[error(
        "torn tail: the last {bytes} bytes are no whole {}{}{}",
        if *.frame { "frame" } else { "line" },
        trailing_nuls(*.bytes, *.nuls),
        match *.recovered { 0 => String::new(), 1 => "; 1 record in them is whole".into(), n => format!("; {n} records in them are whole") }
    )]
    TornTail {
        /// Bytes of the file after the last whole line or frame.
        bytes: u64,
        /// How many NUL bytes a torn line ends with.
        nuls: u64,
        /// Whether it is a frame that is torn.
        frame: bool,
        /// Records (rows, not events) that could be read from it. A torn line may be one whole record that lacks nothing
        /// but its line feed; readers leave it out all the same.
        recovered: u64,
    },
    /// A frame starts with other bytes than the magic number.
    #[error("a Zstandard frame must start with 28 b5 2f fd, found {}", foreign(.found, *.nuls, *.is_end))]
    FrameMagic {
        /// The four bytes found.
        found: [u8; 4],
        /// How many NUL bytes stand there.
        nuls: u64,
        /// Whether they are all that the file still holds.
        is_end: bool,
        /// The bytes from here to the end of the file, where no frame starts in them.
        rest: Option<u64>,
    },
    /// A skippable frame: legal Zstandard, refused by dsh.
    #[error("skippable frame of {bytes} bytes, which dsh refuses")]
    SkippableFrame {
        /// Size of the frame, its header included.
        bytes: u64,
    },
    /// A frame's header or one of its blocks is of a reserved kind.
    #[error("frame with {0}")]
    FrameStructure(&'static str),
    /// A frame's data cannot be decoded, or its checksum is wrong.
    #[error("frame cannot be decoded: {0}")]
    FrameData(String),
    /// A frame that by its block headers ends behind the file, and that is damaged, not only cut. dsh takes it for a
    /// torn tail.
    #[error("the last frame is damaged: {problem}{}", match *.recovered { 0 => String::new(), 1 => "; 1 record before that is whole".into(), n => format!("; {n} records before that are whole") })]
    BrokenTail {
        /// What is wrong with it.
        problem: String,
        /// Where in the file another frame starts that it swallows.
        swallowed: Option<u64>,
        /// Records (rows, not events) that could be read from it.
        recovered: u64,
    },
    /// The first frame holds something else than the header line alone.
    #[error("the first frame must hold the header line and nothing else")]
    HeaderFrame,
    /// So many frames are damaged that the rest of the file is not looked at.
    #[error("too many damaged frames: the last {bytes} bytes of the file are not read")]
    Unread {
        /// The bytes left out.
        bytes: u64,
    },
    /// The text of the whole frames ends inside a line.
    #[error("whole frames end inside a line ({bytes} bytes after the last line feed)")]
    UnfinishedLine {
        /// Bytes after the last line feed.
        bytes: u64,
    },
    /// A byte order mark before the header, which dsh's parser does not take.
    #[error("the file starts with a byte order mark (ef bb bf)")]
    Bom,
    /// Lines without any record.
    #[error("{}", match *.lines { 1 => "blank line".into(), lines => format!("{lines} blank lines") })]
    BlankLine {
        /// How many in a row.
        lines: u64,
    },
    /// NUL bytes in a line, such as a crash of the machine leaves where data never reached the disk.
    #[error("{0}")]
    NulBlock(Box<Debris>),
    /// A line of several records, or of a broken one and whole ones, as if a line feed had been lost.
    #[error("{0}")]
    FusedRecords(Box<Debris>),
    /// A line that is no JSON value.
    #[error("line is not JSON: {0}")]
    NotJson(String),
    /// A line that is longer than any reader takes.
    #[error("line is longer than {} MiB, the longest that is read", MAX_LINE >> 20)]
    LineTooLong,
    /// A JSON value that is no event (FORMAT §4).
    #[error("not an event: {reason}")]
    Envelope {
        /// What is wrong with it.
        reason: String,
        /// Whether dsh takes it for an event all the same, and refuses the log when it checks the events (FORMAT §9.1).
        is_taken: bool,
        /// Whether dsh's scan sees the end of a turn in it.
        ends_turn: bool,
        /// What the value is instead.
        content: Content,
    },
    /// A packed row of the wrong shape (FORMAT §5.1).
    #[error("malformed {tag} row: {reason}")]
    Row {
        /// The row's type.
        tag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Seqs are missing.
    #[error("seq {found} where {expected} was expected: {} missing", found - expected)]
    SeqGap {
        /// The next seq.
        expected: u64,
        /// The seq that stands there.
        found: u64,
    },
    /// Seqs stand in the log a second time.
    #[error("seq {found} where {expected} was expected: {} and later already stand in the log{}", found, row(*.members))]
    SeqRepeat {
        /// The next seq.
        expected: u64,
        /// The seq that stands there.
        found: u64,
        /// How many events the record holds: more than one for a packed row.
        members: u64,
    },
}

/// What a JSON value that is no event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// All that an event must have, and something wrong beside it.
    WholeEvent,
    /// A header line.
    Header,
    /// Anything else.
    Other,
}

impl FaultKind {
    /// Whether every event of the log can still be read: the fault stands between records, or beside whole ones
    /// whose numbers go on. dsh refuses the log, or drops what follows, all the same.
    #[must_use]
    pub fn loses_nothing(&self) -> bool {
        match self {
            Self::Bom
            | Self::BlankLine { .. }
            | Self::SkippableFrame { .. }
            | Self::HeaderFrame
            | Self::FrameMagic { is_end: true, .. } => true,
            Self::NulBlock(debris) | Self::FusedRecords(debris) => debris.loses_nothing(),
            _ => false,
        }
    }

    /// Whether the container is at fault, not a line or the numbering.
    #[must_use]
    pub fn is_of_container(&self) -> bool {
        match self {
            Self::TornTail { .. }
            | Self::FrameMagic { .. }
            | Self::SkippableFrame { .. }
            | Self::FrameStructure(_)
            | Self::FrameData(_)
            | Self::BrokenTail { .. }
            | Self::HeaderFrame
            | Self::Unread { .. }
            | Self::UnfinishedLine { .. }
            | Self::Bom => true,
            Self::BlankLine { .. }
            | Self::NulBlock(_)
            | Self::FusedRecords(_)
            | Self::NotJson(_)
            | Self::LineTooLong { .. }
            | Self::Envelope { .. }
            | Self::Row { .. }
            | Self::SeqGap { .. }
            | Self::SeqRepeat { .. } => false,
        }
    }

    /// What a person can do about it. What dsh makes of a bad line or number depends on what follows (FORMAT §9.1),
    /// and is not told here.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::TornTail { .. } => {
                "a writer was stopped; dsh cuts the torn bytes off when it next opens the session. Nothing \
                 before them is lost"
            }
            Self::FrameMagic { is_end: true, .. } => {
                "NUL bytes are what a crash of the machine or a copying tool leaves behind; the log is \
                 whole without them, so cut exactly these bytes off. dsh refuses the whole log as it is"
            }
            Self::FrameMagic { rest: Some(_), .. } => {
                "dsh refuses the whole log. If another program wrote these bytes, cut exactly them off; if they are a frame \
                 whose first bytes are damaged, its events are lost with them: restore it from a copy"
            }
            Self::FrameMagic { .. } | Self::FrameStructure(_) | Self::FrameData(_) => {
                "the file was damaged after dsh wrote it; restore it from a copy. dsh refuses the whole log"
            }
            Self::Unread { .. } => "nobody can say what stands there; restore the file from a copy",
            Self::BrokenTail { .. } => "the file was damaged after dsh wrote it; restore it from a copy",
            Self::SkippableFrame { .. } => {
                "another tool wrote this frame; remove exactly these bytes. dsh refuses the whole log"
            }
            Self::HeaderFrame => {
                "another tool recompressed the log; dsh needs the header in a frame of its own"
            }
            Self::UnfinishedLine { .. } => "a frame was lost or cut; dsh refuses the whole log",
            Self::Bom => {
                "an editor added it; remove exactly these three bytes. dsh refuses the log as it is, and its list of \
                 sessions leaves it out without a word"
            }
            Self::BlankLine { lines: 1 } => "remove the line: dsh takes it for a damaged record",
            Self::BlankLine { .. } => "remove the lines: dsh takes each for a damaged record",
            Self::NulBlock(debris) | Self::FusedRecords(debris) => debris.help(),
            Self::Envelope { content: Content::WholeEvent, .. } => {
                "all of the event can be read: mend the named member in a copy, or take it out there"
            }
            Self::Envelope { content: Content::Header, .. } => {
                "lines were copied, or two logs joined: the header stands in line 1 alone; take this line out, it holds \
                 no event"
            }
            Self::NotJson(_) | Self::Envelope { .. } | Self::Row { .. } | Self::LineTooLong => {
                "the record is lost, unless a copy has it"
            }
            Self::SeqGap { .. } => "records were lost here",
            Self::SeqRepeat { .. } => "two writers had the session, or lines were copied",
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn foreign(found: &[u8], nuls: u64, is_end: bool) -> String {
    match (nuls, is_end) {
        (0..4, _) => hex(found),
        (_, true) => format!("{nuls} NUL bytes, up to the end of the file"),
        (_, false) => format!("{nuls} NUL bytes, and others behind them"),
    }
}

/// What a torn tail ends with, where those are NUL bytes.
pub(crate) fn trailing_nuls(bytes: u64, nuls: u64) -> String {
    match nuls {
        0 => String::new(),
        _ if nuls == bytes => "; all of them are NULs".into(),
        1 => "; the last one is a NUL".into(),
        _ => format!("; the last {nuls} are NULs"),
    }
}

fn row(members: u64) -> String {
    if members > 1 { format!(" (a packed row of {members} events)") } else { String::new() }
}
