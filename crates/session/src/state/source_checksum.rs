//! The checksum by which compilers identify source files: MD5.
//!
//! It tells a file that has moved from one that has changed, and protects nothing.
//!
//! After R. Rivest, *The MD5 Message-Digest Algorithm* (RFC 1321, 1992).

/// The sines of 1 to 64, as parts of 2^32.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];
/// By how much the four steps of each round turn.
const TURNS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];
const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
const BLOCK_SIZE: usize = 64;

/// The checksum of a file's bytes.
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut state = START;
    let (blocks, rest) = bytes.as_chunks::<BLOCK_SIZE>();
    for block in blocks {
        add(&mut state, block);
    }
    // A one, zeros, and the length in bits at the end of a block.
    let mut end = rest.to_vec();
    end.push(0x80);
    while end.len() % BLOCK_SIZE != BLOCK_SIZE - 8 {
        end.push(0);
    }
    end.extend((bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in end.as_chunks::<BLOCK_SIZE>().0 {
        add(&mut state, block);
    }
    let mut checksum = [0; 16];
    let bytes = state.iter().flat_map(|word| word.to_le_bytes());
    for (place, byte) in checksum.iter_mut().zip(bytes) {
        *place = byte;
    }
    checksum
}

fn add(state: &mut [u32; 4], block: &[u8; BLOCK_SIZE]) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for (step, sine) in SINES.iter().enumerate() {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(*sine)
            .wrapping_add(words[word % 16]);
        let turned = sum.rotate_left(TURNS[step / 16][step % 4]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    for (word, change) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(change);
    }
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
