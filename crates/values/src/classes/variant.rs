//! Which alternative an enumeration of Rust is (`Some(5)`, `Circle {radius: 3}`).
//!
//! Its fields are those of the alternative that it is: a field of another one is not there,
//! and to ask for it is an error that is shown.

use crate::error::ValueError;
use crate::typed::{Memory, Number, Typed};
use juror_symbols::Field;

impl Typed {
    /// The alternative that it is, with its data; nothing for what is no enumeration with
    /// data, and where no alternative has this discriminant.
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

    /// A field of the alternative that it is, or that one's data by its name; nothing where
    /// it is no enumeration with data.
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
