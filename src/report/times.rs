//! Times as people and tables read them.

use jiff::Timestamp;

/// A time in milliseconds of the Unix epoch, by RFC 3339 in UTC to the second; the number itself where no calendar
/// reaches.
pub(super) fn in_utc(milliseconds: i64) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(time) => format!("{:.0}", time.round(jiff::Unit::Second).unwrap_or(time)),
        Err(_) => milliseconds.to_string(),
    }
}
