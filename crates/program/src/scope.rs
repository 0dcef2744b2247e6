//! What names mean in a frame: its variables, then globals and functions of its source
//! file, of the program, and of all other modules.

mod of_function;
mod registers;

pub use registers::{is_register, whole_register};

use crate::modules::{Module, Modules};
use crate::program::Program;
use crate::stack::frames::Frame;
use crate::variables::{VariableContext, static_address, static_value};
use juror_symbols::{
    Function, Memory, Parameter, Signature, Type, Variable, argument_plan, is_whole_name_of,
    omits_template_arguments, register,
};
use juror_values::error::ValueError;
use juror_values::expression::{Overload, Scope, dereference, function_at};
use juror_values::library_types::LibraryTypes;
use juror_values::typed::Location;
use juror_values::typed::Typed;
use registers::SpecialRegister;
use std::rc::Rc;

/// A frame of a stopped thread, as expressions see it.
pub struct FrameScope<'a> {
    /// The program.
    pub program: &'a Program,
    /// The whole stack, so that `^x` finds the caller.
    pub frames: &'a [Frame],
    /// Which of them is meant.
    pub level: usize,
    /// The values of `$1` and so on, and of `$`, the last.
    pub convenience: &'a dyn Fn(&str) -> Option<Typed>,
}

impl FrameScope<'_> {
    fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.level)
    }

    /// A local variable or parameter of the frame, with what the debug information
    /// says of it.
    pub fn local_variable(&self, name: &str) -> Option<(Variable, Typed)> {
        let frame = self.frame()?;
        let mut variables = self.program.variables(frame).into_iter();
        let (variable, _) = variables.find(|(variable, _)| &*variable.name == name)?;
        let value = self.program.value_of(frame, &variable);
        Some((variable, value))
    }

    fn local(&self, frame: &Frame, name: &str) -> Option<Typed> {
        let (variable, _) = self
            .program
            .variables(frame)
            .into_iter()
            .find(|(variable, _)| &*variable.name == name)?;
        Some(self.program.value_of(frame, &variable))
    }

    /// Every name that could be meant, for suggestions and completion.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if let Some(frame) = self.frame() {
            names.extend(
                self.program
                    .variables(frame)
                    .iter()
                    .map(|(v, _)| v.name.to_string()),
            );
        }
        for module in self.program.modules.iter().filter(|module| module.is_main) {
            names.extend(module.symbols.global_names());
            names.extend(module.symbols.function_names());
        }
        names.sort();
        names.dedup();
        // What a closure has captured may have none.
        names.retain(|name| !name.is_empty());
        names
    }

    /// A field of the object that a C++ member function is for: `this` is silent
    /// there. Where nobody knows the object, nothing else of that name is meant, either.
    pub fn field_of_this(&self, name: &str) -> Option<Result<Typed, ValueError>> {
        let this = self.local(self.frame()?, "this")?;
        let class = this.r#type.target()?;
        let is_field = class.field(name).is_some() || class.virtual_field(name).is_some();
        is_field.then(|| {
            let object = dereference(&this, self.memory());
            let object =
                object.map_err(|error| error.within(format!("`{name}` is a field of `this`")))?;
            object.field(name, self.memory())
        })
    }

    /// A global variable, function or enumerator: what the frame's source file has, what
    /// the program has, what libraries let others see, then what else is known of the
    /// frame's own module and of all others. So a library's internals hide nothing of the
    /// program in whose name it works.
    pub fn outside(&self, name: &str) -> Result<Typed, ValueError> {
        let frame = self.frame();
        let own: Option<Rc<Module>> = frame.and_then(|frame| frame.module.clone());
        let scopes = frame.map_or_else(Vec::new, scopes_of);
        let context = VariableContext {
            program: self.program,
            thread: frame.and_then(|frame| frame.thread),
        };
        let beside = frame.zip(own.clone());
        let beside = beside.map(|(frame, module)| (frame.lookup, module));
        if let Some(found) = seen(&self.program.modules, beside, name, &scopes, context) {
            return Ok(found);
        }
        let is_own = |module: &Rc<Module>| {
            module.is_main || own.as_ref().is_some_and(|own| Rc::ptr_eq(own, module))
        };
        let mut missing = None;
        for module in own.iter().chain(self.program.modules.iter()) {
            let Some(found) = global(module, name, &scopes, context) else {
                continue;
            };
            if !matches!(found.location, Location::Missing(_)) {
                return Ok(found);
            }
            // Another module may have one that is there; what the compiler removed from
            // a library nobody means.
            missing = missing.or(is_own(module).then_some(found));
        }
        missing.map_or_else(|| self.instance(name), Ok)
    }

    /// The one instance of a template whose arguments the name leaves out.
    fn instance(&self, name: &str) -> Result<Typed, ValueError> {
        let instances = self.overloads(name);
        match instances.as_slice() {
            [] => Err(self.missing_name(name).into()),
            [only] => Ok(only.value()),
            several => {
                let mut names: Vec<&str> = several.iter().map(|it| &*it.name).collect();
                names.sort_unstable();
                names.dedup();
                let names = names.join(", ");
                Err(format!("`{name}` is a template: say which, of {names}").into())
            }
        }
    }

    fn missing_name(&self, name: &str) -> String {
        if let Some(why) = self.only_at_prompt(name) {
            return why;
        }
        let names = self.names();
        match juror_language::suggest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("there is no `{name}` here; did you mean `{near}`?"),
            None => format!("there is no `{name}` here"),
        }
    }
}

