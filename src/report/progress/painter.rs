//! The thread that shows on the terminal how far a run is.

use super::State;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use terminal_size::{Height, Width};

/// How long a run goes on before anything is shown.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long what is shown stays as it is.
const PERIOD: Duration = Duration::from_millis(120);
/// The most lines, however many logs are worked on at once.
const MOST: u16 = 16;

/// A thread that paints until it is stopped.
#[derive(Debug)]
pub(super) struct Painter {
    /// Dropped to stop it.
    until: Sender<()>,
    thread: JoinHandle<()>,
}

impl Painter {
    /// Starts painting; `None` where the system gives no thread.
    pub(super) fn start(state: &Arc<Mutex<State>>) -> Option<Self> {
        let (until, is_over) = mpsc::channel();
        let state = Arc::clone(state);
        let thread = thread::Builder::new().name("progress".into()).spawn(move || paint(&state, &is_over));
        Some(Self { until, thread: thread.ok()? })
    }

    /// Takes the lines away.
    pub(super) fn stop(self) {
        drop(self.until);
        // A painter that panicked has told so.
        let _ = self.thread.join();
    }
}

fn paint(state: &Mutex<State>, is_over: &Receiver<()>) {
    let mut canvas = None;
    let mut wait = PATIENCE;
    while is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = PERIOD;
        let (width, height) = size();
        let lines = super::lock(state).lines(Instant::now(), width, height);
        canvas.get_or_insert_with(Canvas::new).show(lines);
    }
    if let Some(canvas) = canvas {
        canvas.clear();
    }
}

/// How many columns a line may take beside its mark, and how many lines there may be.
fn size() -> (usize, usize) {
    let terminal = terminal_size::terminal_size_of(io::stderr());
    let (Width(columns), Height(rows)) = terminal.unwrap_or((Width(80), Height(24)));
    (usize::from(columns.saturating_sub(3)), usize::from(rows.saturating_sub(1).clamp(1, MOST)))
}

/// Lines that are painted over each other.
struct Canvas {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
    style: ProgressStyle,
}

impl Canvas {
    fn new() -> Self {
        // Wide characters may make a line longer than it was counted: what is too much is cut off.
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        Self {
            all: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            lines: Vec::new(),
            style: style.unwrap_or_else(|_| ProgressStyle::default_spinner()),
        }
    }

    fn show(&mut self, lines: Vec<String>) {
        while self.lines.len() > lines.len() {
            if let Some(line) = self.lines.pop() {
                self.all.remove(&line);
            }
        }
        while self.lines.len() < lines.len() {
            self.lines.push(self.all.add(ProgressBar::new_spinner().with_style(self.style.clone())));
        }
        for (line, text) in self.lines.iter().zip(lines) {
            line.set_message(text);
            line.tick();
        }
    }

    fn clear(self) {
        for line in &self.lines {
            line.finish_and_clear();
        }
        // Nobody is left to tell when standard error is closed.
        let _ = self.all.clear();
    }
}
