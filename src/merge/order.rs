//! In which order a report has its entries: by their paths, or by a figure of each that the report names.

use super::entry::Entry;
use serde::Deserialize;
use std::cmp::Reverse;

/// The figures by which `dshc stats` sorts, as far as an entry has them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Figures {
    bytes: Bytes,
    events: Option<u64>,
    surface: Option<Surface>,
    chunks: Option<Chunks>,
    compactions: Option<Compactions>,
    last_time: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Bytes {
    disk: Option<u64>,
    decoded: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Surface {
    host_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunks {
    bytes: u64,
    stream_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct Compactions {
    done: u64,
    failed: u64,
    open: u64,
}

/// Sorts the entries of a report that says by what they are sorted, or does not: the greatest figure first, those without one last, else by
/// path. The sort is stable, so that paths that are shown alike stay in the order of their own report.
///
/// False if the order is not known.
pub(super) fn sort(entries: &mut [Entry], sorted_by: Option<&str>) -> bool {
    let by_path = |left: &Entry, right: &Entry| left.path().cmp(right.path());
    let Some(word) = sorted_by.filter(|word| *word != "path") else {
        entries.sort_by(by_path);
        return true;
    };
    let Some(figure) = figure(word) else { return false };
    let figure_of = |entry: &Entry| {
        let figures: Figures = serde_json::from_str(entry.raw.get()).unwrap_or_default();
        Reverse(figure(&figures))
    };
    entries.sort_by(by_path);
    entries.sort_by_cached_key(figure_of);
    true
}

/// The figure that a word of `sortedBy` means.
fn figure(word: &str) -> Option<fn(&Figures) -> Option<i128>> {
    Some(match word {
        "size" => |figures| figures.bytes.disk.map(i128::from),
        "decoded" => |figures| figures.bytes.decoded.map(i128::from),
        "events" => |figures| figures.events.map(i128::from),
        "tokens" => |figures| figures.surface.as_ref().map(|surface| surface.host_tokens.into()),
        "chunks" => |figures| {
            let chunks = figures.chunks.as_ref()?;
            Some(i128::from(chunks.bytes) + i128::from(chunks.stream_bytes))
        },
        "compactions" => |figures| {
            let Compactions { done, failed, open } = figures.compactions.as_ref()?;
            Some(i128::from(*done) + i128::from(*failed) + i128::from(*open))
        },
        "activity" => |figures| figures.last_time.map(i128::from),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(entries: &[&str], by: Option<&str>) -> Vec<String> {
        let entries: Vec<_> = entries.iter().map(|entry| serde_json::from_str(entry).unwrap()).collect();
        let mut entries: Vec<Entry> = entries.into_iter().map(|raw| Entry::of(raw).unwrap()).collect();
        assert!(sort(&mut entries, by));
        entries.iter().map(|entry| entry.path().display().to_string()).collect()
    }

    #[test]
    fn the_greatest_comes_first_and_what_has_no_figure_last() {
        let entries = [
            r#"{"path":"a","bytes":{}}"#,
            r#"{"path":"c","bytes":{"disk":7},"chunks":{"events":1,"bytes":1,"streamBytes":3}}"#,
            r#"{"path":"b","bytes":{"disk":7,"decoded":1},"chunks":{"events":1,"bytes":3,"streamBytes":2}}"#,
            r#"{"path":"d","bytes":{"disk":9},"lastTime":-5}"#,
        ];
        assert_eq!(sorted(&entries, None), ["a", "b", "c", "d"]);
        assert_eq!(sorted(&entries, Some("path")), ["a", "b", "c", "d"]);
        assert_eq!(sorted(&entries, Some("size")), ["d", "b", "c", "a"]);
        assert_eq!(sorted(&entries, Some("chunks")), ["b", "c", "a", "d"]);
        assert_eq!(sorted(&entries, Some("activity")), ["d", "a", "b", "c"]);
        assert!(!sort(&mut [], Some("colour")));
    }

    #[test]
    fn every_order_of_stats_is_known() {
        for order in crate::stats::SortBy::ALL {
            assert!(sort(&mut [], Some(order.as_str())), "{order}");
        }
    }
}
