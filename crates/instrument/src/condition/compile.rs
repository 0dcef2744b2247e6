//! Compiles an expression to a [`Node`] by the rules of [`juror_values::expression`], without the
//! values.

use super::node::{Node, NumberClass, Scalar, Word};
use super::operand::{
    NotCompiled, NumberOperand, Operand, OperandLocation, Unknown, behind, cast, field_of, moved,
    number_operand, word_of, wrong,
};
use super::read_type::may_have_length;
use juror_language::{BinaryOperator, Expression, ExpressionKind, TypeName, UnaryOperator};
use juror_symbols::{Encoding, Type, TypeKind};
use juror_values::classes::upcast::moves_address;
use juror_values::expression::arithmetic::{Overflow, takes_floats};
use juror_values::expression::promotion::{
    common_type, is_inverted, is_short_float, overflow_in, overflow_of_shift, promoted,
    unsigned_bits,
};
use juror_values::expression::{
    NOT, NOT_IS_VARIABLE, NULL, REFERENCES_MAX, array_length, behind_reference, element_type,
    encoded_string, is_complex, names_member, names_variant, no_length, string_in_array,
};
use juror_values::pretty_printers::{Contents, PrettyPrinters};
use juror_values::read_plan::ClassNumber;
use juror_values::standard_types::LibraryTypes as _;
use juror_values::types::untyped::unknown_type;
use juror_values::types::written::written_type;
use std::ops::Range;
use std::sync::Arc;

/// The meaning of names at a place.
pub(super) trait Names {
    fn name(&self, name: &str) -> Result<Operand, Unknown>;
    fn register(&self, name: &str) -> Result<Operand, Unknown>;
    fn argument(&self, position: u8) -> Result<Operand, Unknown>;
    fn type_named(&self, name: &str) -> Option<Type>;
    /// Returns whether a word of the language is a variable of the program at the place.
    fn has_variable(&self, word: &str) -> bool {
        let _ = word;
        false
    }
    /// Returns whether the code at the place is Rust.
    fn is_rust(&self) -> bool {
        false
    }
    /// Returns the type of the function's result. Its value is not compiled; the type only serves
    /// to find errors.
    fn returned(&self) -> Option<Type> {
        None
    }
    /// Returns the type of a name, wherever its value is.
    fn type_of_name(&self, name: &str) -> Option<Type> {
        let _ = name;
        None
    }
    /// Returns the type of an argument, wherever its value is.
    fn type_of_argument(&self, position: u8) -> Option<Type> {
        let _ = position;
        None
    }
    /// Returns the number by which a machine identifies a C++ class.
    fn class_number(&self, class: &Type) -> Option<ClassNumber> {
        let _ = class;
        None
    }
    /// Returns whether a type has a pretty-printer, which may determine its elements.
    fn has_pretty_printer(&self, r#type: &Type) -> bool {
        PrettyPrinters::standard().has(r#type)
    }
    /// Returns whether the number of elements of a type may be known.
    fn knows_length(&self, r#type: &Type) -> bool {
        PrettyPrinters::standard().know_length(r#type)
    }
    /// Returns whether a type is only shown by its elements.
    fn is_collection(&self, r#type: &Type) -> bool {
        PrettyPrinters::standard().is_collection(r#type)
    }
    /// Returns the contents of a library type, if the type determines them.
    fn contents(&self, r#type: &Type) -> Option<Contents> {
        PrettyPrinters::standard().contents(r#type, &|name| self.type_named(name))
    }
}

/// Compiles a condition.
pub(super) fn truth(expression: &Expression, names: &impl Names) -> Result<Node, NotCompiled> {
    let compiler = Compiler { names };
    Ok(compiler.number(expression)?.node)
}

/// Compiles the read of an event, in which an array stands for its elements and not for its
/// address.
pub(super) fn value(expression: &Expression, names: &impl Names) -> Result<Node, NotCompiled> {
    let compiler = Compiler { names };
    let operand = compiler.operand(expression)?;
    let is_location = matches!(
        operand.r#type.strip().kind(),
        TypeKind::Array { .. } | TypeKind::Function { .. }
    );
    if is_location || names.has_pretty_printer(&operand.r#type) {
        Err(NotCompiled::Evaluate)
    } else {
        Ok(number_operand(operand, &expression.span)?.node)
    }
}

/// Compiles with the names of a place.
pub(super) struct Compiler<'a, N> {
    pub(super) names: &'a N,
}

fn null() -> Operand {
    Operand::new(
        Type::void().pointer_to(),
        OperandLocation::Bits(Word::Constant(0)),
    )
}

/// Returns both results, or the error of either.
fn both<A, B>(
    left: Result<A, NotCompiled>,
    right: Result<B, NotCompiled>,
) -> Result<(A, B), NotCompiled> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(NotCompiled::Wrong(error)), _) | (_, Err(NotCompiled::Wrong(error))) => {
            Err(NotCompiled::Wrong(error))
        }
        _ => Err(NotCompiled::Evaluate),
    }
}

