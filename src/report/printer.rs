//! Who may print: data to standard output, talk to standard error.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

/// How much talk is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors alone.
    Quiet,
    /// Errors and notes.
    Normal,
    /// Details too.
    Verbose,
}

/// Standard output and standard error with the user's choices about them.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// How much talk is wanted.
    pub verbosity: Verbosity,
    color: ColorChoice,
}

/// What stands out.
pub const BOLD: Style = Style::new().bold();
/// What is fine.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// What needs a look.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub const RED: Style = AnsiColor::Red.on_default().bold();
/// What matters less.
pub const DIM: Style = Style::new().dimmed();

impl Printer {
    /// A printer that colours as `color` says; `Auto` looks at the terminal and at `NO_COLOR`.
    #[must_use]
    pub fn new(verbosity: Verbosity, color: ColorChoice) -> Self {
        Self { verbosity, color }
    }

    /// Standard output, buffered; colours are taken out where none are wanted.
    #[must_use]
    pub fn out(self) -> impl Write + use<> {
        io::BufWriter::with_capacity(1 << 16, AutoStream::new(io::stdout(), self.color))
    }

    /// Says something that helps but is no data.
    pub fn note(self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.talk(DIM, "note", text, None);
        }
    }

    /// Says that something is wrong and what to do about it.
    pub fn error(self, text: &str, help: Option<&str>) {
        self.talk(RED, "error", text, help);
    }

    fn talk(self, style: Style, label: &str, text: &str, help: Option<&str>) {
        let mut err = AutoStream::new(io::stderr(), self.color);
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(err, "{style}{label}{style:#}: {text}");
        if let Some(help) = help {
            let _ = writeln!(err, "  {DIM}help{DIM:#}: {help}");
        }
    }
}
