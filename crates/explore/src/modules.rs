//! The identity of the modules of a program.

use crate::error::ExploreError;
use juror_program::modules::Module;

/// A module: the path of its file, and its build id, or a checksum if it has none.
pub type ModuleId = (String, String);

/// Returns what tells a module from others.
pub(crate) fn identity(module: &Module) -> ModuleId {
    let id = match module.symbols.header().build_id.as_deref() {
        Some(id) if !id.is_empty() => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => {
            let bytes = std::fs::read(&module.path).unwrap_or_default();
            format!("checksum {:016x}", fingerprint(&bytes))
        }
    };
    (module.path.display().to_string(), id)
}

/// Returns a checksum that tells any change of one byte (FNV-1a).
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Checks that the modules are the expected ones.
pub(crate) fn check_modules(expected: &[ModuleId], found: &[ModuleId]) -> Result<(), ExploreError> {
    let mut pairs = expected.iter().zip(found);
    let changed = pairs.find(|(then, now)| then != now).map(|(then, _)| then);
    let missing = expected.get(found.len()).or(found.get(expected.len()));
    match changed.or(missing) {
        Some((path, _)) => Err(ExploreError::Changed(path.clone())),
        None => Ok(()),
    }
}
