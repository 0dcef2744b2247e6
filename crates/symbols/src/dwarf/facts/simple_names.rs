//! The template arguments in the names of instances, where the compiler leaves them out
//! (clang's `-gsimple-template-names`): they are written from the entries of the arguments.
//!
//! A first pass over the unit finds the instances. Where all of them have their arguments in
//! their names, as usual, nothing else is done.

use super::attributes::Borrowed;
use gimli::{AttributeValue, DwTag, UnitOffset};
use rustc_hash::FxHashMap;

/// The maximum depth of types within types.
const DEPTH_MAX: usize = 32;
/// The maximum length of one list of arguments in bytes.
const LENGTH_MAX: usize = 4096;

/// The arguments of each instance, with their brackets, by the offset of its DIE.
pub(super) type Arguments = FxHashMap<usize, Box<str>>;

/// A template parameter of an instance.
#[derive(Clone, Copy)]
struct Argument {
    offset: usize,
    is_type: bool,
}

/// Returns the arguments of the instances of a unit whose names lack them.
pub(super) fn arguments(entries: Borrowed<'_>) -> Arguments {
    let mut namer = Namer {
        entries,
        arguments: FxHashMap::default(),
        scopes: FxHashMap::default(),
    };
    if namer.list().is_err() {
        return Arguments::default();
    }
    let lacks_arguments = |offset: &usize| {
        let name = namer.name(*offset);
        name.is_some_and(|name| !name.contains('<'))
    };
    let instances: Vec<usize> = namer
        .arguments
        .keys()
        .copied()
        .filter(lacks_arguments)
        .collect();
    let written = instances.into_iter().filter_map(|offset| {
        let written = namer.written(offset, DEPTH_MAX)?;
        Some((offset, written.into()))
    });
    written.collect()
}

struct Namer<'a> {
    entries: Borrowed<'a>,
    arguments: FxHashMap<usize, Vec<Argument>>,
    /// The enclosing DIEs of namespaces and types.
    scopes: FxHashMap<usize, usize>,
}

impl Namer<'_> {
    /// Lists the arguments of all instances, and the scopes of types.
    fn list(&mut self) -> gimli::Result<()> {
        let mut raw = self.entries.unit.entries_raw(None)?;
        let mut around: Vec<(isize, usize, DwTag)> = Vec::new();
        while !raw.is_empty() {
            let (depth, offset) = (raw.next_depth(), raw.next_offset().0);
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while around.last().is_some_and(|(at, ..)| *at >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            raw.skip_attributes(abbreviation.attributes())?;
            match tag {
                gimli::DW_TAG_template_type_parameter | gimli::DW_TAG_template_value_parameter => {
                    let is_pack = |tag: DwTag| tag == gimli::DW_TAG_GNU_template_parameter_pack;
                    let owner = around.iter().rev().find(|(.., tag)| !is_pack(*tag));
                    if let Some((_, owner, _)) = owner {
                        self.arguments.entry(*owner).or_default().push(Argument {
                            offset,
                            is_type: tag == gimli::DW_TAG_template_type_parameter,
                        });
                    }
                }
                _ if is_scope(tag) => {
                    if let Some((_, outer, _)) = around.last() {
                        self.scopes.insert(offset, *outer);
                    }
                }
                _ => {}
            }
            if abbreviation.has_children() {
                around.push((depth, offset, tag));
            }
        }
        Ok(())
    }

    fn name(&self, offset: usize) -> Option<String> {
        let entry = self.entries.unit.entry(UnitOffset(offset)).ok()?;
        let name = self.entries.text(entry.attr_value(gimli::DW_AT_name));
        name.map(|name| name.into_owned())
    }

    /// Returns the arguments of an instance with their brackets.
    fn written(&self, instance: usize, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let listed = self.arguments.get(&instance)?;
        let mut written = Vec::with_capacity(listed.len());
        let mut length = 0;
        for argument in listed {
            let one = if argument.is_type {
                self.type_of(argument.offset, depth)?
            } else {
                self.value(argument.offset, depth)?
            };
            length += one.len();
            if length > LENGTH_MAX {
                return None;
            }
            written.push(one);
        }
        Some(format!("<{}>", written.join(", ")))
    }

    fn value(&self, offset: usize, depth: usize) -> Option<String> {
        let entry = self.entries.unit.entry(UnitOffset(offset)).ok()?;
        let value = entry.attr_value(gimli::DW_AT_const_value)?;
        let number = match value {
            AttributeValue::Sdata(number) => i128::from(number),
            value => i128::from(value.udata_value()?),
        };
        let of = self.type_of(offset, depth)?;
        Some(match (&*of, number) {
            ("bool", 0) => "false".to_owned(),
            ("bool", _) => "true".to_owned(),
            ("char", number) => {
                let letter = u8::try_from(number).ok().filter(u8::is_ascii_graphic);
                letter.map_or_else(|| number.to_string(), |it| format!("'{}'", it as char))
            }
            _ => number.to_string(),
        })
    }

    /// Returns the name of the type that a DIE refers to.
    fn type_of(&self, offset: usize, depth: usize) -> Option<String> {
        let entry = self.entries.unit.entry(UnitOffset(offset)).ok()?;
        match entry.attr_value(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(to)) => self.type_name(to.0, depth),
            Some(_) => None,
            None => Some("void".to_owned()),
        }
    }

    fn type_name(&self, offset: usize, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let entry = self.entries.unit.entry(UnitOffset(offset)).ok()?;
        let inner = || self.type_of(offset, depth);
        let behind = |sign: &str| {
            let inner = inner()?;
            let space = if inner.ends_with(['*', '&']) { "" } else { " " };
            Some(format!("{inner}{space}{sign}"))
        };
        let qualified = |word: &str| {
            let inner = inner()?;
            Some(if inner.ends_with(['*', '&']) {
                format!("{inner}{word}")
            } else {
                format!("{word} {inner}")
            })
        };
        match entry.tag() {
            gimli::DW_TAG_pointer_type => behind("*"),
            gimli::DW_TAG_reference_type => behind("&"),
            gimli::DW_TAG_rvalue_reference_type => behind("&&"),
            gimli::DW_TAG_const_type => qualified("const"),
            gimli::DW_TAG_volatile_type => qualified("volatile"),
            gimli::DW_TAG_base_type | gimli::DW_TAG_unspecified_type => self.name(offset),
            tag if is_scope(tag) => self.qualified(offset, depth),
            _ => None,
        }
    }

    /// Returns the name of a type with its scopes and arguments.
    fn qualified(&self, offset: usize, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let mut name = self.name(offset)?;
        if !name.contains('<') && self.arguments.contains_key(&offset) {
            name.push_str(&self.written(offset, depth)?);
        }
        match self.scopes.get(&offset) {
            Some(outer) if self.scopes.contains_key(outer) => {
                match self.qualified(*outer, depth) {
                    Some(scope) => Some(format!("{scope}::{name}")),
                    // An unnamed namespace.
                    None => Some(name),
                }
            }
            _ => Some(name),
        }
    }
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_typedef
    )
}
