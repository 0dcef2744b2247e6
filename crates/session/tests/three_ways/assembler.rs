//! A program of the abstract machine, for the processor.
//!
//! Each instruction makes its accesses in the order of the abstract machine's,
//! one access in an instruction of the processor. All stores are of a register.

use juror_rules::abstract_machine::{Instruction, Operation, Program, VARIABLES, variable_name};
use std::fmt::Write;

/// The text for the assembler. The end is at `stop`; where a function returns is
/// at `return_FUNCTION_NUMBER`.
pub fn assemble(program: &Program) -> String {
    let mut text = String::from(".globl _start\n.text\n_start:\n");
    for (instruction, at) in program.code.iter().zip(0..) {
        let begun = program.functions.iter().filter(|(_, to)| **to == at);
        for (name, _) in begun {
            writeln!(text, "{name}:").unwrap();
        }
        writeln!(text, ".L{at}:").unwrap();
        if let Instruction::Return = instruction {
            let function = program.function_at(at).unwrap_or("main");
            writeln!(text, "return_{function}_{at}:").unwrap();
        }
        text.push_str(&lines(*instruction));
    }
    text.push_str(".bss\n.balign 8\n");
    for number in 0..VARIABLES as u8 {
        writeln!(text, "{}: .skip 8", variable_name(number)).unwrap();
    }
    text
}

fn lines(instruction: Instruction) -> String {
    let name = variable_name;
    match instruction {
        Instruction::Set { to, value } => {
            format!("mov ${value}, %rax\nmov %rax, {}\n", name(to))
        }
        Instruction::Compute {
            operation,
            to,
            left,
            right,
        } => {
            let operation = match operation {
                Operation::Add => "add",
                Operation::Subtract => "sub",
                Operation::Multiply => "imul",
            };
            let (to, left, right) = (name(to), name(left), name(right));
            format!("mov {left}, %rdx\n{operation} {right}, %rdx\nmov %rdx, {to}\n")
        }
        Instruction::Load { to, pointer } => {
            let (to, pointer) = (name(to), name(pointer));
            format!(
                "mov {pointer}, %rax\nand ${}, %rax\nmov v0(,%rax,8), %rdx\nmov %rdx, {to}\n",
                VARIABLES - 1
            )
        }
        Instruction::Store { pointer, from } => {
            let (pointer, from) = (name(pointer), name(from));
            format!(
                "mov {pointer}, %rax\nand ${}, %rax\nmov {from}, %rdx\nmov %rdx, v0(,%rax,8)\n",
                VARIABLES - 1
            )
        }
        Instruction::Jump { to } => format!("jmp .L{to}\n"),
        Instruction::JumpIf { variable, to } => {
            format!(
                "mov {}, %rdx\ntest %rdx, %rdx\njne .L{to}\n",
                name(variable)
            )
        }
        Instruction::Call { to } => format!("call .L{to}\n"),
        Instruction::Return => "ret\n".to_owned(),
        Instruction::Stop => "stop:\nmov $60, %eax\nxor %edi, %edi\nsyscall\n".to_owned(),
        Instruction::Break => unreachable!("programs have none"),
    }
}
