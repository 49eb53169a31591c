//! Are all eight sections there, each once and in their order?

use super::Objection;
use super::headings::heading;
use crate::summarize::SECTIONS;

/// Refuses a text without the eight [`SECTIONS`], and names what is missing, doubled or out of order. A section is told
/// by its heading, of any level and in any case; other headings may stand between them.
pub(super) fn judge(summary: &str) -> Result<(), Objection> {
    let section = |line| {
        let name = heading(line)?;
        SECTIONS.iter().position(|section| section.eq_ignore_ascii_case(name))
    };
    let found: Vec<usize> = summary.lines().filter_map(section).collect();
    let count = |wanted: usize| found.iter().filter(|section| **section == wanted).count();
    let named = |is_named: &dyn Fn(usize) -> bool| {
        let names = SECTIONS.iter().enumerate().filter(|(section, _)| is_named(*section));
        names.map(|(_, name)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    };
    let is_behind_a_later_one =
        |section: usize| found.iter().take_while(|other| **other != section).any(|other| *other > section);
    let problems = [
        ("missing", named(&|section| count(section) == 0)),
        ("there more than once", named(&|section| count(section) > 1)),
        (
            "behind a section that follows them",
            named(&|section| count(section) > 0 && is_behind_a_later_one(section)),
        ),
    ];
    let problems: Vec<_> = problems
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(problem, names)| format!("{problem}: {names}"))
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the summary must have eight sections, each once and under a heading with just its name, in this order: {}; {}",
        SECTIONS.map(|name| format!("\"## {name}\"")).join(", "),
        problems.join("; ")
    );
    Err(Objection::form(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(order: &[usize]) -> String {
        let text: Vec<_> = order.iter().map(|section| format!("## {}\n- x", SECTIONS[*section])).collect();
        let objection = judge(&text.join("\n\n"));
        objection.err().map_or_else(String::new, |it| it.message.split_once("; ").unwrap().1.to_owned())
    }

    #[test]
    fn all_eight_in_their_order_pass() {
        assert_eq!(problems(&[0, 1, 2, 3, 4, 5, 6, 7]), "");
        let odd: Vec<_> =
            SECTIONS.iter().map(|name| format!(" ### {} :\n#### src/a.rs\nx", name.to_uppercase())).collect();
        assert_eq!(judge(&odd.join("\n")), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (order, expected) in [
            (&[0, 1, 2, 3, 5, 7][..], "missing: \"Pending Jobs\", \"Next Step\""),
            (&[0, 1, 2, 3, 4, 5, 6, 6, 7], "there more than once: \"Next Step\""),
            (&[0, 1, 3, 2, 4, 5, 6, 7], "behind a section that follows them: \"Files and Code\""),
            (
                &[7, 0, 0, 1, 2, 3, 4, 5],
                "missing: \"Next Step\"; there more than once: \"Primary Request and Intent\"; behind a section that \
                 follows them: \"Primary Request and Intent\", \"Key Technical Concepts\", \"Files and Code\", \
                 \"Errors and Fixes\", \"Pending Jobs\", \"Current Work\"",
            ),
        ] {
            assert_eq!(problems(order), expected);
        }
    }

    #[test]
    fn a_section_is_told_by_its_heading_alone() {
        let others = ["**Next Step**", "## 7. Next Step", "## Next Steps", "Next Step:"];
        for other in others {
            let text = SECTIONS.map(|name| format!("## {name}\nx")).join("\n").replace("## Next Step", other);
            assert!(judge(&text).unwrap_err().message.ends_with("missing: \"Next Step\""), "{other}");
        }
    }
}
