//! Frames of functions that ended in a tail call, of which nothing is left in memory. The tail
//! calls in the debug information (DWARF 5, section 3.4.1) tell of them if only one path leads from
//! the call on the stack to the running function; of several paths, their common beginning and end.

use super::Caller;
use super::jumps::{self, Jump, Node};
use crate::modules::{Bound, Module};
use crate::program::Program;
use crate::stack::frames::Frame;
use crate::variables::FrameContext;
use juror_arch::dwarf;
use juror_symbols::{Binding, CallSite, Callee, EvaluationContext, Registers};
use std::rc::Rc;

/// The most functions whose tail calls are examined.
const FUNCTIONS_MAX: usize = 64;

/// A function that ended in a tail call.
#[derive(Debug)]
pub struct TailCall {
    function: Bound,
    site: CallSite,
    entered: Entered,
    /// The address of the jump in the process.
    pc: u64,
    lookup: u64,
}

/// The way in which a function was entered.
#[derive(Debug, Clone)]
pub(super) enum Entered {
    /// By the call on the stack.
    ByCall,
    /// By a tail call.
    ByJump(Rc<TailCall>),
    /// Unknown.
    Unknown,
}

/// The chain of tail calls between a call and the running function.
struct JumpChain {
    /// The functions that ended in tail calls, innermost first.
    jumped: Vec<Rc<TailCall>>,
    entered: Entered,
}

impl TailCall {
    pub(super) fn entered(&self) -> &Entered {
        &self.entered
    }

    /// Returns the call site of the tail call.
    pub(crate) fn site(&self) -> &CallSite {
        &self.site
    }

    /// Returns the frame of the function at its jump: callee-saved registers have the caller's
    /// values again, and the stack pointer is at the return address.
    fn frame(self: &Rc<TailCall>, inner: &Frame, of_caller: &Registers, cfa: u64) -> Frame {
        let mut registers = *of_caller;
        registers.set(dwarf::INSTRUCTION_POINTER, Some(self.pc));
        registers.set(dwarf::STACK_POINTER, Some(cfa.wrapping_sub(8)));
        Frame {
            lookup: self.lookup,
            thread: inner.thread,
            registers,
            cfa: Some(cfa),
            module: Some(Rc::clone(&self.function.module)),
            function: Some(self.function.function.clone()),
            guess: inner.guess,
            tail_call: Some(Rc::clone(self)),
            ..Frame::bare(self.pc)
        }
    }

    /// Returns the function as the caller of the frame before it.
    pub(super) fn as_caller(
        self: &Rc<TailCall>,
        inner: &Frame,
        of_caller: &Registers,
        cfa: u64,
    ) -> Caller {
        Caller {
            frame: self.frame(inner, of_caller, cfa),
            bias: self.function.module.bias,
            site: self.site.clone(),
        }
    }
}

impl Program {
    /// Returns the frames of functions that ended in tail calls between a frame and the one that it
    /// returns to, innermost first, as far as they are certain.
    pub(crate) fn tail_frames(&self, frame: &Frame, caller: &Frame) -> Vec<Frame> {
        let of_juror = frame.called_by_juror.or(caller.called_by_juror).is_some();
        // An interrupted frame has made no call.
        if of_juror || frame.guess || caller.guess || caller.lookup == caller.pc {
            return Vec::new();
        }
        let found = || {
            let module = caller.module.as_ref()?;
            let site = module
                .symbols
                .call_returning_to(module.to_file(caller.pc))?;
            let cfa = frame.cfa?;
            let runs = Bound {
                module: Rc::clone(frame.module.as_ref()?),
                function: frame.function.clone()?,
            };
            let called = self.called_at(caller, &site, &runs, 0)?;
            if called.address() == runs.address() {
                return None;
            }
            let jumped = self.jump_chain(called, runs).jumped;
            let frame = |it: &Rc<TailCall>| it.frame(frame, &caller.registers, cfa);
            Some(jumped.iter().map(frame).collect())
        };
        found().unwrap_or_default()
    }

    /// Returns how a frame's function was entered for a call on the stack.
    pub(super) fn entered(
        &self,
        frame: &Frame,
        caller: &Frame,
        site: &CallSite,
        depth: usize,
    ) -> Entered {
        let found = || {
            let runs = Bound {
                module: Rc::clone(frame.module.as_ref()?),
                function: frame.function.clone()?,
            };
            let called = self.called_at(caller, site, &runs, depth)?;
            Some(self.jump_chain(called, runs).entered)
        };
        found().unwrap_or(Entered::Unknown)
    }

    /// Returns the function that a call on the stack has called.
    fn called_at(
        &self,
        caller: &Frame,
        site: &CallSite,
        runs: &Bound,
        depth: usize,
    ) -> Option<Bound> {
        let module = caller.module.as_ref()?;
        let context = FrameContext {
            program: self,
            frame: caller,
            bias: module.bias,
            depth: depth + 1,
        };
        self.target(module, site, runs, Some(&context))
    }

