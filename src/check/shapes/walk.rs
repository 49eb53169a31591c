//! Holds one value after another against its shape.

use super::{CONTENT_KIND, MEMBERS, Rule, SOURCE_KIND, VALUE, conditions, values, words};
use crate::format::payload::{Kinds, Members, Others, Rules, Shape, Tagged};
use crate::json::{self, Kind, Object, Raw, Text};
use std::cell::OnceCell;
use std::collections::HashSet;

/// Where a payload breaks which rule, and what is wrong there.
#[derive(Debug)]
pub(super) struct Broken<'a> {
    pub(super) rule: &'static Rule,
    pub(super) at: Raw<'a>,
    pub(super) what: String,
}

impl<'a> Broken<'a> {
    fn new(rule: &'static Rule, at: Raw<'a>, what: impl Into<String>) -> Self {
        Self { rule, at, what: what.into() }
    }
}

type Verdict<'a> = Result<(), Broken<'a>>;

/// The way through one payload.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    rules: &'static Rules,
    seq: u64,
    in_bracket: bool,
    /// Lists of content blocks that are still to be looked at, and within how many others each stands.
    contents: Vec<(Raw<'a>, usize)>,
    /// Within how many lists of content blocks the value stands that is looked at.
    depth: usize,
}

/// How deep results may stand within results. Each level is read once for each level around it, and dsh itself runs out of
/// stack somewhere behind a thousand.
const DEEPEST: usize = 256;

/// A value whose members are read once, when they are first asked for.
struct Value<'v, 'a> {
    raw: Raw<'a>,
    known: Option<&'v Object<'a>>,
    read: OnceCell<Option<Object<'a>>>,
}

impl<'v, 'a> Value<'v, 'a> {
    fn new(raw: Raw<'a>, known: Option<&'v Object<'a>>) -> Self {
        Self { raw, known, read: OnceCell::new() }
    }

    fn object(&self) -> Result<&Object<'a>, Broken<'a>> {
        let object = self.known.or_else(|| self.read.get_or_init(|| Object::of(self.raw)).as_ref());
        object.ok_or_else(|| unlike(self.raw, "an object"))
    }
}

fn unlike<'a>(raw: Raw<'a>, expected: &str) -> Broken<'a> {
    Broken::new(&VALUE, raw, format!("is {}, not {expected}", words::found(raw)))
}

impl<'a> Walk<'a> {
    pub(super) fn new(rules: &'static Rules, seq: u64, in_bracket: bool) -> Self {
        Self { rules, seq, in_bracket, contents: Vec::new(), depth: 0 }
    }

