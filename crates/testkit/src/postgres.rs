//! A fresh database on the PostgreSQL that `FRONTDESK_TEST_POSTGRES` names (`postgres://USER@HOST:PORT/postgres`).

use std::{
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use url::Url;

/// A database of this test alone; dropped with it.
pub struct Postgres {
    pub url: String,
    admin: String,
    name: String,
}

impl Postgres {
    /// `None` without the variable, after saying so.
    ///
    /// # Panics
    /// If the variable is set but the server cannot be used.
    pub fn fresh() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Ok(admin) = std::env::var("FRONTDESK_TEST_POSTGRES") else {
            eprintln!("skipped: no PostgreSQL");
            return None;
        };
        let name = format!("fd_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        assert!(psql(&admin, &format!("CREATE DATABASE {name}")), "PostgreSQL at FRONTDESK_TEST_POSTGRES makes no database");
        let mut url = Url::parse(&admin).expect("FRONTDESK_TEST_POSTGRES is a URL");
        url.set_path(&name);
        Some(Self { url: url.into(), admin, name })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        psql(&self.admin, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn psql(url: &str, statement: &str) -> bool {
    let status = Command::new("psql")
        .args(["--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", statement])
        .stdin(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
