//! Models behind HTTP: chat completions of any OpenAI-compatible server, and Anthropic's messages, both streamed.
//!
//! A `server` says where to ask, and `terms` what not every server takes; a dialect (`openai`, `anthropic`) words the
//! request and takes the events of the answer into a `draft`, which tells whether it will do. `exchange` moves the
//! bytes under deadlines, `sse` cuts them into events, and a `fault` says whether another try makes sense.

mod address;
mod anthropic;
mod draft;
mod exchange;
mod fault;
mod key;
mod openai;
mod presets;
mod refusal;
mod retry;
mod server;
mod sse;
mod terms;
mod words;

#[cfg(test)]
mod tests;

pub use key::Key;
pub use server::{Dialect, Server, ServerError};

use super::{Answer, Model, Prompt, SummarizeError, Watch};
use draft::Draft;
use exchange::{Call, Exchange, Head, Piece, Until};
use fault::Fault;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use terms::Terms;

/// The most that is read of an answer that tells an error, and kept of one that is no stream of events, in bytes.
const MOST_OF_ERROR: usize = 64 << 10;

/// How long an answer may take, and how often it may be asked for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For the whole: all tries, and the waits between them.
    pub total: Duration,
    /// For nothing at all to come.
    pub idle: Duration,
    /// Tries after the first, where a failure may pass.
    pub retries: u32,
}

/// A model behind HTTP.
#[derive(Debug)]
pub struct Remote {
    server: Server,
    key: Option<Key>,
    name: String,
    max_tokens: u64,
    limits: Limits,
    /// What the server has been found to take.
    terms: Mutex<Terms>,
}

impl Remote {
    /// The model of this name, which may write `max_tokens` in one answer.
    #[must_use]
    pub fn new(server: Server, key: Option<Key>, name: String, max_tokens: u64, limits: Limits) -> Self {
        let terms = Mutex::new(server.terms());
        Self { server, key, name, max_tokens, limits, terms }
    }

    /// Asks until there is an answer, or no sense in asking again.
    fn ask_on(&self, prompt: &Prompt, until: Until) -> Result<Answer, Fault> {
        let mut failures = 0;
        loop {
            let terms = *self.terms.lock().unwrap_or_else(PoisonError::into_inner);
            let fault = match self.ask_once(prompt, terms, until) {
                Err(fault) => fault,
                done => return done,
            };
            match fault {
                // Not counted as a try: each member can be given up only once.
                Fault::Refused { ref words, .. } => {
                    let Some(other) = terms.instead(words) else { return Err(fault) };
                    *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = other;
                }
                Fault::Passing { message, help, wait } if failures < self.limits.retries => {
                    let wait = wait.unwrap_or_else(|| retry::backoff(failures, retry::jitter()));
                    failures += 1;
                    let seconds = wait.as_secs_f64();
                    if wait >= until.deadline.saturating_duration_since(Instant::now()) {
                        let message =
                            format!("{message}; asking again in {seconds:.1} s would pass --timeout");
                        return Err(Fault::Passing { message, help, wait: None });
                    }
                    let message = self.redact(&message);
                    until.watch.stage(&format!("trying again in {seconds:.1} s ({message})"));
                    until.pause(wait)?;
                    until.watch.stage(&format!("asking {}", self.name));
                }
                Fault::Passing { message, help, wait } if failures > 0 => {
                    let message = format!("{message} (asked {} times)", u64::from(failures) + 1);
                    return Err(Fault::Passing { message, help, wait });
                }
                fault => return Err(fault),
            }
        }
    }

    fn ask_once(&self, prompt: &Prompt, terms: Terms, until: Until) -> Result<Answer, Fault> {
        let mut exchange = Exchange::begin(self.call(prompt, terms)?, until)?;
        let head = loop {
            if let Piece::Head(head) = exchange.next()? {
                break head;
            }
        };
        if head.status != 200 {
            return Err(self.refusal(head, &mut exchange));
        }
        let mut draft = Draft::new(terms.cap_for(self.max_tokens));
        self.read(&mut exchange, &mut draft, until.watch)?;
        // The events of an answer may part a key that none of them holds.
        draft.finish().map(|answer| Answer { text: self.redact_answer(&answer.text).into_owned(), ..answer })
    }

    fn call(&self, prompt: &Prompt, terms: Terms) -> Result<Call, Fault> {
        let word = match self.server.dialect {
            Dialect::OpenAi => openai::body,
            Dialect::Anthropic => anthropic::body,
        };
        let body = word(&self.name, prompt, self.max_tokens, terms).map_err(|error| {
            Fault::lasting(format!("the request cannot be written: {error}"), "report this")
        })?;
        let mut headers = Vec::new();
        if self.server.dialect == Dialect::Anthropic {
            headers.push(("anthropic-version", anthropic::VERSION.to_owned()));
        }
        headers.extend(self.key.as_ref().map(|key| match self.server.dialect {
            Dialect::OpenAi => ("authorization", format!("Bearer {}", key.secret())),
            Dialect::Anthropic => ("x-api-key", key.secret().to_owned()),
        }));
        Ok(Call { url: self.server.endpoint.clone(), headers, body, is_loopback: self.server.is_loopback })
    }

