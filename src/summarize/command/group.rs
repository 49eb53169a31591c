//! A shell and all that it starts, as one process group: what each system calls it and how it is ended.

pub(super) use system::{has_ended, kill, shell};

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    /// The shell that runs a command line, in a group of its own: the terminal's Ctrl-C does not reach it.
    pub(in super::super) fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).process_group(0);
        command
    }

    /// Whether the shell has ended. It stays a zombie, so that its group's number is not given to another.
    pub(in super::super) fn has_ended(child: &mut Child) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Kills the group of a shell that has not been waited for.
    pub(in super::super) fn kill(child: &mut Child) {
        // An error says that nobody is left in the group.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::os::windows::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    /// The shell that runs a command line.
    pub(in super::super) fn shell(line: &str) -> Command {
        let mut command = Command::new("cmd");
        command.arg("/C").raw_arg(line);
        command
    }

    /// Whether the shell has ended.
    pub(in super::super) fn has_ended(child: &mut Child) -> io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    /// Kills the shell and what it has started.
    pub(in super::super) fn kill(child: &mut Child) {
        let id = child.id().to_string();
        let mut tree = Command::new("taskkill");
        tree.args(["/T", "/F", "/PID", &id]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = tree.status();
        let _ = child.kill();
    }
}
