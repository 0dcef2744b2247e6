//! Jumps back to the first instruction of a function.
//!
//! A compiler makes the first instruction the head of a loop if nothing precedes the loop, and
//! each round arrives where a call does. In such a round the return address of the call is
//! where it was, and the call has not returned: that tells it from a call, unless the function
//! can be left in other ways than by a return.
//!
//! Functions of Go begin with a check of the stack. Where it fails, the stack is moved, and
//! the function begins anew; the instruction behind the check is executed once a call.

use crate::dwarf::{DieRef, Language};
use crate::{Callee, Function, SymbolFile};
use iced_x86::{FlowControl, Instruction, OpKind};

/// The maximum number of instructions in a check of Go's stack.
const CHECK_LENGTH_MAX: usize = 12;

/// How the first instruction of a function is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionEntry {
    /// By calls alone.
    Calls,
    /// Also by jumps of a loop, in calls that end in a return.
    Loop,
    /// By jumps that cannot be told from calls.
    Unclear,
}

impl SymbolFile {
    /// Returns how the first instruction of a function is reached.
    pub fn entry_kind(&self, function: &Function) -> FunctionEntry {
        let instructions = self.instructions_of(function);
        let is_first = |it: &&Instruction| branch_target(it) == Some(function.low_pc);
        let mut back: Vec<&Instruction> = instructions.iter().filter(is_first).collect();
        if back.is_empty() {
            return FunctionEntry::Calls;
        }
        let all = back.len();
        let calls = self.tail_calls_of_itself(function);
        back.retain(|it| !calls.iter().any(|at| (it.ip()..=it.next_ip()).contains(at)));
        if back.is_empty() {
            return FunctionEntry::Calls;
        }
        let is_near = |it: &&Instruction| it.ip() < function.high_pc();
        let leaves = instructions.iter().any(|it| leaves(it, function));
        if all == back.len() && back.iter().all(is_near) && !leaves {
            FunctionEntry::Loop
        } else {
            FunctionEntry::Unclear
        }
    }

    /// Returns the addresses of the jumps by which a function calls itself, as far as the
    /// debug information lists them.
    fn tail_calls_of_itself(&self, function: &Function) -> Vec<u64> {
        let calls = self.tail_calls(function).unwrap_or_default();
        let is_own = |callee: &Callee| match callee {
            Callee::Here(callee) => callee.low_pc == function.low_pc,
            Callee::Named(name) => function.linkage_name.as_ref() == Some(name),
        };
        let own = calls
            .iter()
            .filter(|it| it.callee().as_ref().is_some_and(is_own));
        own.filter_map(|it| Some(it.jump()?.lookup)).collect()
    }

    /// Returns the file address behind the check of the stack that a function of Go begins
    /// with: its first instruction if it has none, or `None` if the check has another form.
    pub fn behind_stack_check(&self, function: &Function) -> Option<u64> {
        let instructions = self.instructions_of(function);
        let is_first = |it: &&Instruction| branch_target(it) == Some(function.low_pc);
        let back: Vec<u64> = instructions
            .iter()
            .filter(is_first)
            .map(|it| it.ip())
            .collect();
        let Some(&first) = back.iter().min() else {
            return Some(function.low_pc);
        };
        let mut checks = instructions
            .iter()
            .take(CHECK_LENGTH_MAX)
            .filter(|it| it.flow_control() == FlowControl::ConditionalBranch);
        let check = checks.next()?;
        let moves = branch_target(check).filter(|to| (check.ip()..first).contains(to))?;
        let is_call = |it: &Instruction| {
            it.flow_control() == FlowControl::Call && (moves..first).contains(&it.ip())
        };
        let same = checks.take_while(|it| branch_target(it) == Some(moves));
        let behind = same.last().unwrap_or(check).next_ip();
        let is_target = |it: &Instruction| branch_target(it) == Some(behind);
        let is_certain = instructions.iter().any(is_call) && !instructions.iter().any(is_target);
        is_certain.then_some(behind)
    }

    /// Returns whether a function has a loop: a direct jump back in its code.
    pub fn has_loop(&self, function: &Function) -> bool {
        let instructions = self.instructions_of(function);
        instructions
            .iter()
            .any(|it| branch_target(it).is_some_and(|to| to <= it.ip() && function.contains(to)))
    }

    /// Returns whether the unit of a function is written in Go.
    pub fn is_of_go(&self, function: &Function) -> bool {
        self.is_of(function, Language::Go)
    }

    /// Returns whether the unit of a function is written in Rust.
    pub fn is_of_rust(&self, function: &Function) -> bool {
        self.is_of(function, Language::Rust)
    }

    /// Returns whether a function is written in assembly.
    pub fn is_of_assembly(&self, function: &Function) -> bool {
        self.is_of(function, Language::Assembler)
    }

    /// Returns the line at which a function is declared where it is defined, if recorded.
    pub fn declared_line(&self, function: &Function) -> Option<u32> {
        let info = self.inner.debug_info()?;
        let line = info.inherited_unsigned(function.die?, gimli::DW_AT_decl_line)?;
        u32::try_from(line).ok()
    }

    fn is_of(&self, function: &Function, language: Language) -> bool {
        let unit = |die: DieRef| self.inner.debug_info()?.unit(die.unit);
        let unit = function.die.and_then(unit);
        unit.is_some_and(|unit| unit.language == language)
    }
}

/// Returns the target of a direct branch that is no call.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let is_branch = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    );
    let is_direct = is_branch && instruction.op0_kind() == OpKind::NearBranch64;
    is_direct.then(|| instruction.near_branch_target())
}

/// Returns whether a jump may end the call of a function in that of another one.
fn leaves(instruction: &Instruction, function: &Function) -> bool {
    let is_outside = |target| !function.contains(target);
    instruction.flow_control() == FlowControl::IndirectBranch
        || branch_target(instruction).is_some_and(is_outside)
}
