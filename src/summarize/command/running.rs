//! A program while it runs: fed, listened to, watched, and killed with all that it started.
//!
//! Each pipe has a thread of its own, so that neither a program that does not read nor one that only writes can
//! hold up the other side. The threads are never joined: a process that left the group may keep a pipe open for
//! ever.

use super::super::Watch;
use super::group;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// How long more output is waited for once the program has ended: another process may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// How much of the standard error is kept: its end, in bytes.
const MOST_ERRORS: usize = 4096;

/// Pieces that may wait to be taken.
const WAITING: usize = 16;

/// What a program may use.
pub(super) struct Limits {
    pub(super) time: Duration,
    /// Bytes on its standard output.
    pub(super) output: usize,
}

/// A program that has ended by itself.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// The end of what it wrote to its standard error.
    pub(super) errors: Vec<u8>,
}

/// Why a program was stopped, or not started.
pub(super) enum Stopped {
    Cancelled,
    TimedOut,
    TooMuch,
    Io(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

enum Piece {
    Output(Vec<u8>),
    Error(Vec<u8>),
}

/// Runs `command` on `input` to its end. Whatever comes, nothing of its group is left.
pub(super) fn run(
    mut command: Command,
    input: Vec<u8>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Ended, Stopped> {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running { child: command.spawn()?, is_reaped: false };
    let pieces = running.connect(input)?;
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut ended: Option<ExitStatus> = None;
    let mut heard = started;
    loop {
        if watch.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        if started.elapsed() >= limits.time {
            return Err(Stopped::TimedOut);
        }
        let why = match pieces.recv_timeout(TICK) {
            Ok(piece) => {
                heard = Instant::now();
                match piece {
                    Piece::Output(bytes) => output.extend(bytes),
                    Piece::Error(bytes) => keep_end(&mut errors, &bytes),
                }
                if output.len() > limits.output {
                    return Err(Stopped::TooMuch);
                }
                watch.received(output.len() as u64 / 4);
                continue;
            }
            Err(why) => why,
        };
        let is_silent = why == RecvTimeoutError::Disconnected || heard.elapsed() >= REST;
        if let Some(status) = ended {
            if is_silent {
                return Ok(Ended { status, output, errors });
            }
        } else if group::has_ended(&mut running.child)? {
            (ended, heard) = (Some(running.finish()?), Instant::now());
        } else if why == RecvTimeoutError::Disconnected {
            // Its pipes are closed, and it goes on.
            thread::sleep(TICK);
        }
    }
}

fn keep_end(errors: &mut Vec<u8>, bytes: &[u8]) {
    errors.extend(bytes);
    errors.drain(..errors.len().saturating_sub(MOST_ERRORS));
}

/// A started program. Dropped, it is killed.
struct Running {
    child: Child,
    is_reaped: bool,
}

impl Running {
    /// Starts the threads of its pipes. The channel closes when both outputs have ended.
    fn connect(&mut self, input: Vec<u8>) -> io::Result<Receiver<Piece>> {
        let (sender, pieces) = sync_channel(WAITING);
        let stdin = self.child.stdin.take();
        start(move || {
            // A program need not read what it does not want.
            let _ = stdin.map(|mut stdin| stdin.write_all(&input));
        })?;
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let errors = sender.clone();
        start(move || forward(stdout, Piece::Output, &sender))?;
        start(move || forward(stderr, Piece::Error, &errors))?;
        Ok(pieces)
    }

    /// Kills what is left of the group, and gives the status of its leader.
    fn finish(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            group::kill(&mut self.child);
        }
        self.is_reaped = true;
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

fn forward(from: Option<impl Read>, piece: fn(Vec<u8>) -> Piece, to: &SyncSender<Piece>) {
    let Some(mut from) = from else { return };
    let mut buffer = [0; 8192];
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(read) => {
                let bytes = buffer.get(..read).unwrap_or_default().to_vec();
                if to.send(piece(bytes)).is_err() {
                    return;
                }
            }
        }
    }
}
