//! The extended state of a thread as a signal frame has it.

/// Alignment of the extended state in bytes.
const ALIGNMENT: usize = 64;

/// Adds what the kernel expects around an extended state in a signal frame
/// (*asm/sigcontext.h*, `struct _fpx_sw_bytes`), and fills it up to the
/// alignment of the next one.
pub(super) fn signal_frame_state(state: &[u8]) -> Vec<u8> {
    /// The offset of the features that follow the legacy area, in the standard
    /// form that the kernel gives.
    const FEATURES: usize = 464;
    const MAGIC_BEGIN: u32 = 0x4650_5853;
    const MAGIC_END: u32 = 0x4650_5845;
    /// The features of the tile registers, which a signal frame has only if the
    /// process was permitted to use them; they lie behind all others.
    const TILES: u64 = 3 << 17;
    const TILES_OFFSET: usize = 2688 + 64;
    let mut features = [0; 8];
    if let Some(given) = state.get(FEATURES..FEATURES + 8) {
        features.copy_from_slice(given);
    }
    let features = u64::from_le_bytes(features);
    let length = match features & TILES {
        0 => state.len(),
        _ => state.len().min(TILES_OFFSET),
    };
    let mut bytes = state.get(..length).unwrap_or(state).to_vec();
    let mut description = Vec::new();
    description.extend(MAGIC_BEGIN.to_le_bytes());
    description.extend((length as u32 + 4).to_le_bytes());
    description.extend((features & !TILES).to_le_bytes());
    description.extend((length as u32).to_le_bytes());
    description.extend([0; 28]);
    if let Some(place) = bytes.get_mut(FEATURES..FEATURES + description.len()) {
        place.copy_from_slice(&description);
    }
    bytes.extend(MAGIC_END.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    bytes
}
