//! One log and what is asked of it, from opening it to the new file's name.

use super::layout::Layout;
use super::objection::{hard_links, objection};
use super::outcome::{Outcome, Status};
use super::pack::{Stop, pack};
use super::proof::{Reading, prove};
use super::{LEVEL, Options, Services, Stopped, Target};
use crate::guard::{self, HELP_REPORT, Reason, cancelled};
use crate::log::append::{AppendError, Appender, Disk};
use crate::log::{Container, LogReader, NewFile, Source};
use crate::session::Session;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Repacks the log at `path`, telling `outcome` what is known on the way.
pub(super) fn run(
    path: &Path,
    target: Target,
    options: &Options,
    services: &Services,
    outcome: &mut Outcome,
) -> Result<Status, Stopped> {
    // A device may never end, and nothing takes the place of a pipe. A directory is told as such where it is opened.
    let meta = path.metadata()?;
    if !meta.is_file() && !meta.is_dir() {
        return Err(io::Error::other("it is no file").into());
    }
    services.watch.stage("reading");
    // Whether the log can be read at all is told before whether it may be written to.
    let source = Source::open(path)?;
    outcome.bytes.0 = source.bytes;
    outcome.knows(LogReader::open(&source)?.header());
    if source.container == Container::Raw {
        return Err(Stopped::Nothing(
            "the log is not compressed, and dsh keeps to one kind in a folder of sessions".into(),
        ));
    }
    if target != Target::InPlace {
        return Job::read(source, options, services, outcome)?.run_beside(target, outcome);
    }
    if let Some(reason) = hard_links(&meta) {
        return Err(Stopped::Refused(reason));
    }
    let mut appender = Appender::open(path, services.disk).map_err(|error| refused(&error))?;
    let job = Job::read(appender.source()?, options, services, outcome)?;
    job.run_in_place(&mut appender, outcome)
}

/// A log that was read and that nothing is wrong with.
struct Job<'a> {
    options: &'a Options,
    services: &'a Services<'a>,
    source: Source,
    reading: Reading,
}

impl<'a> Job<'a> {
    fn read(
        source: Source,
        options: &'a Options,
        services: &'a Services<'a>,
        outcome: &mut Outcome,
    ) -> Result<Self, Stopped> {
        outcome.bytes.0 = source.bytes;
        let reading = Reading::of(&source)?;
        if let Some(reason) = objection(&reading.folded) {
            return Err(Stopped::Refused(reason));
        }
        outcome.digest = Some(reading.digest.clone());
        Ok(Self { options, services, source, reading })
    }

    fn session(&self) -> &Session {
        &self.reading.folded.session
    }

    /// Where the new frames are cut, if there is anything to gain.
    fn layout(&self, outcome: &mut Outcome) -> Result<Layout, Stopped> {
        let layout = Layout::of(&self.source, self.options.frame_text)?;
        outcome.frames = Some((layout.frames, None));
        outcome.text_bytes = Some(layout.text_bytes);
        if layout.lengths.is_empty() {
            return Err(Stopped::Nothing("the log holds no event".into()));
        }
        if self.options.level.is_none() && layout.is_packed(&self.source)? {
            let why = "its frames are large already; name a level to compress them anew";
            return Err(Stopped::Nothing(why.into()));
        }
        self.go_on().map_err(Stopped::Refused)?;
        self.services.watch.stage("compressing");
        Ok(layout)
    }

