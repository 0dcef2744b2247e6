//! Selects the variant of a Rust enumeration (`Some(5)`, `Circle {radius: 3}`).
//!
//! The value has the fields of its current variant. A field of another variant is an error.

use crate::error::ValueError;
use crate::typed::{Memory, Number, Typed};
use juror_symbols::Field;

impl Typed {
    /// Returns the current variant with its data. Returns `None` for a value that is no enumeration
    /// with data, and if no variant has this discriminant.
    ///
    /// # Errors
    /// The discriminant cannot be read.
    pub fn variant(&self, memory: &dyn Memory) -> Result<Option<Field>, ValueError> {
        let composite = self.r#type.composite();
        let Some(part) = composite.as_ref().and_then(|it| it.variants.as_ref()) else {
            return Ok(None);
        };
        let discriminant = match &part.discriminant {
            None => None,
            Some(field) => match self.member(field).number(memory)? {
                Number::Int(number) => Some(number),
                Number::Bool(truth) => Some(i128::from(truth)),
                Number::Pointer(address, _) => Some(i128::from(address)),
                Number::Float(_) | Number::Wide(_) => None,
            },
        };
        let mut variants = part.variants.iter();
        let chosen = variants
            .find(|variant| variant.value.is_some() && variant.value == discriminant)
            .or_else(|| part.variants.iter().find(|variant| variant.value.is_none()));
        Ok(chosen.map(|variant| variant.field.clone()))
    }

    /// Returns a field of the current variant, or the variant's data if `name` is the variant's
    /// name. Returns `None` if the value is not an enumeration with data.
    pub(crate) fn field_of_variant(
        &self,
        name: &str,
        memory: &dyn Memory,
    ) -> Option<Result<Typed, ValueError>> {
        let chosen = match self.variant(memory) {
            Ok(chosen) => chosen?,
            Err(why) => return Some(Err(why)),
        };
        let data = self.member(&chosen);
        if chosen.name.as_deref() == Some(name) {
            return Some(Ok(data));
        }
        let field = data.r#type.field(name);
        Some(match field {
            Some(field) => Ok(data.member(&field)),
            None => {
                let is = chosen.name.as_deref().unwrap_or("?");
                Err(format!("this is `{is}`: {}", data.no_field(name)).into())
            }
        })
    }
}
