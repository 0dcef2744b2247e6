//! A validator for the part of JSON Schema that juror's own schemas use: `$ref` within the file,
//! `type`, `const`, `enum`, `anyOf`, `oneOf`, `items`, `properties` and `required`.
//!
//! It is stricter than the standard in one way: an object may have only the keys that its schema
//! lists. The schema itself permits others, so that old readers take new lines, and a standard
//! validator would not find a key that was forgotten.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A JSON Schema.
#[derive(Debug)]
pub struct JsonSchema {
    root: Value,
}

impl JsonSchema {
    /// Parses a schema.
    ///
    /// # Panics
    ///
    /// The text is not JSON.
    #[track_caller]
    pub fn parse(text: &str) -> JsonSchema {
        let root = serde_json::from_str(text).expect("the schema is JSON");
        JsonSchema { root }
    }

    /// Returns the names of all definitions.
    pub fn definitions(&self) -> BTreeSet<String> {
        let names = self.root["$defs"].as_object().map(Map::keys);
        names.into_iter().flatten().cloned().collect()
    }

    /// Validates a value, and returns the definitions that it used.
    ///
    /// # Errors
    ///
    /// The value does not match; the error says where and why.
    pub fn check(&self, value: &Value) -> Result<BTreeSet<String>, String> {
        let mut used = BTreeSet::new();
        self.node(&self.root, value, "", &mut used)?;
        Ok(used)
    }

    /// Validates a value against one of the definitions.
    ///
    /// # Errors
    ///
    /// The value does not match, or there is no such definition.
    pub fn check_definition(&self, name: &str, value: &Value) -> Result<(), String> {
        match self.root["$defs"].get(name) {
            Some(schema) => self.node(schema, value, name, &mut BTreeSet::new()),
            None => Err(format!("there is no definition `{name}`")),
        }
    }

    fn node(
        &self,
        schema: &Value,
        value: &Value,
        path: &str,
        used: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.trim_start_matches("#/$defs/");
            let target = self.root["$defs"].get(name);
            let target = target.ok_or_else(|| format!("{path}: there is no `{reference}`"))?;
            used.insert(name.to_owned());
            return self.node(target, value, path, used);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                self.one_of(choices, value, path, used)?;
            }
        }
        let expected = schema.get("const").map(std::slice::from_ref);
        let expected = expected.or_else(|| schema["enum"].as_array().map(Vec::as_slice));
        if expected.is_some_and(|expected| !expected.contains(value)) {
            return Err(format!("{path}: {value} is none of {expected:?}"));
        }
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        };
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_of_type(value, kind)) {
            return Err(format!("{path}: {value} is no {}", kinds.join(" or ")));
        }
        if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
            for (at, element) in elements.iter().enumerate() {
                self.node(items, element, &format!("{path}[{at}]"), used)?;
            }
        }
        match (schema["properties"].as_object(), value.as_object()) {
            (Some(properties), Some(fields)) => self.fields(schema, properties, fields, path, used),
            _ => Ok(()),
        }
    }

    /// Exactly one alternative matches.
    fn one_of(
        &self,
        choices: &[Value],
        value: &Value,
        path: &str,
        used: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let mut matching = Vec::new();
        let mut errors = Vec::new();
        for choice in choices {
            let mut of_choice = BTreeSet::new();
            match self.node(choice, value, path, &mut of_choice) {
                Ok(()) => matching.push(of_choice),
                Err(error) => errors.push(error),
            }
        }
        match matching.as_slice() {
            [of_choice] => used.extend(of_choice.iter().cloned()),
            [] => return Err(errors.join("\n")),
            _ => return Err(format!("{path}: {value} matches several alternatives")),
        }
        Ok(())
    }

    fn fields(
        &self,
        schema: &Value,
        properties: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        used: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let required = schema["required"].as_array().into_iter().flatten();
        for key in required.filter_map(Value::as_str) {
            if !fields.contains_key(key) {
                return Err(format!("{path}: the key `{key}` is missing"));
            }
        }
        for (key, value) in fields {
            let schema = properties.get(key);
            let schema = schema.ok_or_else(|| format!("{path}: there is no key `{key}`"))?;
            self.node(schema, value, &format!("{path}.{key}"), used)?;
        }
        Ok(())
    }
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> JsonSchema {
        JsonSchema::parse(
            r##"{
                "oneOf": [{"$ref": "#/$defs/point"}, {"$ref": "#/$defs/word"}],
                "$defs": {
                    "point": {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "point"},
                            "at": {"type": "array", "items": {"type": "integer"}},
                            "name": {"type": ["string", "null"]}
                        },
                        "required": ["kind", "at"]
                    },
                    "word": {
                        "type": "object",
                        "properties": {"kind": {"enum": ["a", "b"]}},
                        "required": ["kind"]
                    }
                }
            }"##,
        )
    }

    #[track_caller]
    fn check(value: Value, expected: Result<&str, &str>) {
        match (schema().check(&value), expected) {
            (Ok(used), Ok(name)) => assert_eq!(used, BTreeSet::from([name.to_owned()])),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (given, _) => panic!("{value}: {given:?}"),
        }
    }

    #[test]
    fn values_match_one_definition() {
        check(
            json!({"kind": "point", "at": [1, 2], "name": null}),
            Ok("point"),
        );
        check(json!({"kind": "b"}), Ok("word"));
        assert_eq!(schema().definitions().len(), 2);
        assert!(
            schema()
                .check_definition("word", &json!({"kind": "a"}))
                .is_ok()
        );
    }

    #[test]
    fn mismatches_are_named_with_their_place() {
        check(json!({"kind": "point"}), Err("the key `at` is missing"));
        check(
            json!({"kind": "point", "at": [1, "2"]}),
            Err(".at[1]: \"2\" is no integer"),
        );
        check(
            json!({"kind": "point", "at": [], "x": 1}),
            Err("there is no key `x`"),
        );
        check(json!({"kind": "c"}), Err("is none of"));
        check(json!({}), Err("the key `kind` is missing"));
        check(json!(7), Err("7 is no object"));
    }
}