    /// Compresses the log into a file that is no log yet, or into nothing.
    fn run_beside(self, target: Target, outcome: &mut Outcome) -> Result<Status, Stopped> {
        let layout = self.layout(outcome)?;
        let Target::File(output) = target else {
            let bytes = self.pack(&layout, &mut io::sink()).map_err(|stop| stopped(stop, Path::new("-")))?;
            let frames = layout.lengths.len() as u64 + 1;
            (outcome.bytes.1, outcome.frames) = (Some(bytes), Some((layout.frames, Some(frames))));
            return Ok(Status::Planned);
        };
        let refused = |error| Stopped::Refused(Reason::of_new_file(output, &error));
        let mut new = NewFile::beside(output, Container::Zstd).map_err(refused)?;
        let disk = self.services.disk;
        let bytes = self.pack(&layout, &mut DiskFile { disk, file: new.file() });
        let bytes = bytes.map_err(|stop| stopped(stop, output))?;
        let unwritable = |error| Stopped::unwritable(output, error);
        if let Some(modified) = self.source.modified() {
            new.file().set_modified(modified).map_err(unwritable)?;
        }
        disk.sync(new.file()).map_err(unwritable)?;
        let reread = new.file().try_clone().and_then(|file| Source::of(file, output)).map_err(unwritable)?;
        let frames = self.prove(&layout, &reread)?;
        let permissions = self.source.permissions()?;
        new.publish(permissions).map_err(unwritable)?;
        outcome.output = Some(output.to_owned());
        (outcome.bytes.1, outcome.frames) = (Some(bytes), Some((layout.frames, Some(frames))));
        Ok(Status::Repacked)
    }

    /// Compresses the log into a file beside it, which then takes its place.
    fn run_in_place(self, appender: &mut Appender, outcome: &mut Outcome) -> Result<Status, Stopped> {
        self.rests(appender)?;
        let layout = self.layout(outcome)?;
        appender.lock_session(self.session().format).map_err(|error| refused(&error))?;
        let mut new = appender.successor().map_err(|error| refused(&error))?;
        let path = self.source.path.as_path();
        let bytes = self.pack(&layout, &mut new).map_err(|stop| stopped(stop, path))?;
        let failed = |error| Stopped::failed(&error);
        appender.complete(&mut new).map_err(failed)?;
        let frames = self.prove(&layout, &new.source()?)?;
        self.go_on().map_err(Stopped::Failed)?;
        let succeeded = appender.succeed(new).map_err(failed)?;
        outcome.notes.extend(succeeded.notes());
        (outcome.bytes.1, outcome.frames) = (Some(bytes), Some((layout.frames, Some(frames))));
        Ok(Status::Repacked)
    }

    /// Refuses a log that a process may have open, as far as the caller does not know better.
    fn rests(&self, appender: &Appender) -> Result<(), Stopped> {
        if self.options.is_idle {
            return Ok(());
        }
        let (session, modified) = (self.session(), appender.modified());
        let objection = guard::in_use(session, modified).or_else(|| guard::in_turn(session, modified));
        objection.map_or(Ok(()), |reason| Err(Stopped::Refused(reason)))
    }

    fn pack(&self, layout: &Layout, output: &mut dyn Write) -> Result<u64, Stop> {
        let level = self.options.level.unwrap_or(LEVEL);
        let mut output = BufWriter::with_capacity(1 << 20, output);
        let packed = pack(&self.source, layout, level, &mut output, self.services.watch);
        if packed.is_err() {
            // Nobody wants the rest.
            let _ = output.into_parts();
        }
        packed
    }

    fn prove(&self, layout: &Layout, new: &Source) -> Result<u64, Stopped> {
        self.services.watch.stage("proving");
        let old = (&self.source, layout, &self.reading);
        prove(old, new, self.options.frame_text).map_err(|problem| {
            let message = format!("the new file was thrown away: {problem}");
            Stopped::Failed(Reason::new("proof", message, HELP_REPORT))
        })
    }

    fn go_on(&self) -> Result<(), Reason> {
        if self.services.watch.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

/// What has become of frames that were not made.
fn stopped(stop: Stop, output: &Path) -> Stopped {
    match stop {
        Stop::Read(error) => {
            Stopped::Failed(Reason::changed(format!("the log cannot be read again: {error}")))
        }
        Stop::Write(error) => Stopped::unwritable(output, error),
        Stop::NotSmaller => Stopped::Nothing("it would not become smaller".into()),
        Stop::Cancelled => Stopped::Failed(cancelled()),
    }
}

fn refused(error: &AppendError) -> Stopped {
    Stopped::Refused(Reason::of_append(error))
}

/// Writes through a [`Disk`].
struct DiskFile<'a> {
    disk: &'a dyn Disk,
    file: &'a mut File,
}

impl Write for DiskFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
