//! The protocol's schema: each message must match it, and juror's own may have no other fields.
//!
//! The schema uses a small part of JSON Schema, which is read here; a test finds a keyword that
//! is not. A standard validator would not find a field that the adapter has invented, since the
//! schema permits others.

use juror_testing::repository_directory;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The schema.
pub struct Schema {
    root: Value,
}

static SHARED: LazyLock<Schema> = LazyLock::new(|| {
    let path = repository_directory().join("crates/dap/tests/data/debugAdapterProtocol.json");
    let text = std::fs::read_to_string(path).expect("the schema is there");
    Schema {
        root: serde_json::from_str(&text).expect("it is JSON"),
    }
});

impl Schema {
    /// The schema of the repository.
    pub fn shared() -> &'static Schema {
        &SHARED
    }

    /// Checks a message.
    pub fn check(&self, message: &Value) -> Result<(), String> {
        self.judge(message, false)
    }

    /// Checks a message of the adapter: it may have no field that its definition does not have.
    pub fn check_own(&self, message: &Value) -> Result<(), String> {
        self.judge(message, true)
    }

    /// Returns the requests of the protocol.
    pub fn commands(&self) -> Vec<String> {
        let definitions = self.root["definitions"].as_object();
        let parts = definitions.into_iter().flat_map(|it| it.values());
        let parts = parts.flat_map(|it| it["allOf"].as_array().into_iter().flatten());
        let named = parts.filter_map(|part| part["properties"]["command"]["enum"][0].as_str());
        named.map(str::to_owned).collect()
    }

    fn judge(&self, message: &Value, is_closed: bool) -> Result<(), String> {
        let name = self.definition_of(message);
        let schema = json!({ "$ref": format!("#/definitions/{name}") });
        let mut faults = Vec::new();
        self.search(&schema, message, "", is_closed, &mut faults);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("{name}: {}\n{message}", faults.join("; ")))
        }
    }

    /// Returns the name of the definition of a message: the most specific there is.
    fn definition_of(&self, message: &Value) -> String {
        let capital = |word: &Value| {
            let word = word.as_str().unwrap_or_default();
            let mut letters = word.chars();
            let first = letters.next().map(|it| it.to_uppercase().to_string());
            first.unwrap_or_default() + letters.as_str()
        };
        let (name, general) = match message["type"].as_str() {
            Some("event") => (capital(&message["event"]) + "Event", "Event"),
            Some("request") => (capital(&message["command"]) + "Request", "Request"),
            _ if message["success"] == false => ("ErrorResponse".to_owned(), "Response"),
            _ => (capital(&message["command"]) + "Response", "Response"),
        };
        match self.root["definitions"].get(&name) {
            Some(_) => name,
            None => general.to_owned(),
        }
    }

    /// Finds what is wrong with a value.
    fn search(
        &self,
        schema: &Value,
        value: &Value,
        place: &str,
        is_closed: bool,
        faults: &mut Vec<String>,
    ) {
        let parts = self.parts(schema);
        for part in &parts {
            if let Err(fault) = matches_itself(part, value) {
                faults.push(format!("{place}: {fault}"));
            }
        }
        if let Value::Array(elements) = value {
            for items in parts.iter().filter_map(|part| part.get("items")) {
                for element in elements {
                    self.search(items, element, &format!("{place}[]"), is_closed, faults);
                }
            }
        }
        let Value::Object(fields) = value else { return };
        let known = parts.iter().filter_map(|part| part.get("properties"));
        let known: Vec<&Value> = known.collect();
        let is_open = parts
            .iter()
            .any(|part| part.get("additionalProperties").is_some());
        for (name, field) in fields {
            let place = format!("{place}.{name}");
            let mut is_known = false;
            for schema in known.iter().filter_map(|it| it.get(name)) {
                is_known = true;
                self.search(schema, field, &place, is_closed, faults);
            }
            // If any object is permitted, any field is, too.
            if is_closed && !is_known && !is_open && !known.is_empty() {
                faults.push(format!("{place} does not exist"));
            }
        }
    }

    /// Returns a schema with those that it refers to and consists of.
    fn parts(&self, schema: &Value) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut open = vec![schema.clone()];
        while let Some(part) = open.pop() {
            if let Some(name) = part["$ref"].as_str() {
                let name = name.trim_start_matches("#/definitions/");
                open.push(self.root["definitions"][name].clone());
            }
            open.extend(part["allOf"].as_array().into_iter().flatten().cloned());
            parts.push(part);
        }
        parts
    }
}

