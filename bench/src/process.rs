//! The server as a process: start, CPU time, memory.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use tokio::io::AsyncBufReadExt;

use crate::{Figure, figure, http};

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: tokio::process::Child,
    pub(crate) address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts it on a fresh store and waits until `/readyz` is 200.
    pub(crate) async fn start(binary: &Path, settings: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(binary);
        command.arg("serve").args(["--listen", "127.0.0.1:0"]).current_dir(folder.path()).env_clear();
        command.env("HOME", folder.path()).env("FRONTDESK__STORE__URL", "sqlite:bench.db");
        command.envs(settings.iter().map(|(key, value)| (*key, value.clone())));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn().unwrap();
        let mut lines = tokio::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().expect("the server prints where it listens");
        let address = line.rsplit("http://").next().unwrap().parse().expect("an address");
        for _ in 0..2_000 {
            if matches!(http::send(address, "GET", "/readyz", None, "").await, Ok((200, _))) {
                return Self { child, address, _folder: folder };
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("the server is never ready");
    }

    /// User and system CPU time so far, milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        ticks * 10.0
    }

    /// Resident memory, megabytes (10^6 bytes).
    pub(crate) fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
    }

    fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// A demo token.
    pub(crate) async fn token(&self) -> String {
        let (status, body) = http::send(self.address, "POST", "/v1/auth/demo", None, "").await.unwrap();
        assert_eq!(status, 200, "{body}");
        let json = &body[body.find('{').unwrap()..=body.rfind('}').unwrap()];
        serde_json::from_str::<serde_json::Value>(json).unwrap()["token"].as_str().unwrap().to_owned()
    }
}

/// CPU from start to ready (mean of 10, from the second start on the same machine), and memory once idle.
pub(crate) async fn start_and_idle(binary: &Path) -> Vec<Figure> {
    let mut cpu = 0.0;
    let mut resident = 0.0;
    for round in 0..11 {
        let server = Server::start(binary, &[]).await;
        if round > 0 {
            cpu += server.cpu_ms();
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        resident = server.resident_mb();
    }
    vec![
        figure("start to ready, mean of 10", format!("{:.0} CPU-ms", cpu / 10.0), "<= 50 CPU-ms"),
        figure("memory idle", format!("{resident:.1} MB"), "<= 30 MB"),
    ]
}
