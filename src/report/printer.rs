//! Who may print: data to standard output, talk to standard error.

use super::progress::Progress;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

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

/// What a report is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// People: colours where they are wanted.
    Human,
    /// Programs: every byte as it is.
    Data,
}

/// Standard output and standard error with the user's choices about them.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// How much talk is wanted.
    pub verbosity: Verbosity,
    color: ColorChoice,
    shows_progress: bool,
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
        Self { verbosity, color, shows_progress: true }
    }

    /// The same, which never shows how far a run is.
    #[must_use]
    pub fn without_progress(self) -> Self {
        Self { shows_progress: false, ..self }
    }

    /// The place to show how far a run is: standard error where that is a terminal, else nowhere.
    #[must_use]
    pub fn progress(self) -> Progress {
        let is_wanted = self.shows_progress && self.verbosity > Verbosity::Quiet;
        Progress::new(is_wanted && io::stderr().is_terminal())
    }

    /// Writes a report to standard output. A reader that has seen enough and closed the pipe is no error.
    pub fn print(
        self,
        layout: Layout,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let stdout: Box<dyn Write> = match layout {
            Layout::Human => Box::new(AutoStream::new(io::stdout(), self.color)),
            Layout::Data => Box::new(io::stdout()),
        };
        let mut out = io::BufWriter::with_capacity(1 << 16, stdout);
        match report(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done,
        }
    }

    /// How many columns running text on standard output may take: those of its terminal, at most as many as `--help`
    /// takes; 80 where it is no terminal.
    #[must_use]
    pub fn width(self) -> usize {
        let terminal = terminal_size::terminal_size_of(io::stdout());
        terminal.map_or(80, |(terminal_size::Width(columns), _)| usize::from(columns).clamp(40, 100))
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
        let _ = writeln!(err, "{style}{label}{style:#}: {}", shown(text));
        if let Some(help) = help {
            let _ = writeln!(err, "  {DIM}help{DIM:#}: {}", shown(help));
        }
    }
}

/// Text from a log or a file name as it may stand on a terminal: control characters escaped, line feeds kept.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| is_unsafe(character) && character != '\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escaped(text, |character| is_unsafe(character) && character != '\n'))
}

/// Whether a character does something to a terminal or a viewer, or breaks the line.
pub(super) fn is_unsafe(character: char) -> bool {
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    // Marks that turn the direction of text make a line read as another one.
    let turns =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || breaks || turns
}

/// The text with these characters as Rust writes them: `\u{7}`.
pub(super) fn escaped(text: &str, which: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if which(character) { out.extend(character.escape_default()) } else { out.push(character) }
    }
    out
}

/// A path for a person, on one line.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    shown(&path.display().to_string()).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(shown("a\u{1b}[2J\nb\t"), "a\\u{1b}[2J\nb\\t");
        assert_eq!(shown_path(Path::new("a\nb")), "a\\nb");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shown("a\u{2028}b\u{2029}"), "a\\u{2028}b\\u{2029}");
        assert!(matches!(shown("会话 plain"), Cow::Borrowed(_)));
    }
}
