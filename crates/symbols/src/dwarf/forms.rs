//! The encodings of names in a file, as found in its abbreviations.
//!
//! Source: DWARF 5, sections 7.5.3 and 7.5.6.

use gimli::{DwAt, DwForm, DwTag, LittleEndian, Reader as _};

/// The encodings of names.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Forms {
    /// Whether some DIEs contain the string itself.
    pub has_inline: bool,
    /// Whether some DIEs have an origin in another unit.
    pub has_distant: bool,
    /// The encodings of linkage names.
    pub linkage: Linkage,
}

/// The encodings of linkage names.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Linkage {
    pub has_inline: bool,
    /// Whether some have an encoding that a search cannot find.
    pub has_other: bool,
}

impl Forms {
    /// Scans the abbreviations of all units for the encodings of names; `None` if a name
    /// has an encoding that a search cannot find.
    pub fn of_abbreviations(section: &[u8]) -> Option<Forms> {
        let mut input = gimli::EndianSlice::new(section, LittleEndian);
        let mut forms = Forms::default();
        let mut has_static_members = false;
        while !input.is_empty() {
            if input.read_uleb128().ok()? == 0 {
                continue;
            }
            let tag = DwTag(input.read_uleb128_u16().ok()?);
            input.skip(1).ok()?;
            loop {
                let name = DwAt(input.read_uleb128_u16().ok()?);
                let form = DwForm(input.read_uleb128_u16().ok()?);
                if form == gimli::DW_FORM_implicit_const {
                    input.read_sleb128().ok()?;
                }
                match name {
                    DwAt(0) => break,
                    gimli::DW_AT_external => has_static_members |= tag == gimli::DW_TAG_member,
                    gimli::DW_AT_name if !is_unit(tag) => match form {
                        gimli::DW_FORM_strp => {}
                        gimli::DW_FORM_string => forms.has_inline = true,
                        _ => return None,
                    },
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => match form {
                        gimli::DW_FORM_strp => {}
                        gimli::DW_FORM_string => forms.linkage.has_inline = true,
                        _ => forms.linkage.has_other = true,
                    },
                    gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => match form {
                        gimli::DW_FORM_ref_addr => forms.has_distant = true,
                        form if is_within_unit(form) => {}
                        _ => return None,
                    },
                    _ => {}
                }
            }
        }
        // The definition of a static member gets its name only from the declaration, which
        // may be in another unit.
        (!has_static_members || !forms.has_distant).then_some(forms)
    }
}

fn is_unit(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_compile_unit
            | gimli::DW_TAG_partial_unit
            | gimli::DW_TAG_type_unit
            | gimli::DW_TAG_skeleton_unit
    )
}

fn is_within_unit(form: DwForm) -> bool {
    matches!(
        form,
        gimli::DW_FORM_ref1
            | gimli::DW_FORM_ref2
            | gimli::DW_FORM_ref4
            | gimli::DW_FORM_ref8
            | gimli::DW_FORM_ref_udata
    )
}
