//! Binary operators on values whose kinds are known.

use super::{Compiler, Scalar, Typed};
use crate::lowering::lower::assembler::{Label, R};
use crate::lowering::{Alu, Checked, Condition, Register, Why};
use juror_language::{BinaryOperator, FlatOperand};

impl Compiler<'_, '_> {
    /// Compiles a binary operator: the result replaces its operands on the stack.
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: FlatOperand,
        right: FlatOperand,
    ) -> Option<()> {
        let (left, right) = self.operands(left, right)?;
        let result = self.free()?;
        let kind = if operator.is_comparison() {
            let (fails, end) = (self.code.label(), self.code.label());
            self.compare(operator, left, right, fails)?;
            self.code.set(left.0, 1);
            self.code.jump(end);
            self.code.bind(fails);
            self.code.set(left.0, 0);
            self.code.bind(end);
            Scalar::Bool
        } else {
            self.arithmetic(operator, left, right)?
        };
        if left.0 != result {
            self.code.alu(Alu::Move, result, left.0);
        }
        self.stack.push(kind);
        Some(())
    }

    /// Pops two operands, the right one first; returns their registers and kinds. That of
    /// the left one may be changed.
    pub(super) fn operands(
        &mut self,
        left: FlatOperand,
        right: FlatOperand,
    ) -> Option<(Typed, Typed)> {
        let right = match right {
            FlatOperand::Top => {
                let top = self.top()?;
                self.stack.pop();
                top
            }
            _ => (R[5], self.value(right, R[5])?),
        };
        let left = match left {
            FlatOperand::Top => {
                let top = self.top()?;
                self.stack.pop();
                top
            }
            // Not the right operand's, if that is of the stack.
            _ if right.0 == R[5] => {
                let register = self.free()?;
                (register, self.value(left, register)?)
            }
            _ => (R[5], self.value(left, R[5])?),
        };
        Some((left, right))
    }

    /// Goes to the label if the comparison fails.
    pub(super) fn compare(
        &mut self,
        operator: BinaryOperator,
        (left, of_left): Typed,
        (right, of_right): Typed,
        if_false: Label,
    ) -> Option<()> {
        let holds = self.code.label();
        let side = |is_true: bool| if is_true { holds } else { if_false };
        let is_equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        let is_signed = match (of_left, of_right) {
            (Scalar::Int, Scalar::Int) => true,
            (Scalar::Bool, Scalar::Bool) if is_equality => true,
            (Scalar::Address, Scalar::Address) => false,
            (Scalar::Int, Scalar::Address) => {
                // A negative number is less than every address.
                let label = side(holds_if(operator, true));
                self.code.branch(Condition::Less, left, 0, label);
                false
            }
            (Scalar::Address, Scalar::Int) => {
                let label = side(holds_if(operator, false));
                self.code.branch(Condition::Less, right, 0, label);
                false
            }
            _ => return None,
        };
        let fails = failing(operator, is_signed)?;
        self.code.branch(fails, left, right, if_false);
        self.code.bind(holds);
        Some(())
    }

    /// Computes `left` := `left` `operator` `right`.
    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        (left, of_left): Typed,
        (right, of_right): Typed,
    ) -> Option<Scalar> {
        use BinaryOperator as B;
        match (of_left, of_right) {
            (Scalar::Int, Scalar::Int) => {
                match operator {
                    B::Add => self.code.checked(Checked::Add, left, right),
                    B::Subtract => self.code.checked(Checked::Subtract, left, right),
                    B::Multiply => self.code.checked(Checked::Multiply, left, right),
                    B::Divide => self.code.checked(Checked::Divide, left, right),
                    B::Remainder => self.code.checked(Checked::Remainder, left, right),
                    B::BitAnd => self.code.alu(Alu::And, left, right),
                    B::BitOr => self.code.alu(Alu::Or, left, right),
                    B::BitXor => self.code.alu(Alu::Xor, left, right),
                    _ => return None,
                }
                Some(Scalar::Int)
            }
            (Scalar::Address, Scalar::Int) => {
                match operator {
                    B::Add => self.code.alu(Alu::Move, R[4], right),
                    B::Subtract => {
                        self.code.set(R[4], 0);
                        self.code.checked(Checked::Subtract, R[4], right);
                    }
                    _ => return None,
                }
                self.move_address(left);
                Some(Scalar::Address)
            }
            (Scalar::Address, Scalar::Address) if operator == B::Subtract => {
                self.distance(left, right);
                Some(Scalar::Int)
            }
            _ => None,
        }
    }

    /// Adds the signed distance in register 4 to an address.
    fn move_address(&mut self, address: Register) {
        let (back, end) = (self.code.label(), self.code.label());
        self.code.alu(Alu::Add, address, R[4]);
        self.code.branch(Condition::Less, R[4], 0, back);
        // The sum of two words has a carry if it is below one of them.
        self.code
            .gate_if(Condition::Below, address, R[4], Why::Value);
        self.code.jump(end);
        self.code.bind(back);
        self.code
            .gate_if(Condition::AboveEqual, address, R[4], Why::Value);
        self.code.bind(end);
    }

    /// Computes the signed difference of two addresses.
    fn distance(&mut self, left: Register, right: Register) {
        let (forth, end) = (self.code.label(), self.code.label());
        self.code.branch(Condition::AboveEqual, left, right, forth);
        self.code.alu(Alu::Subtract, left, right);
        self.code
            .gate_if(Condition::GreaterEqual, left, 0, Why::Value);
        self.code.jump(end);
        self.code.bind(forth);
        self.code.alu(Alu::Subtract, left, right);
        self.code.gate_if(Condition::Less, left, 0, Why::Value);
        self.code.bind(end);
    }
}

/// Returns true if a comparison holds for a left operand that is less (or greater).
fn holds_if(operator: BinaryOperator, is_less: bool) -> bool {
    use BinaryOperator as B;
    match operator {
        B::NotEqual => true,
        B::Less | B::LessEqual => is_less,
        B::Greater | B::GreaterEqual => !is_less,
        _ => false,
    }
}

/// Returns the condition under which a comparison fails.
fn failing(operator: BinaryOperator, is_signed: bool) -> Option<Condition> {
    use BinaryOperator as B;
    Some(match (operator, is_signed) {
        (B::Equal, _) => Condition::NotEqual,
        (B::NotEqual, _) => Condition::Equal,
        (B::Less, true) => Condition::GreaterEqual,
        (B::Less, false) => Condition::AboveEqual,
        (B::LessEqual, true) => Condition::Greater,
        (B::LessEqual, false) => Condition::Above,
        (B::Greater, true) => Condition::LessEqual,
        (B::Greater, false) => Condition::BelowEqual,
        (B::GreaterEqual, true) => Condition::Less,
        (B::GreaterEqual, false) => Condition::Below,
        _ => return None,
    })
}
