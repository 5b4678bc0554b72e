//! The product's binary as a process: started, stopped, paused, killed and started again on the same store.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::{agui::Client, binary::binary, token, wait::PATIENCE};

/// How to start the binary. Nothing of this process's environment reaches it but `PATH`.
#[derive(Debug, Clone)]
pub struct Setup {
    pub binary: PathBuf,
    /// Working and home folder.
    pub folder: PathBuf,
    pub environment: Vec<(String, String)>,
}

impl Setup {
    /// The product on `store`, in `folder`, with nothing else configured.
    pub fn new(folder: &Path, store: &str) -> Self {
        let setup = Self { binary: binary("frontdesk"), folder: folder.to_owned(), environment: Vec::new() };
        setup.with("store.url", store)
    }

    /// Sets a key of the configuration, `section.key`.
    #[must_use]
    pub fn with(self, key: &str, value: &str) -> Self {
        self.variable(&format!("FRONTDESK__{}", key.to_ascii_uppercase().replace('.', "__")), value)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        let name = format!("FRONTDESK__{}", key.to_ascii_uppercase().replace('.', "__"));
        self.environment.retain(|(known, _)| *known != name);
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.folder)
            .env("RUST_BACKTRACE", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// If it does not end within [`PATIENCE`]; it is killed then.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        finish(child, arguments)
    }

    /// Like [`Setup::run`], with text on standard input.
    ///
    /// # Panics
    /// If it does not end within [`PATIENCE`]; it is killed then.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let file = self.folder.join("stdin.txt");
        fs::write(&file, input).expect("the folder is writable");
        let mut command = self.command(arguments);
        command.stdin(File::open(file).expect("just written")).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("the command starts"), arguments)
    }

    /// `serve` on a free port.
    ///
    /// # Panics
    /// If it does not come up, with what it wrote on standard error.
    pub fn serve(&self) -> Frontdesk {
        self.start().unwrap_or_else(|why| panic!("{why}"))
    }

    /// `serve` on a free port, or why it did not come up.
    pub fn start(&self) -> Result<Frontdesk, String> {
        let mut child = Process::spawn(self, &["serve", "--listen", "127.0.0.1:0"]);
        let stdout = child.child.stdout.take().expect("piped by spawn");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = sender.send(line);
            // Reads on, so that the process never blocks on a full pipe.
            let _ = std::io::copy(&mut stdout, &mut std::io::sink());
        });
        let line = receiver.recv_timeout(PATIENCE).unwrap_or_default();
        let address = line.trim_end_matches('\n').strip_prefix("frontdesk listening on http://");
        match address.and_then(|text| text.parse::<SocketAddr>().ok()) {
            Some(address) => Ok(Frontdesk { address, process: child }),
            None => {
                let code = child.try_wait();
                child.quiet = true;
                Err(format!("serve printed {line:?} and is {code:?}; standard error:\n{}", child.stderr()))
            }
        }
    }

    /// `worker`, which prints nothing to wait for.
    pub fn worker(&self) -> Process {
        Process::spawn(self, &["worker"])
    }
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

fn finish(child: Child, arguments: &[&str]) -> Ran {
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(child.wait_with_output())));
    match receiver.recv_timeout(PATIENCE) {
        Ok(output) => ran(output.expect("the command's output is readable")),
        Err(_) => {
            signal(pid, "KILL");
            let output = receiver.recv().ok().and_then(Result::ok).map(ran);
            panic!("{arguments:?} did not end; {output:?}");
        }
    }
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a signal by name (`TERM`, `STOP`, `CONT`, `KILL`).
pub fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}

/// A process with its standard error in a file; killed when dropped, and its standard error shown if a test fails.
pub struct Process {
    child: Child,
    log: PathBuf,
    quiet: bool,
}

impl Process {
    /// # Panics
    /// If the binary cannot be started.
    pub fn spawn(setup: &Setup, arguments: &[&str]) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let log = setup.folder.join(format!("stderr-{}.log", COUNT.fetch_add(1, Ordering::Relaxed)));
        let stderr = File::create(&log).expect("the folder is writable");
        let child = setup.command(arguments).stdout(Stdio::piped()).stderr(stderr).spawn().expect("the binary starts");
        Self { child, log, quiet: false }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// SIGKILL, and waits for the end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn pause(&self) {
        signal(self.pid(), "STOP");
    }

    pub fn resume(&self) {
        signal(self.pid(), "CONT");
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        signal(self.pid(), "TERM");
    }

    /// `None`: it runs.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// # Panics
    /// If it does not end within [`PATIENCE`].
    pub fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.try_wait() {
                return status;
            }
            assert!(Instant::now() < until, "the process does not end; standard error:\n{}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Standard output, once the process has ended.
    pub fn stdout(&mut self) -> String {
        let mut text = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            let _ = stdout.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() && !self.quiet {
            eprintln!("--- standard error of {}:\n{}", self.log.display(), self.stderr());
        }
    }
}

/// A server that listens.
pub struct Frontdesk {
    pub address: SocketAddr,
    pub process: Process,
}

impl Frontdesk {
    /// A client with a token for `sub` of organization `org`, signed with the tests' key.
    pub fn client_of(&self, sub: &str, org: &str) -> Client {
        Client::new(self.address).with_token(&token::token(sub, org))
    }

    /// A client of organization `acme`.
    pub fn client(&self, sub: &str) -> Client {
        self.client_of(sub, "acme")
    }
}
