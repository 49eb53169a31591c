//! That nothing is lost: what the log says, and what the new file says when it is read back from the disk.

use super::layout::Layout;
use crate::log::{LogReader, OpenError, Source};
use crate::replay;
use crate::session::{self, Folded, Keep, Stop};

/// A log that was read to its end.
pub(super) struct Reading {
    pub(super) folded: Folded,
    /// blake3 of the messages that the model sees, as `dshc replay` gives it.
    pub(super) digest: String,
}

impl Reading {
    pub(super) fn of(source: &Source) -> Result<Self, OpenError> {
        let mut reader = LogReader::open(source)?;
        let folded = session::fold(&mut reader, Keep::Messages, Stop::default())?;
        let digest = replay::digest(folded.session.surface.nodes());
        Ok(Self { folded, digest })
    }
}

/// Whether the new file holds the same text in the frames that were wanted, and tells the same surface; how many frames it
/// has. Else, in a few words, what it does not.
pub(super) fn prove(old: (&Source, &Layout, &Reading), new: &Source, frame_text: u64) -> Result<u64, String> {
    let (old, layout, reading) = old;
    let told = |error: OpenError| error.to_string();
    let cut = Layout::of(new, frame_text).map_err(|error| told(error.into()))?;
    if (cut.hash, cut.text_bytes) != (layout.hash, layout.text_bytes) {
        return Err("its text is another".into());
    }
    let head = |source: &Source| source.read_head(layout.body_start).map_err(|error| told(error.into()));
    if cut.body_start != layout.body_start || head(old)? != head(new)? {
        return Err("its header frame is another".into());
    }
    if !cut.is_packed(new).map_err(|error| told(error.into()))? {
        return Err("its frames are cut at other places".into());
    }
    let reread = Reading::of(new).map_err(told)?;
    if let Some(damage) = &reread.folded.damage {
        return Err(damage.to_string());
    }
    if reread.digest != reading.digest || reread.folded.session.events != reading.folded.session.events {
        return Err("its surface is another".into());
    }
    Ok(cut.frames)
}
