//! Server-sent events: bytes in, however they are split, and each event's data out.
//!
//! Of the format (WHATWG HTML, "Server-sent events") only the data counts here: both dialects say in it what an
//! event is. Comments, which servers send to keep a connection open, and other fields are passed over.

use memchr::memchr2;

/// The most bytes of one line, and of one event's data: far more than any event of a model, and a server that sends
/// a line without an end must not fill the memory.
const MOST: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A line, or an event, is longer than [`MOST`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overlong;

/// Where in a stream of events the reading stands.
#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last line ended in CR: an LF that comes now belongs to it.
    after_cr: bool,
    has_begun: bool,
}

impl Reader {
    /// Reads on and adds the data of each event that ends to `events`. Bytes that are no UTF-8 become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), Overlong> {
        let mut rest = bytes;
        while let Some((first, behind)) = rest.split_first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = behind;
                continue;
            }
            let Some((line, [end, behind @ ..])) =
                memchr2(b'\n', b'\r', rest).and_then(|at| rest.split_at_checked(at))
            else {
                return self.hold(rest);
            };
            self.hold(line)?;
            self.after_cr = *end == b'\r';
            self.end_line(events)?;
            rest = behind;
        }
        Ok(())
    }

    /// The stream has ended: the data of an event that no blank line closed. Some servers leave that line out.
    pub(super) fn finish(mut self) -> Option<String> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events).ok()?;
        }
        self.take_event()
    }

    /// An event whose data is empty is none: some servers keep a connection open with it.
    fn take_event(&mut self) -> Option<String> {
        self.data.take().filter(|data| !data.is_empty()).map(into_text)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Overlong> {
        if bytes.len() > MOST - self.line.len() {
            return Err(Overlong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<String>) -> Result<(), Overlong> {
        let held = std::mem::take(&mut self.line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = held.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(&held);
        if line.is_empty() {
            events.extend(self.take_event());
            return Ok(());
        }
        let Some(value) = line.strip_prefix(b"data") else { return Ok(()) };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return Ok(()),
        };
        match &mut self.data {
            Some(data) if value.len() >= MOST.saturating_sub(data.len()) => return Err(Overlong),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        Ok(())
    }
}

fn into_text(data: Vec<u8>) -> String {
    String::from_utf8(data).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The events of a stream that comes in these pieces, and what its end leaves.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, Option<String>) {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece, &mut events).unwrap();
        }
        (events, reader.finish())
    }

    #[test]
    fn data_is_what_counts() {
        let stream = "\u{feff}: keep-alive\n\nevent: ping\r\ndata: {\"a\":1}\r\n\r\n\n\nid: 7\ndata:x\ndata:  y\n\ndatum: z\n\ndata\n\ndata: \n\n";
        let (events, rest) = read([stream.as_bytes()]);
        assert_eq!(events, ["{\"a\":1}", "x\n y"]);
        assert_eq!(rest, None);
    }

    #[test]
    fn every_line_end_is_one() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = ["data: a", "data: b", "", "data: c", "", ""].join(end);
            assert_eq!(read([stream.as_bytes()]).0, ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn an_event_that_no_blank_line_closes_is_told_at_the_end() {
        assert_eq!(read([b"data: [DONE]".as_slice()]), (vec![], Some("[DONE]".into())));
        assert_eq!(read([b"data: [DONE]\n".as_slice()]), (vec![], Some("[DONE]".into())));
        assert_eq!(read([b": so long".as_slice()]), (vec![], None));
    }

    #[test]
    fn a_line_without_end_and_an_event_without_end_are_cut_off() {
        let mut events = Vec::new();
        let mut reader = Reader::default();
        let piece = vec![b'x'; MOST / 2];
        assert_eq!(reader.push(&piece, &mut events), Ok(()));
        assert_eq!(reader.push(&piece, &mut events), Ok(()));
        assert_eq!(reader.push(b"x", &mut events), Err(Overlong));

        let mut reader = Reader::default();
        let line = [b"data:".as_slice(), &piece, b"\n"].concat();
        assert_eq!(reader.push(&line, &mut events), Ok(()));
        assert_eq!(reader.push(&line, &mut events), Err(Overlong));
        assert!(events.is_empty());
    }

    #[test]
    fn what_is_no_utf_8_is_replaced() {
        assert_eq!(read([b"data: a\xffb\n\n".as_slice()]).0, ["a\u{fffd}b"]);
    }

    proptest! {
        #[test]
        fn events_are_the_same_however_the_bytes_are_split(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just(String::new()),
                    "data: ?[a-zé😀]{0,6}",
                    Just(": keep-alive".to_owned()),
                    "[a-z:\u{feff}]{0,5}"
                ],
                0..12
            ),
            ends in proptest::collection::vec(prop_oneof![Just("\n"), Just("\r"), Just("\r\n")], 12),
            cuts in proptest::collection::vec(1usize..5, 1..8),
        ) {
            let stream: String = lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_str(), end]).collect();
            let mut pieces = Vec::new();
            let (mut rest, mut turn) = (stream.as_bytes(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at((*turn.next().unwrap()).min(rest.len()));
                pieces.push(piece);
                rest = behind;
            }
            prop_assert_eq!(read(pieces), read([stream.as_bytes()]));
        }
    }
}
