//! Arguments that a function does not take any more, since the compiler saw that all its callers
//! pass the same value.

use super::passing::Passed;
use juror_symbols::{EntryLocation, EntryPieceLocation};

/// Leaves out the parts of an argument that the function has as constants.
///
/// # Errors
/// The argument has another value.
pub(super) fn leave_out(passed: &Passed, location: &mut EntryLocation) -> Result<(), String> {
    for piece in location.iter() {
        let EntryPieceLocation::Constant(bytes) = &piece.location else {
            continue;
        };
        let (start, size) = (piece.offset as usize, piece.size as usize);
        let given = passed.bytes.get(start..start + size);
        let is_same = passed.pointed.is_none() && given.is_some() && given == bytes.get(..size);
        if !is_same {
            let value = match bytes.get(..size) {
                Some(bytes @ [_, ..]) if size <= 8 => shown(bytes),
                _ => "one value".to_owned(),
            };
            return Err(format!(
                "the compiler has made this function for {value} alone, which its callers pass"
            ));
        }
    }
    location.retain(|piece| !matches!(piece.location, EntryPieceLocation::Constant(_)));
    Ok(())
}

/// Returns a number of up to eight bytes as text.
fn shown(bytes: &[u8]) -> String {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word).to_string()
}
