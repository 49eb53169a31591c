//! Findings as results (§3.27).

use super::{Text, uri};
use crate::check::{Finding, Severity};
use crate::log::Place;
use crate::verify::FileVerdict;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: Fingerprints,
    properties: Properties,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

/// A file by its URI; standard input, which has none, by a description (§3.4).
#[derive(Serialize)]
struct Artifact {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Text>,
}

/// Where in the file (§3.30): a line, in a compressed file that of its decoded text, for code scanning shows no result
/// without one; else a byte.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Region {
    Line { start_line: u64 },
    Byte { byte_offset: u64 },
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "dshcFinding/v1")]
    finding: String,
}

/// What SARIF has no place for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// What the results of one file share.
struct Artifacts<'a> {
    file: &'a FileVerdict,
    uri: String,
    /// The places of events that have findings, by seq: all that is known of where related events stand.
    places: HashMap<u64, Place>,
}

/// The results of a file with their severities. `indexes` tells where in the list of rules each code stands.
pub(super) fn of<'a>(
    file: &'a FileVerdict,
    indexes: &'a HashMap<&str, usize>,
) -> impl Iterator<Item = (Severity, Outcome)> + use<'a> {
    let artifacts = Artifacts { file, uri: uri::of(&file.path), places: places(&file.findings) };
    let mut seen: HashMap<String, u64> = HashMap::new();
    file.findings.iter().map(move |finding| {
        let identity = artifacts.identity(finding);
        let nth = seen.entry(identity.clone()).or_default();
        let fingerprint = blake3::hash(format!("{identity}\0{nth}").as_bytes());
        *nth += 1;
        let rule_index = indexes.get(finding.code).copied();
        let fingerprint = fingerprint.to_hex()[..32].to_owned();
        (finding.severity, artifacts.outcome(finding, rule_index, fingerprint))
    })
}

/// The places of events that have findings, but for a seq that stands on several lines.
fn places(findings: &[Finding]) -> HashMap<u64, Place> {
    let mut places: HashMap<u64, Option<Place>> = HashMap::new();
    for finding in findings.iter().filter(|finding| finding.place.line.is_some()) {
        let Some(seq) = finding.seq else { continue };
        let known = places.entry(seq).or_insert(Some(finding.place));
        known.take_if(|place| place.line != finding.place.line);
    }
    places.into_iter().filter_map(|(seq, place)| Some((seq, place?))).collect()
}

impl Artifacts<'_> {
    fn outcome(&self, finding: &Finding, rule_index: Option<usize>, fingerprint: String) -> Outcome {
        let mut text = finding.message.clone();
        let mut related_locations = Vec::new();
        for related in &finding.related {
            let told = format!("seq {}: {}", related.seq, related.message);
            match self.places.get(&related.seq) {
                Some(place) => related_locations.push(self.location(*place, Some(told))),
                None => text.extend(["\n", &told]),
            }
        }
        if !finding.help.is_empty() {
            let _ = write!(text, "\nhelp: {}", finding.help);
        }
        Outcome {
            rule_id: finding.code,
            rule_index,
            level: finding.severity.as_str(),
            message: Text { text: plain(&text) },
            locations: [self.location(finding.place, None)],
            related_locations,
            partial_fingerprints: Fingerprints { finding: fingerprint },
            properties: Properties {
                seq: finding.seq,
                line: finding.place.line,
                frame: finding.place.frame,
                byte: finding.place.byte,
                text_byte: finding.place.text_byte,
                count: Some(finding.count).filter(|count| *count > 1),
            },
        }
    }

    fn location(&self, place: Place, message: Option<String>) -> Location {
        let region = match place {
            Place { line: Some(start_line), .. } => Some(Region::Line { start_line }),
            Place { byte, .. } => byte.map(|byte_offset| Region::Byte { byte_offset }),
        };
        let artifact_location = if self.file.is_stdin() {
            Artifact { uri: None, description: Some(Text { text: "standard input".into() }) }
        } else {
            Artifact { uri: Some(self.uri.clone()), description: None }
        };
        Location {
            physical_location: PhysicalLocation { artifact_location, region },
            message: message.map(|message| Text { text: plain(&message) }),
        }
    }

    /// What makes a finding the same one in a later run, when the log has grown: the rule, the file, the session, and the
    /// event, else the line. Copies of a session are files of their own. Messages are left out, for their figures change.
    fn identity(&self, finding: &Finding) -> String {
        let session = self.file.read_header().map_or("", |header| &header.id);
        let place = match (finding.seq, finding.place.line) {
            (Some(seq), _) => format!("seq {seq}"),
            (None, Some(line)) => format!("line {line}"),
            (None, None) => finding.place.to_string(),
        };
        format!("{}\0{}\0{session}\0{place}", finding.code, self.uri)
    }
}

