//! A server of mini-redis and its clients in one process; the clients count what they ask.

use mini_redis::{client, server};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn(async move { server::run(listener, async { drop(stopped.await) }).await });
    let (mut sets, mut gets) = (0, 0);
    for number in 0..10 {
        let mut client = client::connect(address).await?;
        for key in 0..30 {
            client.set(&format!("key{key}"), format!("{number}").into()).await?;
            sets += 1;
            if key % 3 == 0 {
                client.get(&format!("key{key}")).await?;
                gets += 1;
            }
        }
    }
    drop(stop);
    served.await??;
    if let Ok(path) = std::env::var("OWN_COUNTS") {
        std::fs::write(path, format!("{sets}\n{gets}\n"))?;
    }
    Ok(())
}
