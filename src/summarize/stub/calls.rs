//! What a tool call is about, read from its arguments.

use super::text::{fold, split};
use crate::json::{self, Kind, Object};

/// Arguments that name files or folders.
const PATH_KEYS: &str = " path file file_path filepath filePath filename file_name fileName target_file notebook_path \
                         directory dir folder old_path new_path paths files cwd workdir relative_path \
                         absolute_path ";

/// Arguments that are run.
const COMMAND_KEYS: &str = " command cmd script commands ";

/// Arguments that hold a patch, whose file lines name files.
const PATCH_KEYS: &str = " patch diff input ";

/// Lines of a patch that name a file.
const PATCH_LINES: [&str; 5] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];

/// Other arguments are read only if they are this short: longer ones are contents.
const SHORT: usize = 500;

/// How much of a patch or of a command is read.
const MOST_READ: usize = 64 * 1024;

/// How many arguments of a call are read.
const MOST_ARGUMENTS: usize = 64;

/// How many files one call may name.
const MOST_PATHS: usize = 64;

/// The most that a subject is kept of, in UTF-16 code units.
pub(super) const SUBJECT: usize = 160;

/// A call, read.
#[derive(Debug, Default)]
pub(super) struct Call {
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
pub(super) fn read(tool: &str, arguments: &str) -> Call {
    let mut call = Call::default();
    match json::parse(arguments).ok().and_then(Object::of) {
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
    ["bash", "shell", "exec", "terminal", "command"]
        .iter()
        .any(|part| tool.to_ascii_lowercase().contains(part))
}

/// Whether a tool of this name changes files.
pub(super) fn edits(tool: &str) -> bool {
    ["edit", "write", "patch", "replace", "create", "insert"]
        .iter()
        .any(|part| tool.to_ascii_lowercase().contains(part))
}

fn head(text: &str) -> String {
    split(text, MOST_READ).0.to_owned()
}

impl Call {
    fn take(&mut self, name: &str, value: &json::Raw) {
        let is = |list: &str| super::words::is_listed(list, name);
        match json::kind(value) {
            Kind::String => {
                let Some(text) = json::text(value) else { return };
                self.take_text(name, &text.to_str());
            }
            Kind::Array if is(COMMAND_KEYS) => self.command = Some(joined(value)),
            Kind::Array if is(PATH_KEYS) => strings(value).iter().for_each(|path| self.take_path(path)),
            Kind::Array => self.take_jobs(value),
            _ => {}
        }
    }

    fn take_text(&mut self, name: &str, text: &str) {
        let is = |list: &str| super::words::is_listed(list, name);
        if is(COMMAND_KEYS) {
            self.command = Some(head(text));
        } else if is(PATH_KEYS) && !text.contains('\n') && !text.contains("://") {
            self.take_path(text);
        } else if is(PATCH_KEYS) {
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
    fn take_jobs(&mut self, value: &json::Raw) {
        for item in json::array(value).unwrap_or_default() {
            let Some(object) = Object::of(item) else { continue };
            let text = |keys: &[&str]| keys.iter().find_map(|key| object.text(key));
            let (Some(job), Some(status)) =
                (text(&["content", "title", "task", "step"]), text(&["status", "state"]))
            else {
                continue;
            };
            let done = ["completed", "complete", "done", "cancelled", "canceled"]
                .iter()
                .any(|word| status == **word);
            self.jobs.push((job.to_str().into_owned(), done));
        }
    }
}

fn strings(value: &json::Raw) -> Vec<String> {
    let items = json::array(value).unwrap_or_default();
    items.into_iter().filter_map(json::text).map(|text| text.to_str().into_owned()).collect()
}

/// `["bash", "-lc", "cargo test"]` runs `cargo test`.
fn joined(value: &json::Raw) -> String {
    let words = strings(value);
    match words.as_slice() {
        [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => head(command),
        _ => head(&words.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_by_their_keys() {
        let call = read("edit", r#"{"file_path":"./src/a.rs","old_string":"x","new_string":"y/z.rs"}"#);
        assert_eq!(
            (call.subject.as_str(), call.paths.as_slice()),
            ("src/a.rs", ["src/a.rs".to_owned()].as_slice())
        );
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
}
