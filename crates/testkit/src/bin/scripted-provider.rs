//! `scripted-provider [--record FILE] [--control DIR] [--listen HOST:PORT] [--owned]`: prints its port, then serves
//! until it is killed or, when owned, its standard input ends, so that it never outlives the test that started it.

use std::{fs::OpenOptions, io::Write, path::PathBuf, sync::Arc};

use testkit::scripted::Scripted;
use tokio::{io::AsyncReadExt, net::TcpListener};

#[tokio::main(worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let mut record = None;
    let mut control = None;
    let mut listen = "127.0.0.1:0".to_owned();
    let mut owned = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--owned" {
            owned = true;
            continue;
        }
        let value = arguments.next().unwrap_or_default();
        match name.as_str() {
            "--record" => record = Some(OpenOptions::new().create(true).append(true).open(value)?),
            "--control" => control = Some(PathBuf::from(value)),
            "--listen" => listen = value,
            _ => {
                eprintln!("scripted-provider [--record FILE] [--control DIR] [--listen HOST:PORT] [--owned]");
                std::process::exit(2);
            }
        }
    }
    let listener = TcpListener::bind(listen).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?.port())?;
    stdout.flush()?;
    let server = Arc::new(Scripted::new(record, control)).serve(listener);
    tokio::select! {
        served = server => served,
        () = closed(), if owned => Ok(()),
    }
}

/// Returns when standard input ends.
async fn closed() {
    let mut byte = [0];
    while tokio::io::stdin().read(&mut byte).await.is_ok_and(|count| count > 0) {}
}
