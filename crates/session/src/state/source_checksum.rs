//! The checksum by which compilers identify source files: MD5.
//!
//! It distinguishes a moved file from a changed one, and protects nothing.

/// Returns the checksum of a file's bytes.
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    md5::compute(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = md5(text.as_bytes());
        let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_examples_of_its_author_come_out() {
        check("", "d41d8cd98f00b204e9800998ecf8427e");
        check("a", "0cc175b9c0f1b6a831c399e269772661");
        check("abc", "900150983cd24fb0d6963f7d28e17f72");
        check("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
        check(
            "abcdefghijklmnopqrstuvwxyz",
            "c3fcd3d76192e4007dfb496cca67e13b",
        );
        let digits = "1234567890".repeat(8);
        check(&digits, "57edf4a22be3c955ac49da2e2107b67a");
    }
}
