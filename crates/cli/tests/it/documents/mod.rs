//! Tests of what the repository shows: sessions in documents, examples.

mod examples;
pub mod sessions_in_documents;
