//! Paths, identifiers, numbers and quoted names in running text.

use crate::summarize::text::is_listed;

/// Something worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::summarize) enum Found<'a> {
    /// A file or a folder, without line numbers.
    Path(&'a str),
    /// A hash, address, version, URL, error code or issue number.
    Id(&'a str),
    /// A number of three digits or more.
    Number(&'a str),
    /// A quoted word.
    Name(&'a str),
}

/// Words outside these lengths, in bytes, are no finds.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=200;

/// Endings that make a word without a slash a file.
const ENDINGS: &str = " rs toml lock md json jsonl yaml yml ts tsx js jsx mjs cjs py pyi go java kt swift c h cc cpp \
                       hpp cs rb php sh bash zsh ps1 sql html css scss vue svelte xml txt csv log ini cfg conf env \
                       proto gradle zig ex exs erl hs ml lua dart scala nix tf diff patch ipynb zst zstd gz zip ";

/// Files without an ending.
const FILES: &str = " Makefile Dockerfile Justfile justfile Rakefile Gemfile Procfile LICENSE README CHANGELOG \
                     .gitignore .gitattributes .dockerignore .editorconfig .npmrc .env ";

/// Products whose name looks like a file.
const PRODUCTS: &str = " node.js next.js vue.js nuxt.js three.js express.js react.js d3.js ";

/// System error names: capitals alone do not tell them from shouting.
const ERRNOS: &str = " ENOENT EACCES EPERM EEXIST EISDIR ENOTDIR EINVAL EBUSY EPIPE ENOSPC ENOMEM EMFILE \
                      EADDRINUSE ECONNREFUSED ECONNRESET ETIMEDOUT SIGKILL SIGSEGV SIGTERM SIGABRT ";

/// Hands every path, identifier and number in `text` to `found`, in order.
pub(in crate::summarize) fn scan<'a>(text: &'a str, mut found: impl FnMut(Found<'a>)) {
    for chunk in text.split_whitespace() {
        if chunk.bytes().all(|byte| byte.is_ascii_lowercase()) {
            continue;
        }
        if let Some(url) = url(chunk) {
            found(Found::Id(url));
            continue;
        }
        chunk.split(is_separator).filter_map(find).for_each(&mut found);
    }
}

/// Hands the words in backticks or double quotes to `found`: what a writer marks as a name is one.
pub(in crate::summarize) fn scan_quoted<'a>(text: &'a str, mut found: impl FnMut(Found<'a>)) {
    for line in text.lines().filter(|line| !line.trim_start().starts_with("```")) {
        for mark in ['`', '"'] {
            let quoted = line.split(mark).skip(1).step_by(2).filter(|word| is_quotable(word));
            quoted.for_each(|word| match find(word) {
                Some(Found::Number(_)) | None => found(Found::Name(word)),
                Some(item) => found(item),
            });
        }
    }
}

fn is_quotable(word: &str) -> bool {
    (2..=60).contains(&word.len())
        && word.chars().any(char::is_alphabetic)
        && !word.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '`' | '"'))
}

/// Whether `c` belongs to a word that blanks or signs end; CJK letters stand alone.
pub(in crate::summarize) fn is_of_word(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !is_separator(c))
}

/// CJK text has no blanks around a path, so its letters separate too.
fn is_separator(c: char) -> bool {
    match c {
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '|' | '&' | '=' => {
            true
        }
        _ => matches!(c, '\u{2018}'..='\u{201f}' | '\u{2026}' | '\u{3000}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}'),
    }
}

fn find(word: &str) -> Option<Found<'_>> {
    let word =
        word.trim_start_matches([':', '!', '?', '*', '@']).trim_end_matches(['.', ':', '!', '?', '*', '\\']);
    if !LENGTHS.contains(&word.len()) {
        return None;
    }
    let path = path(word).map(Found::Path);
    path.or_else(|| identifier(word).map(Found::Id))
        .or_else(|| is_number(word).then_some(Found::Number(word)))
}

