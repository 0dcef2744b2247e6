//! The token that who connects to a port of juror must show.

use std::fs::File;
use std::io::{self, Read as _};

/// The number of random bytes of a token.
const BYTES: usize = 16;

/// Returns a random token, in hexadecimal digits.
///
/// # Errors
/// The system has no random bytes.
pub fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hexadecimal_and_differ() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 2 * BYTES);
        assert!(one.bytes().all(|it| it.is_ascii_hexdigit()));
        assert_ne!(one, other);
    }
}