    /// Returns the target of a call or tail call, or `None` if it is unknown. `runs` is the running
    /// function.
    fn target(
        &self,
        module: &Rc<Module>,
        site: &CallSite,
        runs: &Bound,
        caller: Option<&dyn EvaluationContext>,
    ) -> Option<Bound> {
        match site.callee() {
            Some(Callee::Here(function)) => {
                let here = Bound {
                    module: Rc::clone(module),
                    function: *function,
                };
                let may_be_another = !module.is_main && here.function.binding != Binding::Local;
                if !may_be_another || here.address() == runs.address() {
                    return Some(here);
                }
                // Another module may have a function of this name that precedes it.
                let name = here.function.linkage_name.clone()?;
                let reached = self.definition(&name)?;
                (reached.address() == here.address()).then_some(here)
            }
            Some(Callee::Named(name)) => {
                let is_elsewhere = |found: &Bound| {
                    !Rc::ptr_eq(&found.module, module) || !found.function.has_debug_info()
                };
                let is_exported = runs.function.binding != Binding::Local;
                if is_exported
                    && runs.function.linkage_name.as_ref() == Some(&name)
                    && is_elsewhere(runs)
                {
                    return Some(runs.clone());
                }
                self.definition(&name).filter(is_elsewhere)
            }
            None => {
                let address = site.target(caller?)?;
                let found = self.modules.function_at(address)?;
                (found.address() == address).then_some(found)
            }
        }
    }

    /// Returns the single function that calls of a symbol reach.
    fn definition(&self, name: &str) -> Option<Bound> {
        let mut reached = self.modules.reached_definitions(name, |_| true).into_iter();
        let only = reached.next().filter(|_| reached.next().is_none())?;
        if only.function.indirect {
            self.modules.chosen(&only)
        } else {
            Some(only)
        }
    }

    /// Returns the certain tail calls between the called function and the running one.
    fn jump_chain(&self, called: Bound, runs: Bound) -> JumpChain {
        let mut functions = vec![called];
        let goal = if functions.iter().any(|it| it.address() == runs.address()) {
            0
        } else {
            functions.push(runs.clone());
            1
        };
        let mut sites: Vec<Vec<CallSite>> = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        while let Some(from) = functions.get(nodes.len()).cloned() {
            let listed = from.module.symbols.tail_calls(&from.function);
            let mut node = Node {
                jumps: Vec::new(),
                lists_all: listed.is_some(),
            };
            let listed = listed.unwrap_or_default();
            for site in &listed {
                let target = self.target(&from.module, site, &runs, None);
                node.jumps
                    .push(target.and_then(|it| numbered(&mut functions, it)));
            }
            nodes.push(node);
            sites.push(listed);
        }
        let certain = jumps::certain(&nodes, goal);
        let jump = |&(at, number): &Jump, entered: &Entered| {
            let (function, site) = (functions.get(at)?, sites.get(at)?.get(number)?);
            Some(Rc::new(self.tail_call(function, site, entered.clone())?))
        };
        let mut jumped = Vec::new();
        let mut entered = Entered::ByCall;
        let mut follow = |jump_chain: &[Jump], mut entered: Entered| {
            for at in jump_chain {
                entered = match jump(at, &entered) {
                    Some(made) => {
                        jumped.push(Rc::clone(&made));
                        Entered::ByJump(made)
                    }
                    None => Entered::Unknown,
                };
            }
            entered
        };
        entered = follow(&certain.first, entered);
        if !certain.is_all {
            entered = follow(&certain.last, Entered::Unknown);
        }
        jumped.reverse();
        JumpChain { jumped, entered }
    }

    fn tail_call(&self, of: &Bound, site: &CallSite, entered: Entered) -> Option<TailCall> {
        let jump = site.jump()?;
        let module = &of.module;
        let lookup = module.to_process(jump.lookup);
        let start = jump.start.map(|start| module.to_process(start));
        let pc = start.unwrap_or_else(|| {
            // Only the end of the jump is known.
            let end = lookup.wrapping_add(1);
            let ranges = of.function.ranges.iter();
            let mut around = ranges.filter(|range| range.contains(&jump.lookup));
            let begin = around.next().map(|range| module.to_process(range.start));
            let found =
                begin.and_then(|begin| self.instruction_before(end, end.wrapping_sub(begin)));
            found.unwrap_or(end)
        });
        Some(TailCall {
            function: of.clone(),
            site: site.clone(),
            entered,
            pc,
            lookup,
        })
    }
}

/// Returns the index of a function, adding it if it is new, or `None` if there are too many.
fn numbered(functions: &mut Vec<Bound>, function: Bound) -> Option<usize> {
    let address = function.address();
    if let Some(known) = functions.iter().position(|it| it.address() == address) {
        return Some(known);
    }
    (functions.len() < FUNCTIONS_MAX).then(|| {
        functions.push(function);
        functions.len() - 1
    })
}
