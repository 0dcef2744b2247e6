//! The connection with the client: framed messages, a queue in each direction.

pub mod framing;
pub mod inbox;
pub mod outbox;