/// Checks a value by a schema's own keywords.
fn matches_itself(schema: &Value, value: &Value) -> Result<(), String> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return Err(format!("{value} is not of type {types:?}"));
    }
    if let Value::Array(permitted) = &schema["enum"]
        && !permitted.contains(value)
    {
        return Err(format!("{value} is none of {permitted:?}"));
    }
    if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
        && number < least
    {
        return Err(format!("{value} is less than {least}"));
    }
    if let (Some(number), Some(most)) = (value.as_f64(), schema["maximum"].as_f64())
        && number > most
    {
        return Err(format!("{value} is more than {most}"));
    }
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if value.is_object() && value.get(name).is_none() {
            return Err(format!("{name} is missing"));
        }
    }
    Ok(())
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[test]
fn a_message_with_a_wrong_or_an_invented_field_is_found() {
    let schema = Schema::shared();
    let answer = |body: Value| {
        json!({
            "seq": 1, "type": "response", "request_seq": 1, "success": true,
            "command": "initialize", "body": body,
        })
    };
    let good = answer(json!({ "supportsRestartRequest": true }));
    assert_eq!(schema.check_own(&good), Ok(()));
    let wrong = answer(json!({ "supportsRestartRequest": 1 }));
    assert!(schema.check(&wrong).is_err());
    let invented = answer(json!({ "supportsAttachRequest": true }));
    assert_eq!(schema.check(&invented), Ok(()));
    assert!(schema.check_own(&invented).is_err());
    let event = json!({ "seq": 1, "type": "event", "event": "stopped", "body": {} });
    assert!(schema.check(&event).is_err());
    let zero = json!({ "seq": 0, "type": "event", "event": "initialized" });
    assert!(schema.check(&zero).is_err());
    let kind = json!({
        "seq": 1, "type": "event", "event": "breakpoint",
        "body": { "reason": "new", "breakpoint": { "verified": true, "reason": "lost" } },
    });
    assert!(schema.check(&kind).is_err());
    let own = json!({ "seq": 1, "type": "event", "event": "juror/verdict", "body": { "a": 1 } });
    assert_eq!(schema.check_own(&own), Ok(()));
}

#[test]
fn each_keyword_of_the_schema_is_read() {
    // The last ones only describe. `oneOf` is in `restart` alone, with definitions of which a
    // value matches at most one.
    const KNOWN: [&str; 17] = [
        "$ref",
        "allOf",
        "type",
        "properties",
        "required",
        "enum",
        "items",
        "minimum",
        "maximum",
        "additionalProperties",
        "oneOf",
        "description",
        "title",
        "_enum",
        "enumDescriptions",
        "format",
        "$schema",
    ];
    let mut unknown = BTreeSet::new();
    let definitions = Schema::shared().root["definitions"].as_object().unwrap();
    let mut open: Vec<&Value> = definitions.values().collect();
    while let Some(schema) = open.pop() {
        let Value::Object(keywords) = schema else {
            continue;
        };
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(fields)) => open.extend(fields.values()),
                ("allOf" | "oneOf", Value::Array(parts)) => open.extend(parts),
                ("items" | "additionalProperties", part) => open.push(part),
                (known, _) if KNOWN.contains(&known) => {}
                (other, _) => {
                    unknown.insert(other.to_owned());
                }
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}
