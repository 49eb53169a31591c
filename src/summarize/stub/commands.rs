//! What a shell command runs.

use super::words::is_listed;

/// They look and do not judge: error-like lines in what they print are no errors.
const READERS: &str = " cat head tail less more ls find fd grep egrep rg ag sed awk wc echo printf pwd which tree stat \
                       file diff jq sort uniq cut cd true sleep date env export type command du df ";

/// Parts of git that only look.
const GIT_READERS: &str = " show diff log status grep blame branch remote rev-parse ls-files config ";

/// They build, test or change something.
const TELLING: &str = " cargo rustc npm npx pnpm yarn bun deno node tsc vitest jest make cmake ninja meson bazel just \
                       pytest python python3 pip uv tox ruff mypy go gradle mvn java dotnet swift mix rake bundle \
                       docker podman kubectl terraform git gh curl wget psql sqlite3 dsh dshc ";

/// Words in front of the program.
const WRAPPERS: &str = " sudo env time nohup exec command then do else if while until ! { ( ";

/// Words of the shell itself that say nothing.
const SILENT: &str = " cd export set unset source . true false for in done fi esac case [ [[ test } ) exit return \
                      break continue local read wait trap shift ";

/// The programs that `command` runs, without their folders.
pub(super) fn programs(command: &str) -> impl Iterator<Item = &str> {
    segments(command).filter_map(|segment| program(segment).map(|(name, _)| name))
}

/// Whether the command only looks at things.
pub(super) fn only_reads(command: &str) -> bool {
    let mut any = false;
    for (name, argument) in segments(command).filter_map(program) {
        any = true;
        let writes = name == "sed" && segment_has(command, "-i");
        if writes || !(is_listed(READERS, name) || name == "git" && is_listed(GIT_READERS, argument)) {
            return false;
        }
    }
    any
}

fn segment_has(command: &str, flag: &str) -> bool {
    command.split_whitespace().any(|word| word == flag)
}

/// How much a command tells of the work: 2 for one that builds, tests or changes, 0 for one that looks.
pub(super) fn tells(command: &str) -> u64 {
    if only_reads(command) {
        0
    } else if programs(command).any(|name| is_listed(TELLING, name)) {
        2
    } else {
        1
    }
}

/// What stands between `&&`, `||`, `;`, `|` and line ends, up to a here-document.
fn segments(command: &str) -> impl Iterator<Item = &str> {
    let (shell, _) = command.split_once("<<").unwrap_or((command, ""));
    shell
        .split(['\n', ';', '|', '&'])
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.starts_with('#'))
}

fn program(segment: &str) -> Option<(&str, &str)> {
    let mut words = segment.split_whitespace().skip_while(|word| is_in_front(word));
    let name = words.next()?.rsplit('/').next()?;
    let argument = words.find(|word| !word.starts_with('-')).unwrap_or_default();
    (is_program(name) && !is_listed(SILENT, name)).then_some((name, argument))
}

fn is_in_front(word: &str) -> bool {
    is_listed(WRAPPERS, word)
        || word.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        })
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
    fn programs_are_named_without_folders_and_wrappers() {
        let command =
            "cd /x && RUST_LOG=debug sudo cargo test 2>&1 | tee log; ./scripts/run.sh\n# note\ncat <<EOF\nno";
        assert_eq!(programs(command).collect::<Vec<_>>(), ["cargo", "tee", "run.sh", "cat"]);
        assert_eq!(programs("日志 x").count(), 0);
    }

    #[test]
    fn readers_are_told_from_judges() {
        for (command, expected) in [
            ("cat x | grep Error:", 0),
            ("git log -3", 0),
            ("git commit", 2),
            ("./mine", 1),
            ("sed -i s/a/b/ f", 1),
        ] {
            assert_eq!(tells(command), expected, "{command}");
        }
        assert!(!only_reads(""));
    }
}
