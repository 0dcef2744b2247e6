//! The code by which a program records its own system calls: see `juror_agent::recording`.
//!
//! A stub comes here in place of a `syscall` instruction, with the address behind that in `rcx`, which
//! the call would lose, as it would `r11`. All else is the program's, the bytes below its stack pointer
//! too. The call is made here and an entry is appended to the ring, or the thread goes on at the
//! instruction itself, where it stops.
//!
//! One thread runs at a time, so there is one stack and one place for the program's stack pointer. An
//! entry counts when the number of bytes written is stored, which is last: a thread that is killed
//! leaves no half of one. No vector register is used.

#![no_std]
#![no_main]

#[path = "../src/recording/layout.rs"]
#[allow(dead_code)]
mod layout;

use core::arch::global_asm;
use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

global_asm!(
    ".p2align 12",
    ".globl agent_start",
    "agent_start:",
    "jmp 2f",
    // The one instruction whose calls the filter lets pass.
    ".p2align 4",
    "syscall",
    "jmp 5f",

    // On the stack: the six arguments, the number, rbp, rbx, the address behind the call, the flags.
    "2:",
    "mov [rip + agent_start + {saved_stack}], rsp",
    "lea rsp, [rip + agent_start + {stack_top}]",
    "pushfq",
    // A step of the debugger's: not the program's.
    "and qword ptr [rsp], -257",
    "cld",
    "push rcx",
    "push rbx",
    "push rbp",
    "push rax",
    "push r9",
    "push r8",
    "push r10",
    "push rdx",
    "push rsi",
    "push rdi",

    "cmp qword ptr [rip + agent_start + {enabled}], 0",
    "je 9f",
    "cmp rax, {numbers}",
    "jae 9f",
    "lea r11, [rip + agent_start + {table}]",
    "mov rbx, [r11 + rax * 8]",
    "test bl, {is_recorded}",
    "jz 9f",
    "mov rbp, [rip + agent_start + {ring}]",
    "mov r11, [rbp + {written}]",
    "cmp r11, [rbp + {turn}]",
    "jae 9f",

    "test bl, {needs_file}",
    "jz 3f",
    "cmp rdi, {descriptors}",
    "jae 9f",
    "bt [rbp + {files}], rdi",
    "jnc 9f",
    "3:",
    "test bl, {needs_command}",
    "jz 3f",
    "cmp rsi, 31",
    "ja 9f",
    "mov ecx, {commands}",
    "bt ecx, esi",
    "jnc 9f",
    "3:",
    // Private, without a file, not executable.
    "test bl, {needs_anonymous}",
    "jz 3f",
    "test dl, 4",
    "jnz 9f",
    "mov ecx, r10d",
    "and ecx, 0x2f",
    "cmp ecx, 0x22",
    "jne 9f",
    "3:",

    // The room for what the kernel writes at most.
    "mov ecx, ebx",
    "shr ecx, 24",
    "jz 4f",
    "mov rcx, [rsp + rcx * 8 - 8]",
    "cmp rcx, {capacity}",
    "ja 9f",
    "4:",
    "lea r11, [r11 + rcx + {entry_most}]",
    "cmp r11, {capacity}",
    "ja 9f",
    "jmp agent_start + 16",

    "5:",
    "mov r8, [rbp + {written}]",
    "lea rdi, [rbp + r8 + {entries}]",
    "mov r9, rdi",
    "mov rcx, [rsp + 48]",
    "mov [rdi + 4], ecx",
    "mov rcx, [rsp + 72]",
    "mov [rdi + 8], rcx",
    "mov rcx, [rsp]",
    "mov [rdi + 16], rcx",
    "mov rcx, [rsp + 8]",
    "mov [rdi + 24], rcx",
    "mov rcx, [rsp + 16]",
    "mov [rdi + 32], rcx",
    "mov [rdi + 40], rax",
    "xor ecx, ecx",
    "mov [rdi + 48], rcx",
    "mov [rdi + 56], rcx",
    "mov [rdi + 64], rcx",
    "add rdi, {header}",
    "test rax, rax",
    "js 8f",

    // The first range that the kernel has written.
    "movzx ecx, bh",
    "test ecx, ecx",
    "jz 8f",
    "mov rsi, [rsp + rcx * 8 - 8]",
    "test rsi, rsi",
    "jz 7f",
    "mov rcx, rbx",
    "shr rcx, 32",
    "movzx ecx, cx",
    "test ebx, 0xff000000",
    "jz 6f",
    "mov rcx, rax",
    "6:",
    "mov [r9 + 48], rsi",
    "mov [r9 + 56], ecx",
    "rep movsb",
    "add rdi, 7",
    "and rdi, -8",
    // The second one.
    "7:",
    "mov ecx, ebx",
    "shr ecx, 16",
    "movzx ecx, cl",
    "test ecx, ecx",
    "jz 8f",
    "mov rsi, [rsp + rcx * 8 - 8]",
    "test rsi, rsi",
    "jz 8f",
    "mov rcx, rbx",
    "shr rcx, 48",
    "mov [r9 + 64], rsi",
    "mov [r9 + 60], ecx",
    "rep movsb",
    "add rdi, 7",
    "and rdi, -8",
    "8:",
    "mov rcx, rdi",
    "sub rcx, r9",
    "mov [r9], ecx",
    "add r8, rcx",
    "mov [rbp + {written}], r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop r10",
    "pop r8",
    "pop r9",
    "add rsp, 8",
    "pop rbp",
    "pop rbx",
    "pop rcx",
    // As the call leaves it.
    "mov r11, [rsp]",
    "popfq",
    "mov rsp, [rip + agent_start + {saved_stack}]",
    "jmp rcx",

    "9:",
    "add rsp, 56",
    "pop rbp",
    "pop rbx",
    "pop rcx",
    "sub rcx, 2",
    "popfq",
    "mov rsp, [rip + agent_start + {saved_stack}]",
    "jmp rcx",

    ".org {size}",
    saved_stack = const layout::SAVED_STACK,
    stack_top = const layout::STACK_TOP,
    enabled = const layout::ENABLED,
    ring = const layout::RING,
    table = const layout::TABLE,
    size = const layout::SIZE,
    numbers = const layout::NUMBERS,
    is_recorded = const layout::IS_RECORDED,
    needs_file = const layout::NEEDS_FILE,
    needs_command = const layout::NEEDS_COMMAND,
    needs_anonymous = const layout::NEEDS_ANONYMOUS,
    commands = const layout::COMMANDS,
    descriptors = const layout::DESCRIPTORS,
    written = const layout::WRITTEN,
    turn = const layout::TURN,
    files = const layout::FILES,
    entries = const layout::ENTRIES,
    capacity = const layout::CAPACITY,
    entry_most = const layout::ENTRY_MOST,
    header = const layout::HEADER,
);
