//! What a tool call is about and what it runs, read from its arguments.

use crate::json::{self, Document, Kind, Object};
use crate::summarize::text::{fold, is_listed, split};

/// Arguments that name files or folders.
const PATH_KEYS: &str = " path file file_path filepath filePath filename file_name target_file notebook_path \
                         directory dir folder old_path new_path paths files ";

/// Arguments that are run.
const COMMAND_KEYS: &str = " command cmd script commands ";

/// They look and do not judge: error-like lines in what they print are no errors.
const READERS: &str = " cat head tail less more ls find fd grep egrep rg ag sed awk wc echo printf pwd which tree stat \
                       file diff jq sort uniq cut sleep date env type du df ";

/// Parts of git that only look.
const GIT_READERS: &str = " show diff log status grep blame branch remote rev-parse ls-files config ";

/// Words in front of the program.
const WRAPPERS: &str = " sudo env time nohup exec command then do else if while until ! { ( ";

/// Words of the shell itself.
const SILENT: &str = " cd export set unset source true false for in done fi esac case test exit return break continue \
                      local read wait trap shift ";

/// Arguments that hold a patch, whose file lines name files.
const PATCH_KEYS: &str = " patch diff input ";

/// Lines of a patch that name a file.
const PATCH_LINES: [&str; 5] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];

/// Other arguments are read only if they are this short, in bytes: longer ones are contents.
pub(super) const SHORT: usize = 500;

/// How much of a patch or of a command is read.
const MOST_READ: usize = 64 * 1024;

/// How many arguments of a call are read.
const MOST_ARGUMENTS: usize = 64;

/// How many files one call may name.
const MOST_PATHS: usize = 64;

/// The most that a subject is kept of, in UTF-16 code units.
pub(in crate::summarize) const SUBJECT: usize = 160;

/// A call, read.
#[derive(Debug, Default)]
pub(in crate::summarize) struct Call {
    /// What it is about, on one line: the command, a path, or another short argument.
    pub subject: String,
    /// The command that it runs.
    pub command: Option<String>,
    /// The files that its arguments name.
    pub paths: Vec<String>,
    /// Other short arguments.
    pub others: Vec<String>,
    /// A list of jobs: what is to be done, and whether it is done.
    pub jobs: Vec<(String, bool)>,
}

/// Reads the arguments of a call of `tool`.
pub(in crate::summarize) fn read(tool: &str, arguments: &str) -> Call {
    let mut call = Call::default();
    let arguments_read = json::parse(arguments).ok();
    match arguments_read.as_ref().and_then(Document::object) {
        Some(object) => {
            // Looking a name up again makes the last of a repeated key win; the cap keeps that cheap.
            for name in object.names().take(MOST_ARGUMENTS) {
                let name = name.to_str();
                if let Some(value) = object.get(&name) {
                    call.take(&name, value);
                }
            }
        }
        None if is_shell(tool) && !arguments.trim().is_empty() => call.command = Some(head(arguments)),
        None if arguments.len() <= SHORT => call.others.push(arguments.to_owned()),
        None => {}
    }
    let subject = call.command.as_ref().or(call.paths.first()).or(call.others.first());
    call.subject = subject.map(|subject| fold(subject, SUBJECT).replace('`', "'")).unwrap_or_default();
    call
}

/// Whether a tool of this name runs commands.
fn is_shell(tool: &str) -> bool {
    names_any(tool, &["bash", "shell", "exec", "terminal", "command"])
}

/// Whether a tool of this name changes files.
pub(in crate::summarize) fn edits(tool: &str) -> bool {
    names_any(tool, &["edit", "write", "patch", "replace", "create", "insert"])
}

fn names_any(tool: &str, parts: &[&str]) -> bool {
    let tool = tool.to_ascii_lowercase();
    parts.iter().any(|part| tool.contains(part))
}

fn head(text: &str) -> String {
    split(text, MOST_READ).0.to_owned()
}

impl Call {
    fn take(&mut self, name: &str, value: json::Raw) {
        match json::kind(value) {
            Kind::String => {
                let Some(text) = json::text(value) else { return };
                self.take_text(name, &text.to_str());
            }
            Kind::Array if is_listed(COMMAND_KEYS, name) => self.command = Some(joined(value)),
            Kind::Array if is_listed(PATH_KEYS, name) => {
                for path in strings(value) {
                    self.take_path(&path);
                }
            }
            Kind::Array => self.take_jobs(value),
            _ => {}
        }
    }

    fn take_text(&mut self, name: &str, text: &str) {
        if is_listed(COMMAND_KEYS, name) {
            self.command = Some(head(text));
        } else if is_listed(PATH_KEYS, name) && !text.contains('\n') && !text.contains("://") {
            self.take_path(text);
        } else if is_listed(PATCH_KEYS, name) {
            let (read, _) = split(text, MOST_READ);
            for line in read.lines() {
                if let Some(path) = PATCH_LINES.iter().find_map(|start| line.strip_prefix(start)) {
                    self.take_path(path);
                }
            }
        } else if text.len() <= SHORT {
            self.others.push(text.to_owned());
        }
    }

