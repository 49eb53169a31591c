//! Logs as bytes: containers, lines, records; and the one way in which bytes are added to a log.
//!
//! [`LogReader`] gives the records of a log, front to back, in bounded memory, with a [`Fault`] wherever the
//! bytes are not what dsh writes. What the records mean is `session/`'s business. `session/`, `check/`,
//! `compact/` and `mend/` may call this room; it knows only `format/` and `json/`.

pub mod append;
mod debris;
mod envelope;
#[cfg(test)]
pub(crate) mod failing_disk;
mod fault;
mod frames;
mod framing;
mod header;
pub mod layout;
pub mod likeness;
mod lines;
mod new_record;
mod open_error;
mod overlong;
pub mod place;
mod reader;
mod record;
mod rows;
mod session_lock;
mod source;
mod sources;
mod stop;
mod tail;
mod text;
mod unpacked;
mod zstd_text;

pub use debris::Debris;
pub use envelope::Event;
pub(crate) use fault::trailing_nuls;
pub use fault::{Content, Fault, FaultKind, Place};
pub use header::{Header, UnknownVersion};
pub use new_record::NewRecord;
pub use open_error::OpenError;
pub use reader::LogReader;
pub use record::{Body, Item, Record};
pub use rows::{PackedRow, run_extent};
pub use source::{Container, Source};
pub use sources::{SourceError, SourceSeqs};
pub use stop::Stop;
