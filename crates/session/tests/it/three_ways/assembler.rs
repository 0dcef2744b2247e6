//! A program of the abstract machine, for the processor.
//!
//! Arguments and results are in the cells of the machine, and where a debugger
//! expects them as well.
//!
//! Each instruction makes its accesses in the order of the abstract machine's,
//! one access in an instruction of the processor. All stores are of a register.

use juror_oracle::abstract_machine::{Instruction, Operation, Program, VARIABLES, variable_name};
use std::fmt::Write;

/// The text for the compiler: functions that have a type and the code of the
/// machine. The end is at `stop`; where a function returns is at
/// `return_FUNCTION_NUMBER`.
pub fn assemble(program: &Program) -> String {
    let mut text = String::new();
    for number in 0..VARIABLES as u8 {
        // One behind the other, as pointers into them need it.
        let name = variable_name(number);
        writeln!(
            text,
            "__attribute__((used, section(\"cells\"))) long {name};"
        )
        .unwrap();
    }
    let mut code = String::new();
    for (instruction, at) in program.code.iter().zip(0..) {
        let begun = program.functions.iter().find(|(_, to)| **to == at);
        if let Some((name, _)) = begun {
            end_function(&mut text, &mut code);
            let parameters = "long argument_1, long argument_2";
            writeln!(
                text,
                "__attribute__((naked, used)) long {name}({parameters}) {{"
            )
            .unwrap();
        }
        writeln!(code, ".Lat{at}:").unwrap();
        if let Instruction::Return = instruction {
            // What returns to the caller, in the register that it looks at.
            let function = program.function_at(at).unwrap_or("main");
            writeln!(code, "mov result, %rax\nreturn_{function}_{at}:").unwrap();
        }
        code.push_str(&lines(*instruction));
    }
    end_function(&mut text, &mut code);
    text
}

fn end_function(text: &mut String, code: &mut String) {
    if !code.is_empty() {
        writeln!(text, "__asm__({code:?}); }}").unwrap();
        code.clear();
    }
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
        Instruction::Jump { to } => format!("jmp .Lat{to}\n"),
        Instruction::JumpIf { variable, to } => {
            format!(
                "mov {}, %rdx\ntest %rdx, %rdx\njne .Lat{to}\n",
                name(variable)
            )
        }
        Instruction::Call { to } => {
            format!("mov argument1, %rdi\nmov argument2, %rsi\ncall .Lat{to}\n")
        }
        Instruction::Return => "ret\n".to_owned(),
        Instruction::Stop => "stop:\nmov $60, %eax\nxor %edi, %edi\nsyscall\n".to_owned(),
        Instruction::Break => unreachable!("programs have none"),
    }
}
