//! The way from the program into the agent and back.

use crate::threads::Frame;
use core::arch::{global_asm, naked_asm};

#[repr(C, align(64))]
pub struct Stack(pub [u8; 1 << 17]);

/// The stack of the agent at a point, and while no thread runs.
#[unsafe(no_mangle)]
static mut AGENT_STACK: Stack = Stack([0; 1 << 17]);
/// The stack of signal handlers.
pub static mut SIGNAL_STACK: Stack = Stack([0; 1 << 17]);
/// The registers of the thread that runs.
#[unsafe(no_mangle)]
pub static mut CURRENT_FRAME: *mut Frame = core::ptr::null_mut();
#[unsafe(no_mangle)]
static mut LEAVE_TARGET: u64 = 0;

global_asm!(
    ".p2align 5",
    ".globl agent_start",
    "agent_start:",
    "jmp 2f",
    // 16 bytes behind, where juror expects it.
    ".p2align 4",
    // From a stub: its stack holds the number of the site, and the stack pointer of the thread.
    "push rax",
    "mov rax, [rip + CURRENT_FRAME]",
    "mov [rax + 8], rcx",
    "mov [rax + 16], rdx",
    "mov [rax + 24], rbx",
    "mov [rax + 40], rbp",
    "mov [rax + 48], rsi",
    "mov [rax + 56], rdi",
    "mov [rax + 64], r8",
    "mov [rax + 72], r9",
    "mov [rax + 80], r10",
    "mov [rax + 88], r11",
    "mov [rax + 96], r12",
    "mov [rax + 104], r13",
    "mov [rax + 112], r14",
    "mov [rax + 120], r15",
    "pop rcx",
    "mov [rax], rcx",
    "pushfq",
    "pop rcx",
    "mov [rax + 136], rcx",
    "pop rdi",
    "mov rcx, [rsp]",
    "mov [rax + 32], rcx",
    "movups [rax + 144], xmm0",
    "movups [rax + 160], xmm1",
    "movups [rax + 176], xmm2",
    "movups [rax + 192], xmm3",
    "movups [rax + 208], xmm4",
    "movups [rax + 224], xmm5",
    "movups [rax + 240], xmm6",
    "movups [rax + 256], xmm7",
    "movups [rax + 272], xmm8",
    "movups [rax + 288], xmm9",
    "movups [rax + 304], xmm10",
    "movups [rax + 320], xmm11",
    "movups [rax + 336], xmm12",
    "movups [rax + 352], xmm13",
    "movups [rax + 368], xmm14",
    "movups [rax + 384], xmm15",
    "lea rsp, [rip + AGENT_STACK + 0x20000]",
    "cld",
    "call {site}",
    "2:",
    "lea rsp, [rip + AGENT_STACK + 0x20000]",
    "cld",
    "call {begin}",
    begin = sym crate::begin::begin,
    site = sym crate::points::on_site,
);

/// Loads the registers of a thread, which goes on.
///
/// # Safety
/// The frame is that of a thread, and all of its other registers are loaded.
#[unsafe(naked)]
pub unsafe extern "C" fn leave(frame: *const Frame) -> ! {
    naked_asm!(
        "movups xmm0, [rdi + 144]",
        "movups xmm1, [rdi + 160]",
        "movups xmm2, [rdi + 176]",
        "movups xmm3, [rdi + 192]",
        "movups xmm4, [rdi + 208]",
        "movups xmm5, [rdi + 224]",
        "movups xmm6, [rdi + 240]",
        "movups xmm7, [rdi + 256]",
        "movups xmm8, [rdi + 272]",
        "movups xmm9, [rdi + 288]",
        "movups xmm10, [rdi + 304]",
        "movups xmm11, [rdi + 320]",
        "movups xmm12, [rdi + 336]",
        "movups xmm13, [rdi + 352]",
        "movups xmm14, [rdi + 368]",
        "movups xmm15, [rdi + 384]",
        "mov rax, [rdi + 128]",
        "mov [rip + LEAVE_TARGET], rax",
        "lea rsp, [rip + AGENT_STACK + 0x20000]",
        "push [rdi + 136]",
        "popfq",
        "mov rax, [rdi]",
        "mov rcx, [rdi + 8]",
        "mov rdx, [rdi + 16]",
        "mov rbx, [rdi + 24]",
        "mov rsp, [rdi + 32]",
        "mov rbp, [rdi + 40]",
        "mov rsi, [rdi + 48]",
        "mov r8, [rdi + 64]",
        "mov r9, [rdi + 72]",
        "mov r10, [rdi + 80]",
        "mov r11, [rdi + 88]",
        "mov r12, [rdi + 96]",
        "mov r13, [rdi + 104]",
        "mov r14, [rdi + 112]",
        "mov r15, [rdi + 120]",
        "mov rdi, [rdi + 56]",
        "jmp [rip + LEAVE_TARGET]",
    )
}
