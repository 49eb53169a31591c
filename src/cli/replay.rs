//! `dshc replay`.

use super::{NO_OUTPUT, UsageError, inputs};
use crate::exit::Exit;
use crate::log::{LogReader, UnknownVersion};
use crate::replay::Replay as View;
use crate::report::{Layout, Printer, human, json, shown_path};
use crate::session::{self, Folded, Keep, Session, Stop, Unknown};
use crate::tokens::{Tokenizer, TokenizerName};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dshc replay LOG                               the surface as a table
  dshc replay LOG --at 120                      as it stood right after event 120
  dshc replay LOG --expand 563                  what the checkpoint 563 hides
  dshc replay LOG --format messages | jq .role  the messages that the model sees
  dshc replay LOG --allow-unknown=acme/switch   past events of a plugin that dshc does not know

Exit codes: 0 done, 1 shown in part (--partial), 2 wrong usage, 3 the log cannot be read or is damaged.";

/// What `--allow-unknown` stands for without a type; no event type is spelt so.
const ALL_TYPES: &str = "*";

/// Fold a log and show what the model sees.
///
/// Reads only. The table shows, for each message of the surface, its position, the seq of its event, what it
/// is, its price by dsh's own token meter, and whether the cut before it is balanced ("ok": no tool call is
/// separated from its result there; "·": one would be). A torn tail is left out and said so.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Replay {
    /// A log, a session directory, or a folder that holds one log; "-" is standard input.
    path: Option<PathBuf>,
    /// How to show it: a table, one JSON document, or the messages as they stand in the log, one a line.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Show the surface as it stood right after event SEQ.
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    at: Option<u64>,
    /// Show too what the replacement SEQ hides, one level, in order.
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    expand: Option<u64>,
    /// Show the sound part of a damaged log (exit code 1) instead of refusing it.
    #[arg(long)]
    partial: bool,
    /// Read past event types that dshc does not know, all of them or those named; without TYPE also logs of a format
    /// that it does not know, as if they were of the newest one. dsh refuses both.
    #[arg(long, value_name = "TYPE", num_args = 0..=1, require_equals = true, default_missing_value = ALL_TYPES)]
    allow_unknown: Vec<String>,
    /// Add exact token counts: o200k_base or cl100k_base. Its vocabulary takes a moment to load.
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<TokenizerName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Messages,
}

impl Replay {
    pub(super) fn run(self, printer: Printer) -> Result<Exit> {
        let log = inputs::only(&inputs::or_default_root(self.path.clone().into_iter().collect())?)?;
        let (older, path) = (log.older_told(), log.path);
        // What a failure leaves without a report is told beside it.
        let tell_older = || older.iter().for_each(|note| printer.note(note));
        let unknown = self.unknown();
        let version = match unknown {
            Unknown::AllAllowed => UnknownVersion::ReadAsNewest,
            Unknown::Refused | Unknown::Allowed(_) => UnknownVersion::Refuse,
        };
        let stop = Stop { at: self.at, expand: self.expand };
        let opened = inputs::open(&path).map_err(Into::into);
        let opened = opened.and_then(|source| LogReader::open_with(&source, version));
        let folded = opened.and_then(|mut reader| {
            let session = Session::new(reader.header().clone(), reader.format(), Keep::Messages);
            Ok(session::fold_into(session.allowing(unknown), &mut reader, stop)?)
        });
        let mut folded = match folded {
            Ok(folded) => folded,
            Err(error) => {
                tell_older();
                printer.error(&format!("{}: {error}", shown_path(&path)), Some(&error.help()));
                return Ok(Exit::Unreadable);
            }
        };
        let mut left_out = None;
        let exit = match folded.damage.take() {
            None => Exit::Done,
            Some(damage) => {
                let text = format!("{}: {}: {damage}", shown_path(&path), damage.place());
                if !self.partial {
                    tell_older();
                    let help = if damage.is_unsupported() {
                        "the log is sound; --allow-unknown reads past what is unknown, --partial shows what stands \
                         before it"
                    } else if folded.is_cut {
                        "--partial shows what stands before it; `dshc verify` names all that is wrong"
                    } else {
                        "--partial shows all, for no event is lost; `dshc verify` names all that is wrong"
                    };
                    printer.error(&text, Some(help));
                    return Ok(Exit::Unreadable);
                }
                printer.error(&text, None);
                let (events, left_out_events) = (folded.session.events, folded.left_out);
                left_out = Some(if folded.is_cut {
                    let end =
                        if damage.is_unsupported() { "the event that is unknown" } else { "the damage" };
                    format!(
                        "partial: shown are the {events} events before {end}; {left_out_events} sound events behind it \
                         are left out"
                    )
                } else {
                    format!(
                        "shown are all {events} events: the damage took none, though dsh does not read past it"
                    )
                });
                Exit::Findings
            }
        };
        self.check_seqs(&folded)?;
        let tokenizer = self.tokenizer.map(Tokenizer::load);
        let mut view = View::new(&path, &folded, self.expand.is_some(), tokenizer.as_ref());
        view.notes.extend(left_out);
        view.notes.splice(0..0, older);
        for note in view.notes.iter().filter(|_| self.format != Format::Json) {
            printer.note(note);
        }
        match self.format {
            Format::Human => printer.print(Layout::Human, |out| human::replay(&view, out)),
            Format::Json => printer.print(Layout::Data, |out| json::replay(&view, out)),
            Format::Messages => printer.print(Layout::Data, |out| view.write_messages(out)),
        }
        .context(NO_OUTPUT)?;
        Ok(exit)
    }

    fn unknown(&self) -> Unknown {
        match self.allow_unknown.as_slice() {
            [] => Unknown::Refused,
            types if types.iter().any(|named| named == ALL_TYPES) => Unknown::AllAllowed,
            types => Unknown::Allowed(types.to_vec()),
        }
    }

    /// `--at` must be an event and `--expand` a replacement.
    fn check_seqs(&self, folded: &Folded) -> Result<()> {
        let events = folded.session.events;
        if let Some(at) = self.at.filter(|at| *at >= events) {
            let message = format!("--at {at} is past the end: the log has {events} events");
            let help = format!("name a seq from 0 to {}", events.saturating_sub(1));
            return Err(UsageError::new(message, help).into());
        }
        if let Some(seq) = self.expand.filter(|_| folded.session.surface.expanded().is_empty()) {
            let message = format!("--expand {seq}: that event replaces nothing");
            return Err(UsageError::new(
                message,
                "name a checkpoint, or another node that the JSON format shows with \"replaces\"",
            )
            .into());
        }
        Ok(())
    }
}
