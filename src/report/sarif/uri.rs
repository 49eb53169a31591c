//! A path as a URI reference.

use std::path::{Component, Path};

/// The path as it was given, `/`-separated and percent-encoded (RFC 3986): a relative one stays relative, an absolute
/// one gets the scheme `file`. Bytes that are no UTF-8 are kept.
pub(super) fn of(path: &Path) -> String {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "" });
    let mut is_first = true;
    for component in path.components() {
        match component {
            Component::CurDir => continue,
            Component::RootDir => {
                uri.push('/');
                is_first = true;
                continue;
            }
            // `C:` is a segment of its own: `file:///C:/logs`.
            Component::Prefix(_) => uri.push('/'),
            Component::ParentDir | Component::Normal(_) if !is_first => uri.push('/'),
            Component::ParentDir | Component::Normal(_) => {}
        }
        is_first = false;
        encode(component.as_os_str().as_encoded_bytes(), &mut uri);
    }
    uri
}

fn encode(segment: &[u8], uri: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in segment {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
            uri.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::path::Path;

    #[test]
    fn paths_stay_as_they_were_given() {
        for (path, uri) in [
            ("logs/a b/session.jsonl", "logs/a%20b/session.jsonl"),
            ("./logs//session.jsonl", "logs/session.jsonl"),
            ("../x/./y.jsonl", "../x/y.jsonl"),
            ("c:x#?%.jsonl", "c%3Ax%23%3F%25.jsonl"),
            ("会.jsonl", "%E4%BC%9A.jsonl"),
        ] {
            assert_eq!(of(Path::new(path)), uri);
        }
    }

    #[cfg(unix)]
    #[test]
    fn absolute_paths_and_odd_bytes_are_named_too() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(of(Path::new("/var/a:b")), "file:///var/a%3Ab");
        assert_eq!(of(Path::new(std::ffi::OsStr::from_bytes(b"a\\b\xff"))), "a%5Cb%FF");
    }
}