/// The path that `word` is, if it looks like one.
fn path(word: &str) -> Option<&str> {
    let is_drive = is_drive(word);
    let end = word.find('#').or_else(|| word.find(':').filter(|_| !is_drive)).unwrap_or(word.len());
    let word = without_diff_side(word.get(..end)?.trim_start_matches("./"));
    if !word.chars().all(is_path_char) || !word.contains(char::is_alphabetic) || word.contains("//") {
        return None;
    }
    let word = word.trim_end_matches(['/', '\\']);
    let looks_like_one = match word.rsplit_once(['/', '\\']) {
        Some((_, last)) => has_ending(last) || is_listed(FILES, last),
        None => is_file_name(word),
    };
    looks_like_one.then_some(word)
}

/// Whether nobody wrote this file here: it was built, installed, or is git's own.
pub(in crate::summarize) fn is_built(path: &str) -> bool {
    let folders = || path.split(['/', '\\']);
    let is_below_target =
        |pair: (&str, &str)| pair.0 == "target" && matches!(pair.1, "debug" | "release" | "doc");
    folders().next() == Some("target")
        || folders().any(|folder| matches!(folder, "node_modules" | ".git"))
        || folders().zip(folders().skip(1)).any(is_below_target)
}

fn is_drive(word: &str) -> bool {
    matches!(word.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// `a/src/x.rs` and `b/src/x.rs` of a diff are one file.
fn without_diff_side(word: &str) -> &str {
    let rest = word.strip_prefix("a/").or_else(|| word.strip_prefix("b/"));
    rest.filter(|rest| rest.contains('/') || is_file_name(rest)).unwrap_or(word)
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+' | '~' | '%' | '\\' | '$' | ':')
}

fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        ending.len() <= 8
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn is_file_name(word: &str) -> bool {
    is_listed(FILES, word)
        || word.rsplit_once('.').is_some_and(|(stem, ending)| {
            stem.contains(char::is_alphanumeric)
                && is_listed(ENDINGS, ending)
                && !is_listed(PRODUCTS, &word.to_ascii_lowercase())
        })
}

fn url(chunk: &str) -> Option<&str> {
    let (scheme, _) = chunk.split_once("://")?;
    let letters = scheme.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    let url = chunk.get(scheme.len() - letters..)?;
    let end = url
        .find(|c| matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '}' | '|') || !char::is_ascii(&c));
    let url = url.get(..end.unwrap_or(url.len()))?.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    (letters > 1 && url.len() > scheme.len() + 4 && LENGTHS.contains(&url.len())).then_some(url)
}

fn identifier(word: &str) -> Option<&str> {
    let bare = word.strip_prefix("sha256:").unwrap_or(word);
    let is_one = is_address(bare)
        || is_hash(bare)
        || is_uuid(bare)
        || is_version(bare)
        || is_code(bare)
        || bare.strip_prefix('#').is_some_and(|rest| rest.len() <= 6 && is_digits(rest))
        || is_listed(ERRNOS, bare);
    is_one.then_some(bare)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_address(word: &str) -> bool {
    word.strip_prefix("0x")
        .is_some_and(|rest| rest.len() > 1 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_hash(word: &str) -> bool {
    (7..=64).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// `1.2.3`, `v1.2`, `0.1.0-rc.8`, `127.0.0.1:8080`.
pub(in crate::summarize) fn is_version(word: &str) -> bool {
    let rest = word.strip_prefix('v').unwrap_or(word);
    let main = rest.split(['-', '+', ':']).next().unwrap_or(rest);
    let wanted = if rest.len() < word.len() { 2 } else { 3 };
    main.split('.').all(is_digits) && main.split('.').count() >= wanted
}

/// `E0502`, `TS2345`, `PROJ-123`, `CVE-2024-1234`.
fn is_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    (1..=8).contains(&letters)
        && digits.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
        && digits.bytes().filter(u8::is_ascii_digit).count() > 1
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && !digits.contains("--")
}

/// `4096`, `1_000_000`, `3.125`, `2026-01-31`, `1500ms`: a run of three digits, and a unit of three letters at most.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let is_sign = |c: char| matches!(c, '.' | '_' | '-');
    word.len() - digits.len() <= 3
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || is_sign(c))
        && digits.split(is_sign).any(|run| run.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        scan(text, |item| found.push(item));
        found
    }

    #[test]
    fn paths_are_told_from_prose() {
        let text = "read ./src/main.rs:12:5, (crates/core) and/or 1/2 b/src/log/mod.rs; /usr/lib/libc.so \
                    修改src/lib.rs文件 C:\\proj\\a.ts README.md, Node.js e.g. </s> Cargo.toml. src/a.rs#L10 \
                    application/json a/b/c docs/";
        let expected = "src/main.rs src/log/mod.rs /usr/lib/libc.so src/lib.rs C:\\proj\\a.ts README.md Cargo.toml \
                        src/a.rs";
        let paths: Vec<_> = all(text)
            .into_iter()
            .filter_map(|it| if let Found::Path(it) = it { Some(it) } else { None })
            .collect();
        assert_eq!(paths.join(" "), expected);
    }

    #[test]
    fn built_files_are_known() {
        assert!(
            ["target/x/a.rs", "/b/target/debug/deps/c", "d/node_modules/e.js", ".git/f"]
                .into_iter()
                .all(is_built)
        );
        assert!(!["src/target/mod.rs", "target.rs", "src/a.rs"].into_iter().any(is_built));
    }

    #[test]
    fn identifiers_are_found() {
        let text = "0x7f3a error[E0502] TS2345: (see https://a.b/c?x=1&y=2). commit 3fa9c1d v1.2 0.1.0-rc.8 1.95 \
                    ENOENT ERROR #123 127.0.0.1:8080 73860f6c-da98-4818-89eb-5f5cc218ab7d deadbeef UTF-8";
        let expected = "0x7f3a E0502 TS2345 https://a.b/c?x=1&y=2 3fa9c1d v1.2 0.1.0-rc.8 ENOENT #123 127.0.0.1:8080 \
                        73860f6c-da98-4818-89eb-5f5cc218ab7d";
        let ids: Vec<_> = all(text)
            .into_iter()
            .filter_map(|it| if let Found::Id(it) = it { Some(it) } else { None })
            .collect();
        assert_eq!(ids.join(" "), expected);
    }

    #[test]
    fn numbers_have_three_digits_in_a_row() {
        let text =
            "4096, 12 99.9 3.125 (1_000_000) 2026-01-31 1500ms 250% 12ms 1-2-3 123abcd a123 -12 x=8080";
        let numbers: Vec<_> = all(text)
            .into_iter()
            .filter_map(|it| if let Found::Number(it) = it { Some(it) } else { None })
            .collect();
        assert_eq!(numbers, ["4096", "3.125", "1_000_000", "2026-01-31", "1500ms", "250%", "8080"]);
    }

    #[test]
    fn quoted_words_are_found() {
        let mut quoted = Vec::new();
        scan_quoted("the `Region` in \"quoted\" `src/a.rs` `two words`\n```rust\n`x`", |f| quoted.push(f));
        assert_eq!(quoted, [Found::Name("Region"), Found::Path("src/a.rs"), Found::Name("quoted")]);
    }

    #[test]
    fn odd_words_do_no_harm() {
        for text in [
            "",
            " ",
            "[",
            "]x[",
            "://",
            "a://",
            "[E1",
            ":",
            "/",
            "//",
            "\\",
            "#",
            "`",
            "日[E0502]",
            "0x",
            "v",
        ] {
            scan(text, |_| ());
            scan_quoted(text, |_| ());
        }
    }
}
