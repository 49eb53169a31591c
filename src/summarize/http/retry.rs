//! When to ask again: how long a server wants to be left alone, and how long to wait where it does not say.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait that no server asked for.
const LONGEST: Duration = Duration::from_secs(8);

/// Whether a call that was answered with this status may go better the next time.
pub(super) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// The wait before the `number`th repetition, counted from 0: twice the one before, less up to a quarter of it, by
/// `jitter` of 0 to 1, so that callers who were turned away together do not come back together.
pub(super) fn backoff(number: u32, jitter: f64) -> Duration {
    let whole = FIRST.saturating_mul(2_u32.saturating_pow(number)).min(LONGEST);
    whole.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 4.0)
}

/// A number of 0 to 1 that nobody can foretell.
pub(super) fn jitter() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// The wait that headers ask for: `retry-after-ms` (OpenAI), else `Retry-After` in seconds or as a date (RFC 9110
/// §10.2.3). A date that has passed is no wait.
pub(super) fn asked<'h>(
    header: impl Fn(&'static str) -> Option<&'h str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let duration = |seconds| Duration::try_from_secs_f64(seconds).ok();
    if let Some(milliseconds) = header("retry-after-ms").and_then(number) {
        return duration(milliseconds / 1_000.0);
    }
    let text = header("retry-after")?;
    match number(text) {
        Some(seconds) => duration(seconds),
        None => httpdate::parse_http_date(text.trim())
            .ok()
            .map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_twofold_up_to_a_limit() {
        let waits: Vec<u128> = (0..7).map(|number| backoff(number, 0.0).as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert_eq!(backoff(1, 1.0).as_millis(), 750);
        assert_eq!(backoff(u32::MAX, 0.5).as_millis(), 7_000);
        assert!((0..100).all(|_| (0.0..=1.0).contains(&jitter())));
    }

    #[test]
    fn a_server_says_how_long_to_wait() {
        let now = httpdate::parse_http_date("Mon, 30 Nov 2026 12:00:00 GMT").unwrap();
        let asked = |after: Option<&'static str>, milliseconds: Option<&'static str>| {
            asked(|name| if name == "retry-after" { after } else { milliseconds }, now)
        };
        assert_eq!(asked(Some("7"), None), Some(Duration::from_secs(7)));
        assert_eq!(asked(Some("0.5"), None), Some(Duration::from_millis(500)));
        assert_eq!(asked(Some("7"), Some("250")), Some(Duration::from_millis(250)));
        assert_eq!(asked(Some("Mon, 30 Nov 2026 12:01:30 GMT"), None), Some(Duration::from_secs(90)));
        assert_eq!(asked(Some("Mon, 30 Nov 2026 11:00:00 GMT"), None), Some(Duration::ZERO));
        for none in ["-1", "soon", "", "NaN", "1e300"] {
            assert_eq!(asked(Some(none), None), None, "{none}");
        }
        assert_eq!(asked(None, None), None);
    }

    #[test]
    fn what_may_pass_is_told_by_the_status() {
        let passing: Vec<u16> = (300..600).filter(|status| may_pass(*status)).collect();
        assert_eq!(passing.len(), 103);
        assert!([408, 409, 429, 500, 503, 529].iter().all(|status| passing.contains(status)));
    }
}
