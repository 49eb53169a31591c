//! Where in a payload something stands, in words: `data.message.content[0].text`.

use super::wording::quoted;
use crate::json::{self, Kind, Object, Raw};
use std::ops::Range;

/// How many levels of a path are spelt.
const DEEPEST: usize = 64;

/// The path to the value, or the member's name, in which byte `at` of the payload stands; to the outermost value that
/// begins there.
pub(super) fn path(data: Raw, at: usize) -> String {
    let mut path = "data".to_owned();
    let mut value = data;
    for _ in 0..DEEPEST {
        if range_in(data, value).start == at {
            return path;
        }
        let next = match json::kind(value) {
            Kind::Object => Object::of(value).and_then(|object| {
                let mut members = object.members();
                let (name, inner) = members.find(|(_, inner)| range_in(data, *inner).contains(&at))?;
                Some((step(&name.to_str()), inner))
            }),
            Kind::Array => json::array(value).and_then(|elements| {
                let index = elements.iter().position(|inner| range_in(data, *inner).contains(&at))?;
                Some((format!("[{index}]"), elements[index]))
            }),
            _ => return path,
        };
        match next {
            Some((step, inner)) => {
                path.push_str(&step);
                value = inner;
            }
            None => return format!("the name of a member of {path}"),
        }
    }
    format!("{path}…")
}

/// The way from an object to its member `name`.
pub(super) fn step(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_plain) && name.len() <= 80 {
        format!(".{name}")
    } else {
        format!("[{}]", quoted(name))
    }
}

/// Where `inner`, which was read from `outer`, stands in its text.
pub(super) fn range_in(outer: Raw, inner: Raw) -> Range<usize> {
    let start = (inner.get().as_ptr() as usize).saturating_sub(outer.get().as_ptr() as usize);
    start..start + inner.get().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_members_and_elements() {
        let data = json::leaked(r#"{"a":[{"b":1},{"odd name":["x"]}]}"#);
        let at = |needle: &str| path(data, data.get().find(needle).unwrap());
        assert_eq!(at("{\"a\""), "data");
        assert_eq!(at("[{"), "data.a");
        assert_eq!(at("{\"odd"), "data.a[1]");
        assert_eq!(at("[\"x"), "data.a[1][\"odd name\"]");
        assert_eq!(at("x\""), "data.a[1][\"odd name\"][0]");
        assert_eq!(at("b\":"), "the name of a member of data.a[0]");
    }
}
