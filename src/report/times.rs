//! Times as people and tables read them.

use jiff::Timestamp;

/// A time in milliseconds of the Unix epoch, by RFC 3339 in UTC: the second in which it lies. The number itself where
/// no calendar reaches.
pub(super) fn in_utc(milliseconds: i64) -> String {
    let second = Timestamp::from_second(milliseconds.div_euclid(1000));
    second.map_or_else(|_| milliseconds.to_string(), |second| second.to_string())
}

#[cfg(test)]
mod tests {
    use super::in_utc;

    #[test]
    fn times_are_told_in_utc_to_the_second() {
        assert_eq!(in_utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(in_utc(-1), "1969-12-31T23:59:59Z");
        assert_eq!(in_utc(1_796_026_717_999), "2026-11-30T08:18:37Z");
        assert_eq!(in_utc(i64::MAX), i64::MAX.to_string());
    }
}
