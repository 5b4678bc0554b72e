//! Where the readers and the worker of a run meet within this process.
//!
//! One [`Post`] a run: the attempt that runs here, if any, and a bell that rings whenever there may be news. It is
//! made by whoever comes first and goes with whoever leaves last.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{RunKey, ThreadKey};
use storage::{RunLease, RunRecord};
use tokio::sync::watch;

use crate::{
    control::{RunControl, Stop},
    log::RunLog,
};

/// A run that this process runs.
#[derive(Clone)]
pub(crate) struct Local {
    pub(crate) lease: RunLease,
    pub(crate) control: Arc<RunControl>,
    pub(crate) log: Arc<RunLog>,
}

impl Local {
    /// Does what the run's row asks for.
    pub(crate) fn learn(&self, record: &RunRecord) {
        if record.attempt != self.lease.attempt {
            self.control.stop_for(Stop::Fenced);
            return;
        }
        self.control.set_unattended(record.unattended_since.is_some());
        if let Some(reason) = record.cancel {
            self.control.stop_for(Stop::Cancel(reason));
        }
    }
}

pub(crate) struct Post {
    pub(crate) run: RunKey,
    bell: watch::Sender<()>,
    local: Mutex<Option<Local>>,
    pub(crate) attendance: Mutex<Attendance>,
}

/// Who reads a run here, and what its row was told of it.
#[derive(Debug, Default)]
pub(crate) struct Attendance {
    /// Readers that wait for the answer.
    pub(crate) persons: usize,
    /// What the row says, as far as this process knows.
    pub(crate) unattended: bool,
    /// A task is telling the row.
    pub(crate) telling: bool,
}

impl Post {
    fn new(run: RunKey) -> Arc<Self> {
        Arc::new(Self { run, bell: watch::Sender::new(()), local: Mutex::default(), attendance: Mutex::default() })
    }

    /// Rings.
    pub(crate) fn changed(&self) {
        self.bell.send_replace(());
    }

    pub(crate) fn listen(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    pub(crate) fn local(&self) -> Option<Local> {
        lock(&self.local).clone()
    }
}

/// All posts of this process.
#[derive(Default)]
pub(crate) struct Hub {
    posts: Mutex<HashMap<RunKey, (Arc<Post>, usize)>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// The run's post; [`Hub::leave`] gives it back.
    pub(crate) fn enter(&self, run: &RunKey) -> Arc<Post> {
        let mut posts = lock(&self.posts);
        let (post, users) = posts.entry(run.clone()).or_insert_with(|| (Post::new(run.clone()), 0));
        *users += 1;
        post.clone()
    }

    pub(crate) fn leave(&self, run: &RunKey) {
        let mut posts = lock(&self.posts);
        if let Some((_, users)) = posts.get_mut(run) {
            *users -= 1;
            if *users == 0 {
                posts.remove(run);
            }
        }
    }

    pub(crate) fn post(&self, run: &RunKey) -> Option<Arc<Post>> {
        lock(&self.posts).get(run).map(|(post, _)| post.clone())
    }

    pub(crate) fn posts(&self) -> Vec<Arc<Post>> {
        lock(&self.posts).values().map(|(post, _)| post.clone()).collect()
    }

    pub(crate) fn local(&self, run: &RunKey) -> Option<Local> {
        self.post(run)?.local()
    }

    /// Runs of a thread that run here.
    pub(crate) fn locals_of(&self, thread: &ThreadKey) -> Vec<Local> {
        self.posts().iter().filter_map(|post| post.local()).filter(|local| local.lease.thread == *thread).collect()
    }

    /// A claimed run begins here.
    pub(crate) fn begin(&self, post: &Post, local: Local) {
        if let Some(older) = lock(&post.local).replace(local) {
            older.control.stop_for(Stop::Fenced);
            older.log.gone();
        }
        post.changed();
    }

    /// It is over here, however it ended.
    pub(crate) fn end(&self, post: &Post, attempt: i64) {
        let mut local = lock(&post.local);
        if local.as_ref().is_some_and(|local| local.lease.attempt == attempt) {
            *local = None;
        }
        drop(local);
        post.changed();
    }
}
