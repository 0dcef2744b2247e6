//! The functions that must not be patched.
//!
//! They return twice, share a stack with another process, inspect the return address of their
//! caller, or unwind frames. A patch changes none of these, but such functions are called too
//! rarely to gain anything, and a mistake there is fatal.

/// The names, without leading underscores and `libc_`.
const NAMES: [&str; 12] = [
    "setjmp",
    "sigsetjmp",
    "longjmp",
    "longjmp_chk",
    "siglongjmp",
    "vfork",
    "dlopen",
    "dlopen_mode",
    "dlmopen",
    "dlsym",
    "dlvsym",
    "restore_rt",
];

/// The prefixes of functions that unwind frames.
const PREFIXES: [&str; 6] = [
    "_Unwind_",
    "__gxx_personality_",
    "__gcc_personality_",
    "rust_eh_personality",
    "__register_frame",
    "__deregister_frame",
];

/// The prefixes of modules that unwind frames.
const UNWINDERS: [&str; 2] = ["libgcc_s.", "libunwind"];

/// The code of a signal trampoline: `mov rax, 15; syscall`. Unwinders recognize a signal frame by
/// these bytes.
const SIGNAL_RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// Returns whether a function of this name must not be patched.
pub(super) fn is_function(name: &str) -> bool {
    let bare = name.trim_start_matches('_');
    let bare = bare.strip_prefix("libc_").unwrap_or(bare);
    NAMES.contains(&bare) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether the functions of a module with this file name must not be patched.
pub(super) fn is_unwinder(name: &str) -> bool {
    UNWINDERS.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether unwinders recognize the code by its bytes.
pub(super) fn is_signal_return(code: &[u8]) -> bool {
    code.starts_with(&SIGNAL_RETURN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_keep_their_instructions_are_known_by_their_names() {
        for (name, expected) in [
            ("_setjmp", true),
            ("__sigsetjmp", true),
            ("__libc_siglongjmp", true),
            ("__libc_vfork", true),
            ("dlsym", true),
            ("_Unwind_RaiseException", true),
            ("__gxx_personality_v0", true),
            ("fork", false),
            ("dlclose", false),
            ("malloc", false),
            ("setjmp_like", false),
        ] {
            assert_eq!(is_function(name), expected, "{name}");
        }
        assert!(is_unwinder("libgcc_s.so.1") && !is_unwinder("libc.so.6"));
    }
}
