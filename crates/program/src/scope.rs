//! The meaning of names in a frame: its variables, then globals and functions of its source file,
//! of the program, and of all other modules.

mod definitions;
mod local_names;
mod lookup;
mod meaning;
mod of_function;
mod registers;

use juror_arch::names::{self, SpecialRegister, whole_register};
use juror_arch::{abi, dwarf};
use local_names::GlobalDeclaration;
pub use lookup::Place;

use crate::modules::Module;
use crate::program::Program;
use crate::stack::frames::Frame;
use crate::variables::VariableContext;
use juror_symbols::{
    Function, Memory, Method, Parameter, Signature, Type, Variable, argument_plan,
};
use juror_values::error::ValueError;
use juror_values::expression::{Overload, Scope, dereference, function_at};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::Typed;
use meaning::Meaning;
use std::rc::Rc;

/// The scope of an expression: a frame of a stopped thread.
pub struct FrameScope<'a> {
    /// The program.
    pub program: &'a Program,
    /// The complete stack, so that `^x` can reach the caller.
    pub frames: &'a [Frame],
    /// The index of the frame.
    pub level: usize,
    /// The lookup of convenience variables: `$1` and others, and `$`, the last value.
    pub convenience: &'a dyn Fn(&str) -> Option<Typed>,
}

impl FrameScope<'_> {
    fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.level)
    }

    /// Returns a local variable or parameter of the frame with its debug information and value.
    pub fn local_variable(&self, name: &str) -> Option<(Variable, Typed)> {
        let frame = self.frame()?;
        let variable = self.program.local_variable(frame, name)?;
        let value = self.program.value_of(frame, &variable);
        Some((variable, value))
    }

    fn local(&self, frame: &Frame, name: &str) -> Option<Typed> {
        let variable = self.program.local_variable(frame, name)?;
        Some(self.program.value_of(frame, &variable))
    }

    /// Returns whether the object of a member function has a field of this name.
    fn has_in_this(&self, name: &str) -> bool {
        self.field_of_this(name).is_some()
    }

    /// Returns every name that is visible, for suggestions and completion.
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
        // The captures of a closure may be unnamed.
        names.retain(|name| !name.is_empty());
        names
    }

    /// Returns a field of the implicit object of a C++ member function. If the object cannot be
    /// located, the error is returned, since the field hides other meanings of the name. In a
    /// lambda that has captured `this`, the object is the target of the captured pointer.
    pub fn field_of_this(&self, name: &str) -> Option<Result<Typed, ValueError>> {
        let frame = self.frame()?;
        if self.program.global_declaration(frame, name).is_some() {
            return None;
        }
        let mut this = self.local(frame, "this")?;
        for _ in 0..CAPTURES_MAX {
            let class = this.r#type.target()?;
            let object = || {
                let object = dereference(&this, self.memory());
                object.map_err(|error| error.within(format!("`{name}` is a field of `this`")))
            };
            if has_field(&class, name) {
                return Some(object().and_then(|object| object.field(name, self.memory())));
            }
            // clang names a captured `this` like the pointer to the closure.
            let captured = class.field("this")?;
            let inner = object().and_then(|it| it.field("this", self.memory()));
            this = match inner {
                Ok(inner) => inner,
                Err(why) => {
                    let class = captured.r#type.target()?;
                    return has_field(&class, name).then_some(Err(why));
                }
            };
        }
        None
    }

    /// Returns a global variable, function or enumerator: from the scopes around the frame, then
    /// from the program and all other modules. So the internals of a library do not hide those of
    /// the program that called it.
    pub fn outside(&self, name: &str) -> Result<Typed, ValueError> {
        match self.meaning(name)? {
            Some(meaning) => self.value(meaning, name),
            None => self.instance(name),
        }
    }

    /// Returns a global like [`FrameScope::outside`], for results that the user does not see, as in
    /// a condition: a variable that neither the frame's module nor the program has is an error,
    /// unless its module or file is named.
    pub fn outside_strictly(&self, name: &str) -> Result<Typed, ValueError> {
        match self.meaning(name)? {
            Some(meaning) if meaning.is_variable_elsewhere() => {
                let module = meaning.module.name();
                Err(format!(
                    "there is no `{name}` here; {module} has one, which is written `{module}::{name}`"
                )
                .into())
            }
            Some(meaning) => self.value(meaning, name),
            None => self.instance(name),
        }
    }

    /// Returns the module that has a variable, if that is neither the frame's own nor the program.
    pub fn elsewhere(&self, name: &str) -> Option<String> {
        let frame = self.frame()?;
        if self.program.local_variable(frame, name).is_some() || self.has_in_this(name) {
            return None;
        }
        let meaning = self.meaning(name).ok()??;
        meaning
            .is_variable_elsewhere()
            .then(|| meaning.module.name())
    }

    fn place(&self) -> Place<'_> {
        Place::of_frame(&self.program.modules, self.frame())
    }

    fn meaning(&self, name: &str) -> Result<Option<Meaning>, ValueError> {
        let place = self.place();
        let frame = self.frame();
        match frame.and_then(|frame| self.program.global_declaration(frame, name)) {
            Some(GlobalDeclaration::External) => {
                place.outside_of_blocks().outside_of_classes().find(name)
            }
            Some(GlobalDeclaration::Using) => place.outside_of_classes().find(name),
            None => place.find(name),
        }
    }

    fn value(&self, meaning: Meaning, name: &str) -> Result<Typed, ValueError> {
        let context = VariableContext {
            program: self.program,
            thread: self.frame().and_then(|frame| frame.thread),
        };
        let value = meaning.value(context);
        value.ok_or_else(|| format!("the size of `{name}` is not known").into())
    }

    /// Returns the only instance of a template whose arguments the name omits.
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
        match juror_language::suggest_qualified(name, names.iter().map(String::as_str)) {
            Some(near) => format!("there is no `{name}` here; did you mean `{near}`?"),
            None => format!("there is no `{name}` here"),
        }
    }
}