/// A text in which a log's own words make no placeholder (§3.11.5) and no link (§3.11.6).
fn plain(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}").replace("](", "] (")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Container;
    use crate::report::testing::{of_code, run};
    use serde_json::{Value, json};

    fn results(file: &FileVerdict) -> Vec<Value> {
        let indexes = HashMap::from([("seq-gap", 3)]);
        of(file, &indexes).map(|(_, outcome)| serde_json::to_value(outcome).unwrap()).collect()
    }

    fn file(findings: Vec<Finding>) -> FileVerdict {
        run(findings).files.remove(0)
    }

    #[test]
    fn a_result_names_its_line_whatever_stores_it_and_else_its_byte() {
        let mut file = file(of_code("seq-gap", 1));
        let raw = &results(&file)[0];
        assert_eq!((&raw["ruleId"], &raw["ruleIndex"]), (&json!("seq-gap"), &json!(3)));
        let region = |result: &Value| result["locations"][0]["physicalLocation"]["region"].clone();
        assert_eq!(region(raw), json!({ "startLine": 2 }));
        file.content = Some(Container::Zstd);
        file.findings[0].place.byte = Some(88);
        let packed = &results(&file)[0];
        assert_eq!(region(packed), json!({ "startLine": 2 }));
        assert_eq!(
            (&packed["properties"]["byte"], &packed["properties"]["textByte"]),
            (&json!(88), &json!(0))
        );
        file.findings[0].place.line = None;
        assert_eq!(region(&results(&file)[0]), json!({ "byteOffset": 88 }));
    }

    #[test]
    fn standard_input_is_no_file() {
        let mut file = file(of_code("seq-gap", 1));
        file.path = "-".into();
        let artifact = &results(&file)[0]["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(*artifact, json!({ "description": { "text": "standard input" } }));
    }

    #[test]
    fn related_events_have_a_location_where_their_line_is_known() {
        let unknown = &results(&file(of_code("seq-gap", 1)))[0];
        assert_eq!(unknown["message"]["text"], "no 0\nseq 7: the cause\nhelp: do this");
        assert_eq!(unknown["relatedLocations"], Value::Null);
        let known = &results(&file(of_code("seq-gap", 8)))[0];
        assert_eq!(known["message"]["text"], "no 0\nhelp: do this");
        let related = &known["relatedLocations"][0];
        assert_eq!(related["message"]["text"], "seq 7: the cause");
        assert_eq!(related["physicalLocation"]["region"], json!({ "startLine": 9 }));
        let mut twice = of_code("seq-gap", 8);
        twice.extend(of_code("seq-gap", 8).into_iter().map(|mut finding| {
            finding.place.line = Some(100);
            finding
        }));
        assert_eq!(results(&file(twice))[0]["relatedLocations"], Value::Null);
    }

    #[test]
    fn fingerprints_outlast_growth_and_other_words_and_tell_copies_apart() {
        let print = |result: &Value| result["partialFingerprints"]["dshcFinding/v1"].clone();
        let mut log = file(of_code("seq-gap", 2));
        let before = results(&log);
        log.findings[0].message = "other words".into();
        log.findings[0].place.line = Some(900);
        let after = results(&log);
        assert_eq!(print(&before[0]), print(&after[0]));
        assert_ne!(print(&before[0]), print(&before[1]));
        log.path = "elsewhere/session.jsonl".into();
        assert_ne!(print(&before[0]), print(&results(&log)[0]));
        log.findings[1] = log.findings[0].clone();
        let twice = results(&log);
        assert_ne!(print(&twice[0]), print(&twice[1]));
    }

    #[test]
    fn words_of_a_log_are_no_links_and_no_placeholders() {
        assert_eq!(plain("{0} [a](http://b) x[1]"), "{{0}} [a] (http://b) x[1]");
    }
}
