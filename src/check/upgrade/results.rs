//! What the upgrade to format 4 refuses of tools and their answers (FORMAT §8.4). No package of it was published: these
//! rules are from its description alone.

use super::chain::Chain;
use super::here::Here;
use crate::check::registry::rule_family;
use crate::json::Object;

rule_family! {
    "upgrade";
    /// The answer of a tool holds another answer, which format 4 cannot wrap.
    ///
    /// **What it means.** Up to format 3 an answer is a `tool-result` block inside a message. This one holds a further
    /// `tool-result` block among its content. In format 4 an answer is a message, and no block can be one.
    ///
    /// **Why it matters.** The upgrade takes the wrapper off and refuses what is wrapped twice. dsh opens the log in its
    /// own format.
    ///
    /// **How it comes about.** A tool or plugin passed the answer of another tool on as it was.
    ///
    /// **What to do.** Keep the log for the release that wrote it. In a copy the inner block can be replaced by its own
    /// content.
    NESTED = error("upgrade-nested-result");
    /// A request header defers the loading of a tool, which only format 4 can say.
    ///
    /// **What it means.** A tool of a `request/header` has the member `deferLoading`. Format 3 does not have it, and
    /// format 4 gives it a meaning.
    ///
    /// **Why it matters.** The upgrade refuses the session, so that the member does not gain a meaning that its writer
    /// did not give it. dsh opens the log in its own format.
    ///
    /// **How it comes about.** Another tool wrote the header, or headers were copied from a log of format 4.
    ///
    /// **What to do.** Leave the member out of a copy.
    DEFERRED = error("upgrade-deferred-tool");
}

/// The answers of tools, which lose their wrapper.
#[derive(Debug)]
pub(super) struct Results {
    to: u64,
}

impl Results {
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        chain.first(|step| step.flattens_results).map(|to| Self { to })
    }

    pub(super) fn event(&self, here: &mut Here) {
        match &*here.event.event_type {
            "tool/result" if holds_result(here) => {
                let help = "the inner tool-result block has no place in a format where answers are messages";
                here.refuse(&NESTED, self.to, "a tool's answer that holds another one", help);
            }
            "request/header" if defers_tool(here) => {
                let help = "the member deferLoading means nothing before format 4";
                here.refuse(&DEFERRED, self.to, "a tool whose loading is deferred", help);
            }
            _ => {}
        }
    }
}

fn holds_result(here: &Here) -> bool {
    let Some(message) = here.payload.get().and_then(|data| data.object("message")) else { return false };
    let blocks = message.array("content").unwrap_or_default();
    blocks.into_iter().filter_map(Object::of).any(|block| {
        let inner = block.array("content").unwrap_or_default();
        inner.into_iter().filter_map(Object::of).any(|block| block.has_text("type", "tool-result"))
    })
}

fn defers_tool(here: &Here) -> bool {
    let header = here.payload.get().and_then(|data| data.object("header"));
    let tools = header.and_then(|header| header.array("tools")).unwrap_or_default();
    tools.into_iter().filter_map(Object::of).any(|tool| tool.get("deferLoading").is_some())
}