/// The most nested closures with a captured `this` that are followed.
const CAPTURES_MAX: usize = 8;

/// Returns whether objects of a class have a field of this name.
pub fn has_field(class: &Type, name: &str) -> bool {
    class.field(name).is_some() || class.virtual_field(name).is_some()
}

/// Sorts overloads by address, and keeps one for each.
fn listed(found: impl Iterator<Item = Overload>) -> Vec<Overload> {
    let mut found: Vec<Overload> = found.collect();
    // A symbol without debug information has no parameters.
    found.sort_by_key(|it| (it.address, std::cmp::Reverse(it.parameters.len())));
    found.dedup_by_key(|it| it.address);
    found
}

/// Returns the value of a function's name. An indirect function does not have the type of its
/// target.
fn function_value(module: &Module, function: &Function) -> Typed {
    let signature = if function.indirect {
        None
    } else {
        module.symbols.signature(function).ok().flatten()
    };
    let r#type = signature.map(|known| known.function_type());
    function_at(module.to_process(function.low_pc), r#type.as_ref())
}

/// Returns a function with the types of its parameters, as far as they are known.
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
        if name == names::FLAGS {
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
        let r#type = if dwarf::holds_address(number) {
            Type::void().pointer_to()
        } else {
            plain
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
            .get(dwarf::STACK_POINTER)
            .map(abi::frame_at_entry);
        let location = std::iter::once(argument_plan(usize::from(position), &[])).collect();
        let word = Type::builtin("unsigned long").ok_or("no type for words")?;
        Ok(self.program.at_entry(frame, word, &location, stack))
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        let frame = self.frame().ok_or("the program has no frame")?;
        let word = frame
            .registers
            .get(abi::INTEGER_RESULTS[0])
            .ok_or_else(|| {
                let name = dwarf::name(abi::INTEGER_RESULTS[0]);
                format!("{name} is not known in this frame")
            })?;
        let r#type = Type::builtin("long").ok_or("no type for words")?;
        Ok(Typed::of_bytes(r#type, word.to_le_bytes().to_vec()))
    }

    fn function_name(&self, level: usize) -> Option<String> {
        let frame = self.frames.get(self.level.checked_add(level)?)?;
        let function = frame.function.as_ref().map(|it| it.name.to_string());
        frame.name.clone().or(function)
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
        let place = self.place();
        match place.type_named(name) {
            Ok(Some(found)) => return Some(found),
            Ok(None) => {}
            Err(_) => return None,
        }
        // A name of the global scope is none of another.
        let is_global = name
            .trim_start_matches(char::is_alphabetic)
            .trim_start()
            .starts_with("::");
        if is_global {
            return None;
        }
        if self.is_rust()
            && let Some(found) = Type::builtin_of_rust(name)
        {
            return Some(found);
        }
        let own = place.own().cloned();
        own.iter()
            .chain(self.program.modules.iter())
            .filter(|module| module.symbols.has_debug_info())
            .find_map(|module| module.symbols.type_named(name))
            .or_else(|| Type::builtin(name))
    }

    fn type_before_elsewhere(&self, name: &str) -> Option<Type> {
        self.elsewhere(name)?;
        self.place().type_named(name).ok().flatten()
    }

    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
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

    fn code_of_method(&self, method: &Method) -> Option<u64> {
        let code = |module: &Rc<Module>| {
            let code = module.symbols.code_of_method(method)?;
            Some(module.to_process(code))
        };
        self.program.modules.iter().find_map(code)
    }

    fn is_cpp(&self) -> bool {
        let is_cpp = self.frame().and_then(|frame| {
            let module = frame.module.as_ref()?;
            Some(module.symbols.is_cpp_at(module.to_file(frame.lookup)))
        });
        is_cpp.unwrap_or(false)
    }

    fn has_branches_as_declared(&self) -> bool {
        let module = self.frame().and_then(|frame| {
            let module = frame.module.as_ref()?;
            Some((module, module.to_file(frame.lookup)))
        });
        module.is_some_and(|(module, at)| {
            module.symbols.is_cpp_at(at) && !module.symbols.is_of_llvm_at(at)
        })
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.elsewhere(name).is_some()
    }

    fn has_variable(&self, word: &str) -> bool {
        let is_own = self.frame().is_some_and(|frame| {
            self.program.local_variable(frame, word).is_some() || self.has_in_this(word)
        });
        // The internals of a library are not meant by a word. Its symbol is found without a search
        // of the debug information.
        let own = self.frame().and_then(|frame| frame.module.clone());
        let modules = own.iter().chain(self.program.modules.main());
        let is_global = || {
            let mut modules = modules;
            modules.any(|module| module.symbols.data_symbol(word).is_some())
        };
        is_own || is_global()
    }

    fn is_rust(&self) -> bool {
        let is_rust = self.frame().and_then(|frame| {
            let module = frame.module.as_ref()?;
            Some(module.symbols.is_rust_at(module.to_file(frame.lookup)))
        });
        is_rust.unwrap_or(false)
    }

    fn overloads(&self, name: &str) -> Vec<Overload> {
        let found = self.place().functions(name).into_iter();
        listed(found.map(|(module, function)| overload(&module, &function)))
    }

    fn functions_in(&self, scope: &str, name: &str) -> Vec<Overload> {
        let found = self.place().functions_in(scope, name).into_iter();
        listed(found.map(|(module, function)| overload(&module, &function)))
    }

    fn class_name(&self, class: &Type, name: &str) -> Option<Result<Typed, ValueError>> {
        let found = self.place().class_name(class, name);
        let value = |meaning: Meaning| self.value(meaning, name);
        found.transpose().map(|found| found.and_then(value))
    }

    fn functions_of(&self, type_name: &str, name: &str) -> Vec<Overload> {
        let modules = &self.program.modules;
        let with_types = |module: &Module| module.symbols.has_debug_info();
        let written = format!("{type_name}::{name}");
        let mut found = modules.reached_definitions(&written, with_types);
        if found.is_empty() {
            // A method that a Rust trait provides for all types. If several traits provide one,
            // none is chosen.
            let provided = format!("{name}<{type_name}>");
            found = modules.reached_definitions(&provided, with_types);
            found.retain(|bound| bound.function.name.contains("::"));
            found.truncate(if found.len() > 1 { 0 } else { 1 });
        }
        let has_signature = |bound: &&crate::modules::Bound| {
            let known = bound.module.symbols.signature(&bound.function);
            known.is_ok_and(|known| known.is_some())
        };
        let known = found.iter().filter(has_signature);
        listed(known.map(|bound| overload(&bound.module, &bound.function)))
    }

    fn memory(&self) -> &dyn Memory {
        self.program
    }
}

impl Program {
    /// Returns the arguments of a function at its first instruction, in order, with their names.
    pub fn entry_arguments(&self, frame: &Frame) -> Vec<(String, Typed)> {
        let (Some(module), Some(function)) = (&frame.module, &frame.function) else {
            return Vec::new();
        };
        let count = module.symbols.parameters(function).len();
        let stack = frame
            .registers
            .get(dwarf::STACK_POINTER)
            .map(abi::frame_at_entry);
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