    /// Holds a whole payload against a shape; `object` is what is already known of it.
    pub(super) fn payload(
        &mut self,
        data: Raw<'a>,
        object: Option<&Object<'a>>,
        shape: &'static Shape,
    ) -> Verdict<'a> {
        self.value(&Value::new(data, object), shape)?;
        while let Some((content, depth)) = self.contents.pop() {
            if depth > DEEPEST {
                let what = format!("stands within more than {DEEPEST} results, deeper than is looked into");
                return Err(Broken::new(&VALUE, content, what));
            }
            self.depth = depth;
            for block in json::array(content).unwrap_or_default() {
                self.tagged(&Value::new(block, None), self.rules.blocks)?;
            }
        }
        Ok(())
    }

    fn raw(&mut self, raw: Raw<'a>, shape: &'static Shape) -> Verdict<'a> {
        self.value(&Value::new(raw, None), shape)
    }

    fn value(&mut self, value: &Value<'_, 'a>, shape: &'static Shape) -> Verdict<'a> {
        match shape {
            Shape::OrNull(other) if !json::is_null(value.raw) => self.value(value, other),
            Shape::IfObject(other) if json::kind(value.raw) == Kind::Object => self.value(value, other),
            Shape::List { of, least, most } => self.list(value.raw, of, *least, *most),
            Shape::Seqs(least) => self.seqs(value.raw, *least),
            Shape::Object(members) => self.members(value, members),
            Shape::Tagged(tagged) => self.tagged(value, tagged),
            Shape::IfHas { member, then, otherwise } => {
                let has = value.object()?.get(member).is_some();
                self.value(value, if has { then } else { otherwise })
            }
            Shape::IfNumber { member, number, then, otherwise } => {
                let is = value.object()?.get(member).is_some_and(|raw| values::is_number(raw, *number));
                self.value(value, if is { then } else { otherwise })
            }
            Shape::All(shapes) => shapes.iter().try_for_each(|shape| self.value(value, shape)),
            Shape::Block => self.tagged(value, self.rules.blocks),
            Shape::Source => self.tagged(value, self.rules.sources),
            Shape::Blocks => {
                self.contents.push((value.raw, self.depth + 1));
                self.plain(value.raw, shape)
            }
            _ => self.plain(value.raw, shape),
        }
    }

    /// What can be told without looking at members.
    fn plain(&self, raw: Raw<'a>, shape: &'static Shape) -> Verdict<'a> {
        match shape {
            Shape::Barred(why) => Err(Broken::new(&MEMBERS, raw, format!("does not belong there: {why}"))),
            Shape::BlockKind if !self.is_block_kind(raw) => {
                let expected = words::tags(self.rules.blocks);
                let what =
                    format!("is {}, which is no kind of content block here: {expected}", words::found(raw));
                Err(Broken::new(&CONTENT_KIND, raw, what))
            }
            Shape::BlockKind => Ok(()),
            _ if values::are(raw, shape, self.seq) => Ok(()),
            _ => Err(unlike(raw, &words::expected(shape, self.seq))),
        }
    }

    fn is_block_kind(&self, raw: Raw) -> bool {
        json::text(raw).is_some_and(|kind| case(self.rules.blocks, &kind).is_some())
    }

    fn list(&mut self, raw: Raw<'a>, of: &'static Shape, least: usize, most: usize) -> Verdict<'a> {
        let elements = json::array(raw).ok_or_else(|| unlike(raw, "an array"))?;
        if elements.len() < least || elements.len() > most {
            return Err(unlike(raw, &words::length(least, most)));
        }
        elements.into_iter().try_for_each(|element| self.raw(element, of))
    }

    fn seqs(&mut self, raw: Raw<'a>, least: usize) -> Verdict<'a> {
        self.list(raw, &Shape::Earlier, least, usize::MAX)?;
        let mut seen = HashSet::new();
        let elements = json::array(raw).unwrap_or_default();
        match elements.into_iter().find(|seq| !seen.insert(json::count(*seq))) {
            Some(again) => {
                Err(Broken::new(&VALUE, again, format!("is {} a second time", words::found(again))))
            }
            None => Ok(()),
        }
    }

    fn members(&mut self, value: &Value<'_, 'a>, members: &'static Members) -> Verdict<'a> {
        let object = value.object()?;
        if members.is_closed {
            let known = |name: &Text| {
                members.required.iter().chain(members.optional).any(|(known, _)| *name == **known)
            };
            if let Some(name) = object.names().find(|name| !known(name)) {
                let name = words::name(&name);
                return Err(Broken::new(
                    &MEMBERS,
                    value.raw,
                    format!("has a member {name}, which does not belong there"),
                ));
            }
        }
        for (name, shape) in members.required {
            let Some(member) = object.get(name) else {
                return Err(Broken::new(&MEMBERS, value.raw, format!("lacks the member \"{name}\"")));
            };
            self.raw(member, shape)?;
        }
        for (name, shape) in members.optional {
            if let Some(member) = object.get(name) {
                self.raw(member, shape)?;
            }
        }
        for condition in members.conditions {
            if let Some(what) = conditions::breach(*condition, object, self.in_bracket) {
                return Err(Broken::new(conditions::rule(*condition), value.raw, what));
            }
        }
        Ok(())
    }

    fn tagged(&mut self, value: &Value<'_, 'a>, tagged: &'static Tagged) -> Verdict<'a> {
        let object = value.object()?;
        let tag = object.text(tagged.tag);
        if let Some(shape) = tag.as_ref().and_then(|tag| case(tagged, tag)) {
            return self.value(value, shape);
        }
        match &tagged.others {
            Others::Are(shape) => self.value(value, shape),
            Others::Named if tag.is_some_and(|tag| !tag.is_empty()) => Ok(()),
            Others::Named | Others::Refused => Err(Self::no_case(value.raw, object, tagged)),
        }
    }

    /// Tells of an object whose tag is missing or not admitted.
    fn no_case(raw: Raw<'a>, object: &Object<'a>, tagged: &'static Tagged) -> Broken<'a> {
        let Some(tag) = object.get(tagged.tag) else {
            return Broken::new(&MEMBERS, raw, format!("lacks the member \"{}\"", tagged.tag));
        };
        if matches!(tagged.others, Others::Named) {
            return unlike(tag, &words::expected(&Shape::Name, 0));
        }
        let is_text = json::kind(tag) == Kind::String;
        let rule = match tagged.what {
            Kinds::Content if is_text => &CONTENT_KIND,
            Kinds::Source if is_text => &SOURCE_KIND,
            _ => &VALUE,
        };
        Broken::new(rule, tag, format!("is {}, not {}", words::found(tag), words::tags(tagged)))
    }
}

/// The shape that a tag tells.
fn case(tagged: &'static Tagged, tag: &Text) -> Option<&'static Shape> {
    let mut cases = tagged.cases.iter().flat_map(|part| part.iter());
    cases.find(|(name, _)| *tag == **name).map(|(_, shape)| shape)
}
