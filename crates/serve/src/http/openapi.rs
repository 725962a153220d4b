//! The OpenAPI 3.1 document, of the endpoints as they are declared.

use super::bodies::Problem;
use super::described::Described;
use super::endpoints::{Answers, ENDPOINTS, Endpoint, NAMESPACE};
use super::reply::reason;
use serde_json::{Map, Value, json};

/// The document.
pub(crate) fn document() -> Value {
    let mut schemas = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in &ENDPOINTS {
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method.to_ascii_lowercase()] = operation(endpoint, &mut schemas);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "twinsplit serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Keeps one of two documents that are alike, as they come. docs/service.md tells what is promised.",
        },
        "security": [{ "bearer": [] }, { "basic": [] }, {}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "The password of --password-file." },
                "basic": { "type": "http", "scheme": "basic", "description": "The user is default." },
            },
        },
    })
}

fn operation(endpoint: &Endpoint, schemas: &mut Map<String, Value>) -> Value {
    let content =
        |name: &str, schema: Value| json!({ (name.split(';').next().unwrap_or(name)): { "schema": schema } });
    let content = |answers: Answers, schemas: &mut Map<String, Value>| match answers {
        Answers::Json(schema) => content("application/json", schema(schemas)),
        Answers::Any => content("application/json", json!({ "type": "object" })),
        Answers::Text(name) => content(name, json!({ "type": "string" })),
    };
    let mut responses = Map::new();
    let answer = json!({ "description": reason(200), "content": content(endpoint.answers, schemas) });
    responses.insert("200".to_owned(), answer);
    for status in endpoint.statuses() {
        let answer = json!({
            "description": reason(status),
            "content": content(Answers::Json(Problem::schema), schemas),
        });
        responses.insert(status.to_string(), answer);
    }
    let mut operation =
        json!({ "operationId": endpoint.name, "summary": endpoint.about, "responses": responses });
    if let Some(takes) = endpoint.takes {
        operation["requestBody"] =
            json!({ "required": true, "content": content(Answers::Json(takes), schemas) });
    }
    if endpoint.path.contains(NAMESPACE) {
        operation["parameters"] = json!([{
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "256 bytes at most, escaped with % where they are no letters, digits or -._~",
            "schema": { "type": "string", "minLength": 1 },
        }]);
    }
    if endpoint.is_open {
        operation["security"] = json!([]);
    }
    operation
}
