//! Ctrl-C, as far as it is a signal: at the prompt it is a key.

use std::io;

use futures::FutureExt;

/// Ctrl-C, from when it is made on.
pub struct Interrupts(#[cfg(unix)] tokio::signal::unix::Signal);

impl Interrupts {
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    #[cfg(unix)]
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        Ok(Self())
    }

    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Interrupts {
    /// What was pressed before was meant for something else.
    pub fn forget(&mut self) {
        while self.next().now_or_never().is_some() {}
    }
}