/// The functions of a module that have this name in one of these scopes, or without
/// any. Instances of a template have it, too, whose arguments it leaves out.
fn functions(module: &Module, name: &str, scopes: &[String]) -> impl Iterator<Item = Function> {
    let named = module.symbols.functions_named(name).into_iter();
    // `size` is no short name for every `X::size` of a library.
    named.filter(move |function| {
        let is = |written: &str| is_whole_name_of(written, &function.name);
        let is_called_so = &*function.name == name
            || is(name)
            || scopes.iter().any(|scope| is(&format!("{scope}{name}")));
        !function.plt && !function.fragment && is_called_so
    })
}

/// What the name of a function stands for. One that chooses another is not of its type.
fn function_value(module: &Module, function: &Function) -> Typed {
    let signature = match function.indirect {
        true => None,
        false => module.symbols.signature(function).ok().flatten(),
    };
    let r#type = signature.map(|known| known.function_type());
    function_at(module.to_process(function.low_pc), r#type.as_ref())
}

/// A function with the types of its parameters, as far as they are known.
fn overload(module: &Module, function: &Function) -> Overload {
    let signature = module.symbols.signature(function).ok().flatten();
    let is_variadic = signature.as_ref().is_some_and(|known| known.variadic);
    let known = signature.as_ref().filter(|_| !function.indirect);
    let r#type = known.map(Signature::function_type);
    let parameters = match signature {
        Some(known) => known.parameters.into_iter().map(|(_, of)| of).collect(),
        None => {
            let parameters = module.symbols.parameters(function).into_iter();
            parameters.map(|parameter| parameter.r#type).collect()
        }
    };
    Overload {
        name: function.name.as_ref().into(),
        address: module.to_process(function.low_pc),
        parameters,
        is_variadic,
        r#type,
    }
}

/// What a name means before the frame's own module is asked: of the source file of the
/// code at an address, of the program, and of what libraries let others see.
fn seen(
    modules: &Modules,
    beside: Option<(u64, Rc<Module>)>,
    name: &str,
    scopes: &[String],
    context: VariableContext<'_>,
) -> Option<Typed> {
    let is_there = |found: &Typed| !matches!(found.location, Location::Missing(_));
    let (address, own) = beside?;
    let beside = own.symbols.globals_beside(name, own.to_file(address));
    let mut beside = (beside.into_iter()).map(|variable| static_value(variable, &own, context));
    if let Some(found) = beside.find(is_there) {
        return Some(found);
    }
    if own.is_main {
        return None;
    }
    let main = modules.iter().find(|module| module.is_main);
    let known = main.and_then(|main| known(main, name, scopes, context));
    known.filter(is_there).or_else(|| {
        let values = visible(modules, &own, name).map(|(variable, module, copy)| match copy {
            Some(address) => Typed::in_memory(variable.r#type, address),
            None => static_value(variable, module, context),
        });
        values.into_iter().find(is_there)
    })
}

/// What libraries let others see, the frame's own one first; with the address of the copy
/// that the program has of it, which then counts.
fn visible<'a>(
    modules: &'a Modules,
    own: &'a Rc<Module>,
    name: &'a str,
) -> impl Iterator<Item = (Variable, &'a Module, Option<u64>)> + 'a {
    let main = modules.iter().find(|module| module.is_main);
    let copy = main.and_then(|main| Some(main.to_process(main.symbols.data_symbol(name)?.0)));
    std::iter::once(own)
        .chain(modules.iter())
        .flat_map(move |module| {
            let found = module.symbols.externals_named(name).into_iter();
            found.map(move |variable| (variable, &**module, copy))
        })
}

/// The same of variables with an address of their own, for the code at a file address.
pub fn visible_address(
    modules: &Modules,
    beside: Option<(&Rc<Module>, u64)>,
    name: &str,
) -> Option<(u64, Type)> {
    let (own, address) = beside?;
    let located = |variable: Variable, module: &Module, copy: Option<u64>| {
        let address = copy.or_else(|| static_address(&variable, module))?;
        Some((address, variable.r#type))
    };
    let mut beside = own.symbols.globals_beside(name, address).into_iter();
    if let Some(found) = beside.find_map(|variable| located(variable, own, None)) {
        return Some(found);
    }
    let main = modules.iter().find(|module| module.is_main);
    let main = main.filter(|_| !own.is_main)?;
    let mut of_main = main.symbols.globals_named(name).into_iter();
    of_main
        .find_map(|variable| located(variable, main, None))
        .or_else(|| visible(modules, own, name).find_map(|(it, of, copy)| located(it, of, copy)))
}

/// The value of a global variable, function or enumerator of a module, by its debug
/// information or, of functions, the symbol table; why one is missing that was removed.
fn known(
    module: &Module,
    name: &str,
    scopes: &[String],
    context: VariableContext<'_>,
) -> Option<Typed> {
    let mut removed = None;
    let mut of_variable = |variable: Variable| {
        let value = static_value(variable, module, context);
        match value.location {
            Location::Missing(_) => {
                removed.get_or_insert(value);
                None
            }
            _ => Some(value),
        }
    };
    if let Some(value) = module
        .symbols
        .globals_named(name)
        .into_iter()
        .find_map(&mut of_variable)
    {
        return Some(value);
    }
    if name.contains("::")
        && let Some(value) =
            (module.symbols.statics_named(name).into_iter()).find_map(&mut of_variable)
    {
        return Some(value);
    }
    let mut functions = functions(module, name, scopes);
    let function = functions.find(|function| !omits_template_arguments(name, &function.name));
    if let Some(function) = function {
        return Some(function_value(module, &function));
    }
    if let Some((r#type, value)) = module.symbols.enumerator_named(name) {
        let size = r#type.size().unwrap_or(4).min(16) as usize;
        let bytes = value.to_le_bytes().get(..size)?.to_vec();
        return Some(Typed::of_bytes(r#type, bytes));
    }
    removed
}

/// The value of a global variable, function or enumerator of a module, by its symbol where
/// no debug information tells of it; names of functions are sought in these scopes.
pub fn global(
    module: &Module,
    name: &str,
    scopes: &[String],
    context: VariableContext<'_>,
) -> Option<Typed> {
    if let Some(found) = known(module, name, scopes, context) {
        return Some(found);
    }
    let word = |size: u64| match size {
        1 => Type::builtin("u8"),
        2 => Type::builtin("u16"),
        4 => Type::builtin("u32"),
        _ => Type::builtin("u64"),
    };
    if let Some((address, size)) = module.symbols.data_symbol(name) {
        let address = module.to_process(address);
        return Some(Typed::in_memory(word(size)?, address));
    }
    let (offset, size) = module.symbols.thread_local_symbol(name)?;
    let VariableContext { program, thread } = context;
    let address = thread.and_then(|thread| program.thread_local(module, thread, offset));
    Some(match address {
        Some(address) => Typed::in_memory(word(size)?, address),
        None => Typed::missing(word(size)?, "the thread has no copy of it"),
    })
}

/// The scopes that a frame's function lies in, innermost first, each with its
/// `::`.
fn scopes_of(frame: &Frame) -> Vec<String> {
    let name = frame.name.as_deref().unwrap_or("");
    let plain = name.split(['<', '(']).next().unwrap_or("");
    plain
        .rmatch_indices("::")
        .map(|(at, _)| plain[..at + 2].to_owned())
        .collect()
}

impl Scope for FrameScope<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        let frame = self.frame();
        if let Some(value) = frame.and_then(|frame| self.local(frame, name)) {
            return Ok(value);
        }
        if let Some(field) = self.field_of_this(name) {
            return field;
        }
        let found = self.outside(name);
        match found.is_err().then(|| self.variable_of_function(name)) {
            Some(Some(variable)) => variable,
            _ => found,
        }
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        if let Some(value) = (self.convenience)(name) {
            return Ok(value);
        }
        let frame = self.frame().ok_or("the program has no frame")?;
        if name == "eflags" {
            return self.flags(frame);
        }
        if let Some(special) = SpecialRegister::named(name) {
            return self.special(frame, special);
        }
        let Some(number) = whole_register(name) else {
            return self.part_of_register(frame, name);
        };
        let word = frame
            .registers
            .get(number)
            .ok_or_else(|| format!("the value of {name} is not known in this frame"))?;
        let plain = Type::builtin("long").ok_or("no type for registers")?;
        let r#type = match number {
            register::RIP | register::RSP | register::RBP => Type::void().pointer_to(),
            _ => plain,
        };
        Ok(Typed::of_bytes(r#type, word.to_le_bytes().to_vec()))
    }

    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        let frame = self.frame().ok_or("the program has no frame")?;
        if let Some(arguments) = &frame.arguments {
            let variable = arguments.get(usize::from(position).wrapping_sub(1));
            let value = variable.map(|variable| self.program.value_of(frame, variable));
            return value.ok_or_else(|| format!("the function has no parameter {position}").into());
        }
        let (Some(module), Some(function)) = (&frame.module, &frame.function) else {
            return Err("this frame belongs to no known function".into());
        };
        let parameters = module.symbols.parameters(function);
        let index = usize::from(position).wrapping_sub(1);
        if let Some(variable) = parameters.get(index) {
            return self
                .local(frame, &variable.name)
                .ok_or_else(|| format!("argument {position} is not visible here").into());
        }
        if !frame.is_at_entry() {
            return Err(format!(
                "argument {position} of `{}` is not known: the function has no debug information",
                function.name
            )
            .into());
        }
        let stack = frame
            .registers
            .get(register::RSP)
            .map(|stack| stack.wrapping_add(8));
        let location = std::iter::once(argument_plan(usize::from(position), &[])).collect();
        let word = Type::builtin("unsigned long").ok_or("no type for words")?;
        Ok(self.program.at_entry(frame, word, &location, stack))
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        let frame = self.frame().ok_or("the program has no frame")?;
        let word = frame
            .registers
            .get(register::RAX)
            .ok_or("rax is not known in this frame")?;
        let r#type = Type::builtin("long").ok_or("no type for words")?;
        Ok(Typed::of_bytes(r#type, word.to_le_bytes().to_vec()))
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        if self.level + 1 >= self.frames.len() {
            return Err("this frame has no caller that is known".into());
        }
        Ok(Box::new(FrameScope {
            level: self.level + 1,
            ..*self
        }))
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        let own = self.frame().and_then(|frame| frame.module.clone());
        own.iter()
            .chain(self.program.modules.iter())
            .filter(|module| module.symbols.has_debug_info())
            .find_map(|module| module.symbols.type_named(name))
            .or_else(|| Type::builtin(name))
    }

    fn library_types(&self) -> Option<&dyn LibraryTypes> {
        Some(&self.program.pretty_printers)
    }

    fn type_of_table(&self, address: u64) -> Option<Type> {
        self.program.modules.type_of_table(address)
    }

    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        let modules = &self.program.modules;
        let found = modules.reached_definitions(linkage_name, |_| true);
        found.first().map(|bound| bound.address())
    }

    fn is_cpp(&self) -> bool {
        let is_cpp = self.frame().and_then(|frame| {
            let module = frame.module.as_ref()?;
            Some(module.symbols.is_cpp_at(module.to_file(frame.lookup)))
        });
        is_cpp.unwrap_or(false)
    }

    fn overloads(&self, name: &str) -> Vec<Overload> {
        let frame = self.frame();
        let own: Option<Rc<Module>> = frame.and_then(|frame| frame.module.clone());
        let scopes = frame.map_or_else(Vec::new, scopes_of);
        let of_module = |module: &Rc<Module>| {
            let found = functions(module, name, &scopes).map(|it| overload(module, &it));
            let mut found: Vec<Overload> = found.collect();
            // A symbol alone knows no parameters.
            found.sort_by_key(|it| (it.address, std::cmp::Reverse(it.parameters.len())));
            found.dedup_by_key(|it| it.address);
            found
        };
        let mut modules = own.iter().chain(self.program.modules.iter()).map(of_module);
        modules.find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn function_of(&self, type_name: &str, name: &str) -> Option<(u64, Vec<Type>)> {
        let modules = &self.program.modules;
        let with_types = |module: &Module| module.symbols.has_debug_info();
        let written = format!("{type_name}::{name}");
        let mut found = modules.reached_definitions(&written, with_types);
        if found.is_empty() {
            // What a trait of Rust has for all types that do not have it themselves. Of
            // several traits none is meant.
            let provided = format!("{name}<{type_name}>");
            found = modules.reached_definitions(&provided, with_types);
            found.retain(|bound| bound.function.name.contains("::"));
            found.truncate(if found.len() > 1 { 0 } else { 1 });
        }
        let bound = found.first()?;
        let signature = bound.module.symbols.signature(&bound.function).ok()??;
        let types = signature.parameters.into_iter().map(|(_, of)| of);
        Some((bound.address(), types.collect()))
    }

    fn memory(&self) -> &dyn Memory {
        self.program
    }
}

impl Program {
    /// The entry values of a function that is being called, in order: for the
    /// report, at its first instruction.
    pub fn entry_arguments(&self, frame: &Frame) -> Vec<(String, Typed)> {
        let (Some(module), Some(function)) = (&frame.module, &frame.function) else {
            return Vec::new();
        };
        let count = module.symbols.parameters(function).len();
        let stack = frame
            .registers
            .get(register::RSP)
            .map(|stack| stack.wrapping_add(8));
        (1..=count)
            .filter_map(|position| {
                let value = module
                    .symbols
                    .entry_value_plan(function, Parameter::Position(position))
                    .ok()?;
                let typed = self.at_entry(frame, value.r#type, &value.location, stack);
                Some((value.name.to_string(), typed))
            })
            .collect()
    }
}
