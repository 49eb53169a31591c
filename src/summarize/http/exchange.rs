//! One request and the bytes of its answer, under deadlines.
//!
//! The socket belongs to a thread of its own, which hands on what it reads. So whoever waits for the answer notices
//! a deadline, and that the user wants to stop, whatever the socket does. A thread that nobody listens to any more
//! ends at its next byte, or at the deadlines that its socket has as well.

use super::fault::Fault;
use super::retry;
use crate::summarize::Watch;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

/// How long connecting may take, the look-up of the name included.
pub(super) const CONNECT: Duration = Duration::from_secs(10);
/// How often a waiting call asks whether it is to stop.
const TICK: Duration = Duration::from_millis(50);
/// How much later a socket gives up than who waits for it: the one that waits is to tell the reason.
const SLACK: Duration = Duration::from_secs(1);
/// Bytes of one piece.
const PIECE: usize = 16 << 10;
/// Pieces that may wait to be taken.
const PIECES: usize = 16;

/// What is sent, and where. It has no `Debug`: a header holds the key.
pub(super) struct Call {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    /// A server on this machine is asked without the proxy that the environment names.
    pub(super) is_loopback: bool,
}

/// What comes back, in this order: one head, pieces of the body, the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Head(Head),
    Bytes(Vec<u8>),
    End,
    Failed(Fault),
}

/// The part of an answer before its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// How long the server asks to be left alone.
    pub(super) wait: Option<Duration>,
}

/// Until when a call may go on.
#[derive(Clone, Copy)]
pub(super) struct Until<'a> {
    /// The end of the whole, all repetitions included.
    pub(super) deadline: Instant,
    /// How long that whole is.
    pub(super) total: Duration,
    /// How long nothing at all may come.
    pub(super) idle: Duration,
    pub(super) watch: &'a dyn Watch,
}

impl Until<'_> {
    /// How long to wait at most before looking again; a fault where it is time to stop.
    fn tick(self, wanted: Duration) -> Result<Duration, Fault> {
        if self.watch.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let seconds = self.total.as_secs_f64();
            return Err(Fault::lasting(
                format!("no whole answer came within {seconds} s"),
                "raise --timeout, or name a smaller region",
            ));
        }
        Ok(TICK.min(left).min(wanted))
    }

    /// Waits, unless it is time to stop.
    pub(super) fn pause(self, wait: Duration) -> Result<(), Fault> {
        let end = Instant::now().checked_add(wait);
        loop {
            let left = end.map_or(wait, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(self.tick(left)?);
        }
    }
}

/// A request that is under way.
pub(super) struct Exchange<'a> {
    pieces: Receiver<Piece>,
    until: Until<'a>,
    last: Instant,
}

impl<'a> Exchange<'a> {
    pub(super) fn begin(call: Call, until: Until<'a>) -> Result<Self, Fault> {
        until.tick(TICK)?;
        let (sender, pieces) = sync_channel(PIECES);
        let left = until.deadline.saturating_duration_since(Instant::now());
        let idle = until.idle;
        let work = move || {
            let end = run(&call, left.saturating_add(SLACK), idle.saturating_add(SLACK), &sender);
            // Whoever no longer listens needs no end.
            let _ = sender.send(end);
        };
        std::thread::Builder::new()
            .name("model".into())
            .spawn(work)
            .map_err(|error| Fault::lasting(format!("no thread can be started: {error}"), "run it again"))?;
        Ok(Self { pieces, until, last: Instant::now() })
    }

    /// The next piece. Every byte of the body counts as a sign of life, those of comments too: a server that sends
    /// them keeps a place in its queue, and the deadline of the whole ends what only they keep open.
    pub(super) fn next(&mut self) -> Result<Piece, Fault> {
        loop {
            let quiet = self.last.elapsed();
            let wait = self.until.tick(self.until.idle.saturating_sub(quiet))?;
            match self.pieces.recv_timeout(wait) {
                Ok(Piece::Failed(fault)) => return Err(fault),
                Ok(piece) => {
                    self.last = Instant::now();
                    return Ok(piece);
                }
                Err(RecvTimeoutError::Timeout) if quiet < self.until.idle => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.until.idle.as_secs_f64();
                    return Err(Fault::Passing {
                        message: format!("nothing came for {seconds} s"),
                        help: "raise --idle-timeout where the model needs long before its first word",
                        wait: None,
                    });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::broken("the connection was lost")),
            }
        }
    }
}

/// Sends the request and hands on what comes back, but for the end.
fn run(call: &Call, total: Duration, idle: Duration, sender: &SyncSender<Piece>) -> Piece {
    let mut config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // A redirect would take the key, and what the log says, to where nobody sent it.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("dshc/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(total))
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_per_read(Some(idle));
    if call.is_loopback {
        config = config.proxy(None);
    }
    let agent: ureq::Agent = config.build().into();
    let mut request = agent
        .post(&call.url)
        .header("accept", "text/event-stream")
        .header("content-type", "application/json");
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let mut answer = match request.send(call.body.as_str()) {
        Ok(answer) => answer,
        Err(error) => return Piece::Failed(fault(&error)),
    };
    let headers = answer.headers();
    let header = |name: &'static str| headers.get(name).and_then(|value| value.to_str().ok());
    let head = Head { status: answer.status().as_u16(), wait: retry::asked(header, SystemTime::now()) };
    if sender.send(Piece::Head(head)).is_err() {
        return Piece::End;
    }
    let mut body = answer.body_mut().as_reader();
    let mut buffer = vec![0; PIECE];
    loop {
        match std::io::Read::read(&mut body, &mut buffer) {
            Ok(0) => return Piece::End,
            Ok(count) => {
                let piece = buffer.get(..count).unwrap_or_default().to_vec();
                if sender.send(Piece::Bytes(piece)).is_err() {
                    return Piece::End;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Piece::Failed(Fault::broken(format!("the stream broke: {error}"))),
        }
    }
}

/// Why no answer began.
fn fault(error: &ureq::Error) -> Fault {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Fault::lasting(
            format!("no encrypted connection: {error}"),
            "check the server's certificate, and whether the base URL should begin with http://",
        ),
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Fault::Passing {
            message: format!("no connection within {} s", CONNECT.as_secs()),
            help: "check --base-url, and whether the server is running",
            wait: None,
        },
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => Fault::lasting(
            format!("the request cannot be sent: {error}"),
            "check --base-url and the proxy's settings",
        ),
        _ => Fault::Passing {
            message: format!("no connection: {error}"),
            help: "check --base-url, and whether the server is running",
            wait: None,
        },
    }
}