    /// Reads the stream of events to its end. A connection that breaks, or is held open beyond a deadline, after the
    /// model has said that it stopped has nothing more to bring but figures.
    fn read(&self, exchange: &mut Exchange, draft: &mut Draft, watch: &dyn Watch) -> Result<(), Fault> {
        let take = match self.server.dialect {
            Dialect::OpenAi => openai::take,
            Dialect::Anthropic => anthropic::take,
        };
        // Before a message shows a part of it, at whose edge half a key would be none.
        let take = |data: &str, draft: &mut Draft| take(&self.redact_answer(data), draft);
        let mut reader = sse::Reader::default();
        let (mut events, mut any, mut begin) = (Vec::new(), false, Vec::new());
        loop {
            let bytes = match exchange.next() {
                Ok(Piece::Bytes(bytes)) => bytes,
                Ok(Piece::End) => break,
                Ok(_) => continue,
                Err(Fault::Cancelled) => return Err(Fault::Cancelled),
                Err(_) if self.is_whole(draft) => return Ok(()),
                Err(fault) => return Err(fault),
            };
            if !any && begin.len() < MOST_OF_ERROR {
                begin.extend_from_slice(&bytes);
            }
            let overlong = |_| Fault::lasting("the server sends a line without end", "check --base-url");
            reader.push(&bytes, &mut events).map_err(overlong)?;
            for data in events.drain(..) {
                any = true;
                if take(&data, draft)? {
                    return Ok(());
                }
            }
            watch.received(draft.tokens());
        }
        if let Some(data) = reader.finish() {
            any = true;
            if take(&data, draft)? {
                return Ok(());
            }
        }
        match any {
            true if self.is_whole(draft) => Ok(()),
            true => Err(Fault::broken("the stream ended before its end mark")),
            false => Err(self.no_stream(&begin)),
        }
    }

    /// Whether all that counts has come. Anthropic's last event is part of every whole answer; some servers that
    /// speak OpenAI's dialect leave `[DONE]` out.
    fn is_whole(&self, draft: &Draft) -> bool {
        self.server.dialect == Dialect::OpenAi && draft.stop.is_some()
    }

    /// The fault of an answer with another status than 200, whose body is read as far as it comes.
    fn refusal(&self, head: Head, exchange: &mut Exchange) -> Fault {
        let mut body = Vec::new();
        while body.len() < MOST_OF_ERROR {
            match exchange.next() {
                Ok(Piece::Bytes(bytes)) => body.extend(bytes),
                Err(Fault::Cancelled) => return Fault::Cancelled,
                Ok(_) | Err(_) => break,
            }
        }
        let body = self.redact(&String::from_utf8_lossy(&body));
        refusal::of_answer(head, &body, &self.server, self.key.as_ref())
    }

    /// The fault of an answer without any event.
    fn no_stream(&self, begin: &[u8]) -> Fault {
        let body = self.redact(&String::from_utf8_lossy(begin));
        let shown = words::shown(&words::of_body(body.as_bytes()).message);
        Fault::broken(if shown.is_empty() {
            "the answer is empty".to_owned()
        } else {
            format!("the answer is no stream of events: {shown}")
        })
    }

    /// A message that says which server it is about.
    fn placed(&self, message: &str) -> String {
        let place = &self.server.place;
        if message.contains(place.as_str()) { message.to_owned() } else { format!("{place}: {message}") }
    }

    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    fn redact_answer<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.key.as_ref().map_or(Cow::Borrowed(text), |key| key.redact_answer(text))
    }
}

impl Model for Remote {
    fn kind(&self) -> &'static str {
        match self.server.dialect {
            Dialect::OpenAi => "openai",
            Dialect::Anthropic => "anthropic",
        }
    }

    fn provider(&self) -> &str {
        self.server.provider()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn max_tokens(&self) -> Option<u64> {
        Some(self.max_tokens)
    }

    fn ask(&self, prompt: &Prompt, watch: &dyn Watch) -> Result<Answer, SummarizeError> {
        watch.stage(&format!("asking {}", self.name));
        let now = Instant::now();
        let deadline = now.checked_add(self.limits.total).unwrap_or(now);
        let until = Until { deadline, total: self.limits.total, idle: self.limits.idle, watch };
        self.ask_on(prompt, until).map_err(|fault| {
            let failed = |message: &str, help: &str| SummarizeError::Failed {
                message: self.redact(&self.placed(message)),
                help: self.redact(help),
            };
            match fault {
                Fault::Cancelled => SummarizeError::Cancelled,
                Fault::Passing { message, help, .. } => failed(&message, help),
                Fault::Lasting { message, help } | Fault::Refused { message, help, .. } => {
                    failed(&message, &help)
                }
            }
        })
    }
}

/// The fault of an event whose data is no JSON, or none that an event can be: a stream that lost bytes.
fn no_json(data: &str, error: &serde_json::Error) -> Fault {
    let shown = words::shown(data);
    Fault::broken(format!("the stream holds an event that is no JSON ({error}): {shown}"))
}