impl<N: Names> Compiler<'_, N> {
    /// Compiles an operand. A C++ reference is replaced by its referent.
    fn operand(&self, expression: &Expression) -> Result<Operand, NotCompiled> {
        let operand = self.operand_as_is(expression)?;
        if is_reference(&operand.r#type) {
            self.referred_to(operand, &expression.span)
        } else {
            Ok(operand)
        }
    }

    fn referred_to(&self, reference: Operand, span: &Range<usize>) -> Result<Operand, NotCompiled> {
        let number = number_operand(reference, span)?;
        let target = number.target.ok_or(NotCompiled::Evaluate)?;
        Ok(Operand::new(
            target,
            OperandLocation::Memory(word_of(number.node)),
        ))
    }

    /// Compiles the operand of `*`, by the rule of [`juror_values::expression`].
    fn pointer(&self, expression: &Expression) -> Result<Operand, NotCompiled> {
        let operand = self.operand_as_is(expression)?;
        let target = operand.r#type.target();
        match target.filter(|_| is_reference(&operand.r#type)) {
            Some(target) if self.leads(&target) => self.referred_to(operand, &expression.span),
            _ => Ok(operand),
        }
    }

    fn leads(&self, r#type: &Type) -> bool {
        r#type.is_pointer()
            || matches!(r#type.strip().kind(), TypeKind::Array { .. })
            || self.names.has_pretty_printer(r#type)
    }

    pub(super) fn operand_as_is(&self, expression: &Expression) -> Result<Operand, NotCompiled> {
        let span = &expression.span;
        let known = |found: Result<Operand, Unknown>| match found {
            Ok(operand) => Ok(operand),
            Err(Unknown::UntilHit) => Err(NotCompiled::Evaluate),
            Err(Unknown::Missing(message)) => wrong(message, span),
        };
        match &expression.kind {
            ExpressionKind::Integer(number) => Operand::whole(*number),
            ExpressionKind::Float(number) => {
                Operand::computed(Node::Constant(Scalar::Float(*number)), "double")
            }
            ExpressionKind::Bool(truth) => Operand::truth(Node::Constant(Scalar::Bool(*truth))),
            ExpressionKind::Null => Ok(null()),
            ExpressionKind::Name(name) if &**name == NULL && !self.names.has_variable(NULL) => {
                Ok(null())
            }
            ExpressionKind::Unary {
                operator: UnaryOperator::Not,
                operand,
            } if operand.begins_with_sign() && self.names.has_variable(NOT) => {
                wrong(NOT_IS_VARIABLE, span)
            }
            ExpressionKind::Name(name) => {
                let operand = known(self.names.name(name))?;
                match unknown_type(&operand.r#type) {
                    Some(why) => wrong(why, span),
                    None => Ok(operand),
                }
            }
            ExpressionKind::Cast { operand, .. }
            | ExpressionKind::Unary {
                operator: UnaryOperator::AddressOf,
                operand,
            } if self.is_untyped(operand) => Err(NotCompiled::Evaluate),
            ExpressionKind::Register(name) => known(self.names.register(name)),
            ExpressionKind::Argument(position) => known(self.names.argument(*position)),
            ExpressionKind::Unary { operator, operand } => self.unary(*operator, operand, span),
            ExpressionKind::Binary {
                operator,
                left,
                right,
            } => self.binary(*operator, left, right, span),
            ExpressionKind::Conditional {
                condition,
                then,
                otherwise,
            } => self.conditional(condition, then, otherwise),
            ExpressionKind::Field {
                object,
                field,
                arrow,
            } => {
                let base = self.operand_as_is(object)?;
                // `->` on a C++ reference is accepted, too.
                let is_object = is_reference(&base.r#type)
                    && base
                        .r#type
                        .target()
                        .is_some_and(|target| !self.leads(&target));
                let mut base = if is_reference(&base.r#type) {
                    self.referred_to(base, &object.span)?
                } else {
                    base
                };
                if (*arrow && !is_object) || base.r#type.is_pointer() {
                    base = self.dereference(base, &object.span)?;
                }
                // It may be a field of the target, or a part of a complex number.
                let goes_on = self.leads_on(&base.r#type) || is_complex(&base.r#type);
                if base.r#type.field(&field.text).is_none() && goes_on {
                    return Err(NotCompiled::Evaluate);
                }
                field_of(&base, &field.text, &field.span, self.names)
            }
            ExpressionKind::Index { object, index } => {
                let base = self.operand(object);
                // A key may be text; whether the object has keys is known at the hit.
                let is_key = matches!(index.kind, ExpressionKind::Text(_));
                let leads_on = match &base {
                    Ok(base) => self.leads_on(&base.r#type),
                    Err(NotCompiled::Evaluate) => is_key,
                    Err(NotCompiled::Wrong(_)) => false,
                };
                if leads_on {
                    return Err(NotCompiled::Evaluate);
                }
                let (base, index) = both(base, self.index(index))?;
                self.element(base, index, span)
            }
            ExpressionKind::Cast { type_name, operand } => {
                let (operand, r#type) = both(self.number(operand), self.type_of(type_name))?;
                cast(operand, r#type)
            }
            ExpressionKind::SizeOf(operand) => match self.size_of(operand)? {
                Some(size) => Operand::size(size),
                None => wrong("its size is not known", span),
            },
            ExpressionKind::SizeOfType(name) => match self.type_of(name)?.size() {
                Some(size) => Operand::size(size),
                None => wrong("its size is not known", span),
            },
            ExpressionKind::Text(_) => wrong(
                "text can only be compared with text of the program: name == \"x\"",
                span,
            ),
            ExpressionKind::Return => match self.names.returned() {
                Some(r#type) => Ok(Operand::new(
                    r#type,
                    OperandLocation::Memory(Word::Constant(0)),
                )),
                None => Err(NotCompiled::Evaluate),
            },
            ExpressionKind::Call { .. } if let Some(counted) = expression.counted() => {
                self.length(counted)
            }
            // The language of the place is known at the hit.
            ExpressionKind::SizeOfCharacter => Err(NotCompiled::Evaluate),
            ExpressionKind::Assign { .. }
            | ExpressionKind::Step { .. }
            | ExpressionKind::Comma { .. }
            | ExpressionKind::Slice { .. }
            | ExpressionKind::Member { .. }
            | ExpressionKind::Call { .. }
            | ExpressionKind::Set(_)
            | ExpressionKind::Map(_)
            | ExpressionKind::Sequence(_)
            | ExpressionKind::Error => Err(NotCompiled::Evaluate),
        }
    }

    /// Returns whether an operand is a variable whose type only a cast says.
    fn is_untyped(&self, operand: &Expression) -> bool {
        match &operand.kind {
            ExpressionKind::Name(name) => {
                let found = self.names.name(name);
                found.is_ok_and(|it| it.r#type.untyped_symbol().is_some())
            }
            _ => false,
        }
    }

    /// Compiles `len(x)`: the type of an array gives it, the pretty-printer of a container at the
    /// hit.
    fn length(&self, counted: &Expression) -> Result<Operand, NotCompiled> {
        let mut found = self.operand(counted)?.r#type;
        for _ in 0..REFERENCES_MAX {
            match behind_reference(&found, |it| self.names.has_pretty_printer(it)) {
                Some(target) => found = target,
                None => break,
            }
        }
        match array_length(&found) {
            Some(count) => Operand::size(count),
            None if may_have_length(&found, self.names) => Err(NotCompiled::Evaluate),
            None => wrong(no_length(&found), &counted.span),
        }
    }

    /// Returns the size of an operand. A plain name may denote a type.
    fn size_of(&self, operand: &Expression) -> Result<Option<u64>, NotCompiled> {
        let found = self.operand(operand);
        match (&found, &operand.kind) {
            // The name may be that of a function, which has no size.
            (Ok(known), ExpressionKind::Name(_)) if known.leads_to_function() => {
                Err(NotCompiled::Evaluate)
            }
            (Err(NotCompiled::Wrong(_)), ExpressionKind::Name(name)) => {
                match self.names.type_named(name) {
                    Some(r#type) => Ok(r#type.size()),
                    None => Ok(found?.r#type.size()),
                }
            }
            _ => Ok(found?.r#type.size()),
        }
    }

    pub(super) fn type_of(&self, name: &TypeName) -> Result<Type, NotCompiled> {
        let found = written_type(name, &|name| self.names.type_named(name));
        found.or_else(|why| wrong(why, &name.span))
    }

    fn number(&self, expression: &Expression) -> Result<NumberOperand, NotCompiled> {
        let operand = self.operand(expression)?;
        if self.names.has_pretty_printer(&operand.r#type) {
            Err(NotCompiled::Evaluate)
        } else {
            number_operand(operand, &expression.span)
        }
    }

    /// Returns whether a type, or its target, has a pretty-printer.
    fn leads_on(&self, r#type: &Type) -> bool {
        let target = r#type.target();
        self.names.has_pretty_printer(r#type)
            || target.is_some_and(|target| self.names.has_pretty_printer(&target))
    }

    fn index(&self, expression: &Expression) -> Result<Node, NotCompiled> {
        let index = self.number(expression)?;
        match index.target {
            None => Ok(index.node),
            Some(_) => wrong("a whole number is needed here", &expression.span),
        }
    }

    fn unary(
        &self,
        operator: UnaryOperator,
        operand: &Expression,
        span: &Range<usize>,
    ) -> Result<Operand, NotCompiled> {
        match operator {
            UnaryOperator::Caller => Err(NotCompiled::Evaluate),
            UnaryOperator::Dereference => self.dereference(self.pointer(operand)?, span),
            UnaryOperator::AddressOf
                if names_member(operand, &|name| self.names.type_named(name)) =>
            {
                Err(NotCompiled::Evaluate)
            }
            UnaryOperator::AddressOf => {
                let is_name = matches!(operand.kind, ExpressionKind::Name(_));
                let operand = self.operand(operand)?;
                match (operand.location, operand.bits) {
                    (_, Some(_)) => wrong("a bit field has no address", span),
                    (OperandLocation::Memory(address), None) => Ok(Operand::new(
                        operand.r#type.pointer_to(),
                        OperandLocation::Bits(address),
                    )),
                    // The name of a function.
                    (OperandLocation::Bits(Word::Constant(_)), None) if is_name => {
                        Err(NotCompiled::Evaluate)
                    }
                    _ => wrong("this value is not in memory, so it has no address", span),
                }
            }
            UnaryOperator::Not => Operand::truth(Node::Not(Box::new(self.number(operand)?.node))),
            UnaryOperator::NotOrComplement => {
                let number = self.number(operand)?;
                if number.r#type.is_rust_reference() {
                    // The integer that it leads to is inverted.
                    Err(NotCompiled::Evaluate)
                } else if is_inverted(&number.r#type, self.names.is_rust()) {
                    self.unary(UnaryOperator::Complement, operand, span)
                } else {
                    self.unary(UnaryOperator::Not, operand, span)
                }
            }
            UnaryOperator::Negate => {
                let number = self.number(operand)?;
                match number.target {
                    Some(_) => wrong("a pointer has no negative", span),
                    None => {
                        let r#type = promoted(&number.r#type);
                        let overflow = overflow_in(r#type.as_ref());
                        let node = Node::Negate(overflow, Box::new(number.node));
                        Operand::computed_in(node, r#type)
                    }
                }
            }
            UnaryOperator::Plus => {
                let number = self.number(operand)?;
                match number.target {
                    Some(_) => wrong("a pointer has no sign", span),
                    None => {
                        let node = times(number.node, Overflow::Error, Scalar::Int(1));
                        Operand::computed_in(node, promoted(&number.r#type))
                    }
                }
            }
            UnaryOperator::Complement => {
                let number = number_operand(self.operand(operand)?, span)?;
                let within = promoted(&number.r#type);
                let unsigned = within.as_ref().and_then(unsigned_bits);
                if number.target.is_some() || number.node.class() == NumberClass::Float {
                    return wrong("`~` needs a whole number", span);
                }
                let node = Node::Complement(Box::new(number.node), unsigned);
                Operand::computed_in(node, within)
            }
        }
    }

    /// Compiles `a ? b : c`. If a branch is not a number, or the branches are pointers to different
    /// types, it is left to the evaluation.
    fn conditional(
        &self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
    ) -> Result<Operand, NotCompiled> {
        let side = |expression: &Expression| {
            let operand = self.operand(expression)?;
            let is_composite = matches!(operand.r#type.strip().kind(), TypeKind::Composite(_));
            let is_bit_field = operand.bits.is_some();
            if is_composite || is_bit_field || self.names.has_pretty_printer(&operand.r#type) {
                Err(NotCompiled::Evaluate)
            } else {
                number_operand(operand, &expression.span)
            }
        };
        let sides = both(side(then), side(otherwise));
        let (condition, (then, otherwise)) = both(self.number(condition), sides)?;
        let chosen = |then: Node, otherwise: Node| {
            Node::Conditional(Box::new([condition.node, then, otherwise]))
        };
        match (then.target, otherwise.target) {
            (None, None) => {
                let (r#type, overflow) = if then.r#type.name() == otherwise.r#type.name() {
                    (Some(then.r#type), Overflow::Error)
                } else {
                    let common = common_type(&then.r#type, &otherwise.r#type);
                    let overflow = overflow_in(common.as_ref());
                    (common, overflow)
                };
                let (then, otherwise) = (then.node, otherwise.node);
                let classes = [then.class(), otherwise.class()];
                let one = match classes {
                    [first, second] if first == second && overflow == Overflow::Error => None,
                    _ if classes.contains(&NumberClass::Float) => Some(Scalar::Float(1.0)),
                    _ => Some(Scalar::Int(1)),
                };
                let is_short = r#type.as_ref().is_some_and(is_short_float);
                let node = match one {
                    _ if is_short => {
                        let rounded = |node| Node::Rounded(Box::new(node));
                        chosen(rounded(then), rounded(otherwise))
                    }
                    None => chosen(then, otherwise),
                    Some(one) => {
                        chosen(times(then, overflow, one), times(otherwise, overflow, one))
                    }
                };
                Operand::computed_in(node, r#type)
            }
            (Some(target), Some(other)) if target.name() == other.name() => {
                let address = word_of(chosen(then.node, otherwise.node));
                Ok(Operand::new(
                    target.pointer_to(),
                    OperandLocation::Bits(address),
                ))
            }
            _ => Err(NotCompiled::Evaluate),
        }
    }

    fn dereference(&self, pointer: Operand, span: &Range<usize>) -> Result<Operand, NotCompiled> {
        if self.names.has_pretty_printer(&pointer.r#type) {
            return Err(NotCompiled::Evaluate);
        }
        let name = pointer.r#type.name();
        let is_float = matches!(
            pointer.r#type.strip().kind(),
            TypeKind::Base(Encoding::Float | Encoding::Boolean)
        );
        let number = number_operand(pointer, span)?;
        match number.target {
            Some(target) if matches!(target.strip().kind(), TypeKind::Void) => wrong(
                "`void *` does not say what it points to; cast it first",
                span,
            ),
            Some(target) => Ok(Operand::new(
                target,
                OperandLocation::Memory(word_of(number.node)),
            )),
            None if is_float => wrong(format!("`{name}` is not a pointer"), span),
            None => {
                let r#type = Type::builtin("long").ok_or(NotCompiled::Evaluate)?;
                Ok(Operand::new(
                    r#type,
                    OperandLocation::Memory(word_of(number.node)),
                ))
            }
        }
    }

    fn element(
        &self,
        base: Operand,
        index: Node,
        span: &Range<usize>,
    ) -> Result<Operand, NotCompiled> {
        // So are the indexes of languages whose arrays begin elsewhere.
        if !base.r#type.is_indexed_as_c() {
            return Err(NotCompiled::Evaluate);
        }
        let is_rust_array =
            base.r#type.is_rust() && matches!(base.r#type.strip().kind(), TypeKind::Array { .. });
        let count = array_length(&base.r#type).map_or(0, i128::from);
        let (address, element) = if base.r#type.is_pointer() {
            let name = base.r#type.clone();
            let first = self.dereference(base, span)?;
            let OperandLocation::Memory(address) = first.location else {
                return Err(NotCompiled::Evaluate);
            };
            let target = name.target().ok_or(NotCompiled::Evaluate)?;
            (address, target)
        } else {
            let element = match element_type(&base.r#type) {
                Ok(element) => element,
                Err(why) => return wrong(why, span),
            };
            match base.location {
                OperandLocation::Memory(address) => (address, element),
                _ => return Err(NotCompiled::Evaluate),
            }
        };
        let Some(size) = element.size() else {
            return wrong("the size of an element is not known", span);
        };
        // The bounds of a Rust array are checked at each hit.
        if is_rust_array
            && !matches!(&index, Node::Constant(Scalar::Int(at)) if (0..count).contains(at))
        {
            return Err(NotCompiled::Evaluate);
        }
        Ok(Operand::new(
            element,
            OperandLocation::Memory(behind(address, index, size)),
        ))
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: &Range<usize>,
    ) -> Result<Operand, NotCompiled> {
        if let Some(comparison) = self.string_comparison(operator, left, right) {
            return comparison;
        }
        if operator == BinaryOperator::Repeat {
            return Err(NotCompiled::Evaluate);
        }
        if self.may_be_variant(operator, left, right) {
            return Err(NotCompiled::Evaluate);
        }
        let (a, b) = both(self.number(left), self.number(right))?;
        let (first, second) = (Box::new(a.node), Box::new(b.node));
        match operator {
            BinaryOperator::And => Operand::truth(Node::Both(first, second)),
            BinaryOperator::Or => Operand::truth(Node::Either(first, second)),
            _ if operator.is_comparison() && are_of_one_class(&a.target, &b.target) => {
                Err(NotCompiled::Evaluate)
            }
            _ if operator.is_comparison() => {
                let r#type = match (&a.target, &b.target) {
                    (None, None) => common_type(&a.r#type, &b.r#type),
                    _ => None,
                };
                let overflow = overflow_in(r#type.as_ref());
                let (first, second) = in_common((first, second), r#type.as_ref());
                Operand::truth(Node::Binary(operator, overflow, first, second))
            }
            _ => match (a.target, b.target) {
                (None, None)
                    if !takes_floats(operator)
                        && [first.class(), second.class()].contains(&NumberClass::Float) =>
                {
                    wrong(format!("`{operator}` needs whole numbers"), span)
                }
                (None, None) => {
                    let r#type = match operator {
                        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                            promoted(&a.r#type)
                        }
                        _ => common_type(&a.r#type, &b.r#type),
                    };
                    let overflow = match operator {
                        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                            overflow_of_shift(r#type.as_ref())
                        }
                        _ => overflow_in(r#type.as_ref()),
                    };
                    let (first, second) = in_common((first, second), r#type.as_ref());
                    let node = Node::Binary(operator, overflow, first, second);
                    Operand::computed_in(node, r#type)
                }
                (Some(target), Some(_)) if operator == BinaryOperator::Subtract => {
                    let size = target.size().unwrap_or(1);
                    Operand::computed(Node::Distance(first, second, size), "long")
                }
                (Some(target), None) => moved(operator, *first, target, *second, span),
                (None, Some(target)) if operator == BinaryOperator::Add => {
                    moved(operator, *second, target, *first, span)
                }
                (Some(_), Some(_)) => {
                    wrong(format!("`{operator}` does not apply to two pointers"), span)
                }
                (None, Some(_)) => wrong(
                    format!("`{operator}` does not apply to a number and a pointer"),
                    span,
                ),
            },
        }
    }

    /// Returns whether the right operand may be the name of a Rust variant (`shape == Circle`), or
    /// only the evaluation can tell that it is not.
    fn may_be_variant(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> bool {
        let ExpressionKind::Name(name) = &right.kind else {
            return false;
        };
        match self.operand(left) {
            Ok(left) => names_variant(operator, &left.r#type, right),
            Err(NotCompiled::Evaluate) => {
                let is_unknown = matches!(self.names.name(name), Err(Unknown::Missing(_)));
                // Rust's variants begin with a capital letter.
                let last = name.rsplit("::").next().unwrap_or(name);
                is_unknown && last.starts_with(|first: char| first.is_uppercase())
            }
            Err(NotCompiled::Wrong(_)) => false,
        }
    }

    /// Compiles `name == "text"`. Returns `None` if neither operand is a literal.
    fn string_comparison(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<Result<Operand, NotCompiled>> {
        let (value, text) = match (&left.kind, &right.kind) {
            (_, ExpressionKind::Text(text)) => (left, text),
            (ExpressionKind::Text(text), _) => (right, text),
            _ => return None,
        };
        Some(self.is_string(operator, value, text))
    }

    fn is_string(
        &self,
        operator: BinaryOperator,
        value: &Expression,
        text: &Arc<str>,
    ) -> Result<Operand, NotCompiled> {
        let equal = match operator {
            BinaryOperator::Equal => true,
            BinaryOperator::NotEqual => false,
            _ => return wrong("text can only be compared with `==` and `!=`", &value.span),
        };
        let operand = self.operand(value)?;
        if self.leads_on(&operand.r#type) {
            return Err(NotCompiled::Evaluate);
        }
        let target = operand.r#type.target();
        let Some(character) = target.and_then(|target| target.character()) else {
            return wrong("this is not text", &value.span);
        };
        let count = array_length(&operand.r#type).filter(|count| *count > 0);
        let address = word_of(number_operand(operand, &value.span)?.node);
        let text = match count {
            Some(count) => string_in_array(text, character, count),
            None => encoded_string(text, character),
        };
        let text = text.ok_or(NotCompiled::Evaluate)?;
        Operand::truth(Node::IsString(address, text.into(), equal))
    }
}

/// Converts the operands of a computation in `float`, which rounds integers.
fn in_common(
    (first, second): (Box<Node>, Box<Node>),
    common: Option<&Type>,
) -> (Box<Node>, Box<Node>) {
    let rounded = |node: Box<Node>| match node.class() {
        NumberClass::Float => node,
        _ => Box::new(Node::Rounded(node)),
    };
    if common.is_some_and(is_short_float) {
        (rounded(first), rounded(second))
    } else {
        (first, second)
    }
}

/// Multiplies a number by one, which converts it to the kind and width of the computation.
fn times(number: Node, overflow: Overflow, one: Scalar) -> Node {
    let one = Box::new(Node::Constant(one));
    Node::Binary(BinaryOperator::Multiply, overflow, Box::new(number), one)
}

/// Returns whether a type is a C++ reference.
fn is_reference(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Reference(_)) && !r#type.is_rust()
}

/// Returns whether the comparison of two pointers casts one to a base class of the other's class,
/// as in C++.
fn are_of_one_class(a: &Option<Type>, b: &Option<Type>) -> bool {
    let both = a.as_ref().zip(b.as_ref());
    both.is_some_and(|(a, b)| moves_address(a, b))
}