    fn take_path(&mut self, path: &str) {
        let path = fold(path, 400).replace('`', "'");
        let path = path.strip_prefix("./").unwrap_or(&path);
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        if !path.is_empty() && self.paths.len() < MOST_PATHS && !self.paths.iter().any(|known| known == path)
        {
            self.paths.push(path.to_owned());
        }
    }

    /// Arrays of objects such as `{"content": "…", "status": "completed"}`.
    fn take_jobs(&mut self, value: json::Raw) {
        for item in json::array(value).unwrap_or_default() {
            let Some(object) = Object::of(item) else { continue };
            let text = |keys: [&str; 2]| keys.iter().find_map(|key| object.text(key));
            if let (Some(job), Some(status)) = (text(["content", "title"]), text(["status", "state"])) {
                let done = ["completed", "done", "cancelled"].iter().any(|word| status == **word);
                self.jobs.push((job.to_str().into_owned(), done));
            }
        }
    }
}

fn strings(value: json::Raw) -> Vec<String> {
    let items = json::array(value).unwrap_or_default();
    items.into_iter().filter_map(json::text).map(|text| text.to_str().into_owned()).collect()
}

/// `["bash", "-lc", "cargo test"]` runs `cargo test`.
fn joined(value: json::Raw) -> String {
    let words = strings(value);
    match words.as_slice() {
        [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => head(command),
        _ => head(&words.join(" ")),
    }
}

/// What a shell command runs.
#[derive(Debug, Default, PartialEq)]
pub(in crate::summarize) struct Command {
    /// The programs that it runs, without their folders.
    pub programs: Vec<String>,
    /// Whether it only looks at things.
    pub only_reads: bool,
}

/// Reads a command up to a here-document: the first word of each segment, none inside quotes.
pub(in crate::summarize) fn command(command: &str) -> Command {
    let bare = unquoted(command);
    let (shell, _) = bare.split_once("<<").unwrap_or((&bare, ""));
    let mut read = Command { programs: Vec::new(), only_reads: true };
    for segment in shell.split(['\n', ';', '|', '&']).filter(|part| !part.trim_start().starts_with('#')) {
        let mut words = segment.split_whitespace().skip_while(|word| is_in_front(word));
        let name = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        if !is_program(name) || is_listed(SILENT, name) {
            continue;
        }
        let mut arguments = words.clone().filter(|word| !word.starts_with('-'));
        let only_reads = match name {
            "git" => is_listed(GIT_READERS, arguments.next().unwrap_or_default()),
            "sed" => !words.any(|word| word.starts_with("-i")),
            name => is_listed(READERS, name),
        };
        read.only_reads &= only_reads;
        read.programs.push(name.to_owned());
    }
    read.only_reads &= !read.programs.is_empty();
    read
}

/// The command with one `"` for all that is quoted or escaped.
fn unquoted(command: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && quote != Some('\'') {
            chars.next();
        } else if quote == Some(c) {
            quote = None;
            out.push('"');
        } else if quote.is_none() && matches!(c, '"' | '\'') {
            quote = Some(c);
        } else if quote.is_none() {
            out.push(c);
        }
    }
    out
}

pub(super) fn is_in_front(word: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_listed(WRAPPERS, word) || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_program(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| matches!(byte, b'_' | b'-' | b'.' | b'+') || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_by_their_keys() {
        let call = read("edit", r#"{"file_path":"./src/a.rs","old_string":"x","new_string":"y/z.rs"}"#);
        assert_eq!((call.subject.as_str(), call.paths.join(" ").as_str()), ("src/a.rs", "src/a.rs"));
        let call = read("bash", r#"{"command":["bash","-lc","cargo test"]}"#);
        assert_eq!(call.subject, "cargo test");
        let call = read("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: src/b.rs\n@@"}"#);
        assert_eq!(call.paths, ["src/b.rs"]);
        let call = read(
            "todo_write",
            r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"x"}]}"#,
        );
        assert_eq!(call.jobs, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn odd_arguments_do_no_harm() {
        for arguments in
            ["", "[]", "null", "{", r#"{"command":"\ud83d"}"#, r#"{"path":""}"#, r#"{"files":[1,[]]}"#]
        {
            read("bash", arguments);
            read("", arguments);
        }
        assert_eq!(read("bash", "cargo test").command.as_deref(), Some("cargo test"));
    }

    #[test]
    fn programs_are_named_without_folders_and_wrappers() {
        for (command, expected) in [
            (
                "cd /x && RUST_LOG=debug sudo cargo test 2>&1 | tee log; ./scripts/run.sh\n# note\ncat <<EOF\nno",
                "cargo tee run.sh cat",
            ),
            ("rg -n 'a|local_day|b' | awk -F, \"{ d = int($1); \\\" e }\" x | wc -l", "rg awk wc"),
            ("'quoted' x; X='a b' make", "make"),
            ("日志 x", ""),
            ("", ""),
        ] {
            assert_eq!(super::command(command).programs.join(" "), expected);
        }
    }

    #[test]
    fn readers_are_told_from_judges() {
        for (command, expected) in [
            ("cat x | grep Error:", true),
            ("git log -3", true),
            ("git commit", false),
            ("./mine", false),
            ("sed -i s/a/b/ f", false),
            ("sed -n 1p f", true),
            ("", false),
        ] {
            assert_eq!(super::command(command).only_reads, expected, "{command}");
        }
    }
}
