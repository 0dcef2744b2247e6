//! What the abstract instance of a function declares, and an instance of it lacks.
//!
//! LLVM leaves out of an inlined copy the variables without a location, and the blocks that have
//! no others; gcc leaves static variables in the abstract instance. In its block each of them
//! hides what has its name outside.
//!
//! Source: DWARF 5, section 3.3.8.

use crate::dwarf::{DebugInfo, DieRef, Visit};
use rustc_hash::FxHashSet;

/// The blocks of the abstract instance of a function.
pub(super) struct AbstractInstance {
    /// Each block behind the one that contains it; the function is the first.
    blocks: Vec<AbstractBlock>,
}

struct AbstractBlock {
    die: DieRef,
    parent: Option<usize>,
    /// Its variables and parameters.
    variables: Vec<DieRef>,
}

/// What the entries of an instance describe of the abstract one.
#[derive(Default)]
pub(super) struct Described {
    variables: FxHashSet<DieRef>,
    /// The blocks that have a place in the code.
    blocks: FxHashSet<usize>,
}

impl AbstractInstance {
    /// Reads the blocks of an abstract instance.
    pub fn read(info: &DebugInfo, root: DieRef) -> AbstractInstance {
        let mut blocks = vec![AbstractBlock::new(root, None)];
        let mut path: Vec<(isize, usize)> = vec![(0, 0)];
        info.walk(root, |depth, die, entry| {
            if depth == 0 {
                return Visit::Descend;
            }
            while path.last().is_some_and(|(at, _)| *at >= depth) {
                path.pop();
            }
            let inner = path.last().map(|(_, block)| *block);
            match entry.tag() {
                gimli::DW_TAG_lexical_block => {
                    path.push((depth, blocks.len()));
                    blocks.push(AbstractBlock::new(die, inner));
                    Visit::Descend
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let block = inner.and_then(|inner| blocks.get_mut(inner));
                    block.into_iter().for_each(|it| it.variables.push(die));
                    Visit::Skip
                }
                _ => Visit::Skip,
            }
        });
        AbstractInstance { blocks }
    }

    /// Returns the DIE of a block.
    pub fn die(&self, block: usize) -> Option<DieRef> {
        self.blocks.get(block).map(|block| block.die)
    }

    /// Returns the variables and parameters of a block.
    pub fn variables(&self, block: usize) -> &[DieRef] {
        self.blocks.get(block).map_or(&[], |block| &block.variables)
    }

    /// Returns a block and those around it, outermost first.
    pub fn path(&self, block: usize) -> Vec<usize> {
        let mut path = vec![block];
        while let Some(outer) = path.last().and_then(|at| self.blocks.get(*at)?.parent) {
            path.push(outer);
        }
        path.reverse();
        path
    }

    /// Returns the blocks in a block that have no place in the code, and no block around them
    /// has one.
    pub fn unplaced_in(&self, block: usize, described: &Described) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (number, inner) in self.blocks.iter().enumerate() {
            let is_inside = |outer: usize| outer == block || found.contains(&outer);
            if inner.parent.is_some_and(is_inside) && !described.blocks.contains(&number) {
                found.push(number);
            }
        }
        found
    }

    /// Returns the block that an entry of an instance is, or whose variables it has.
    pub fn block_of(&self, info: &DebugInfo, concrete: DieRef) -> Option<usize> {
        let entry = info.die(concrete)?;
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
        if let Some(origin) = info.reference(concrete.unit, origin) {
            return self.blocks.iter().position(|block| block.die == origin);
        }
        let children = info.children(concrete).into_iter();
        let mut origins = children.filter_map(|(at, child)| {
            let origin = child.attr_value(gimli::DW_AT_abstract_origin);
            info.reference(at.unit, origin)
        });
        origins.find_map(|origin| {
            let mut blocks = self.blocks.iter();
            blocks.position(|block| block.variables.contains(&origin))
        })
    }

    /// Returns what the entries of an instance describe; `parts` are the copies in it that are
    /// parts of itself.
    pub fn described(&self, info: &DebugInfo, instance: DieRef, parts: &[DieRef]) -> Described {
        let mut described = Described::default();
        let mut blocks = vec![instance];
        info.walk(instance, |depth, die, entry| match entry.tag() {
            _ if depth == 0 => Visit::Descend,
            gimli::DW_TAG_inlined_subroutine if !parts.contains(&die) => Visit::Skip,
            gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_GNU_formal_parameter_pack => {
                Visit::Descend
            }
            gimli::DW_TAG_lexical_block => {
                blocks.push(die);
                Visit::Descend
            }
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
                described.variables.extend(info.reference(die.unit, origin));
                Visit::Skip
            }
            _ => Visit::Skip,
        });
        let placed = blocks.iter().filter_map(|it| self.block_of(info, *it));
        described.blocks.extend(placed);
        described
    }
}

impl AbstractBlock {
    fn new(die: DieRef, parent: Option<usize>) -> AbstractBlock {
        AbstractBlock {
            die,
            parent,
            variables: Vec::new(),
        }
    }
}

impl Described {
    /// Returns whether an entry of the instance describes a variable.
    pub fn has(&self, variable: DieRef) -> bool {
        self.variables.contains(&variable)
    }
}
