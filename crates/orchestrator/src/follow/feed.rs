//! The state of one reader.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use domain::{Bookmark, Code, Event, Offset, Principal, RunId, RunStatus};
use serde_json::json;
use storage::{Frame, RunRecord, RunRef, StorageError};
use tokio::{sync::watch, time::Instant};

use super::{
    FollowError, From, ItemKind, Reader, StreamItem,
    bridge::{self, Place},
    frame::{is_terminal, lines},
    open::Open,
    seat::Seat,
};
use crate::{
    log::{Found, RunLog, json},
    orchestrator::Inner,
};

/// Bytes of frames read at a time.
const PAGE: usize = 64 * 1024;

/// How long a run may wait before its reader is told its place in the queue.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often a waiting run's place, and frames of a run that another process runs, are looked at without a hint.
const QUEUE_POLL: Duration = Duration::from_secs(1);
const FRAME_POLL: Duration = Duration::from_millis(200);

/// How long another process's worker knows of this reader, and how often it is told again.
const ATTEND: Duration = Duration::from_secs(10);
const ATTEND_AGAIN: Duration = Duration::from_secs(3);

/// How long to wait for a database that is away.
const AWAY: Duration = Duration::from_secs(1);

type Result<T = ()> = std::result::Result<T, FollowError>;

pub(super) struct Feed {
    seat: Seat,
    bell: watch::Receiver<()>,
    from: From,
    stage: Stage,
    /// The last event sent; attempt 0: none yet.
    place: Offset,
    /// How much of the bridge that leads away from there it was sent before.
    bridged: u32,
    /// What is open at that place.
    open: Open,
    /// The last event of the waiting room that was sent.
    waiting: i64,
    position: Option<u64>,
    /// It waited [`PATIENCE`].
    patient: bool,
    /// When the place in the queue was last asked for.
    asked: Option<Instant>,
    /// When the process that runs it is to be told of this reader next.
    attend_at: Option<Instant>,
    /// The log of the attempt in `place`, if it ran here.
    log: Option<Arc<RunLog>>,
    ready: VecDeque<StreamItem>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    First,
    Going,
    Over,
}

impl Feed {
    pub(super) fn new(inner: Arc<Inner>, principal: Principal, run: RunRef, from: From, reader: Reader) -> Self {
        let after = match &from {
            From::After(mark) => mark.clone(),
            From::Start => Offset::START.into(),
        };
        let (place, waiting) = match after.offset {
            place if place.attempt > 0 => (place, 0),
            room => (Offset::START, room.seq),
        };
        let open = Open::noted(&after.open, &run.key, place.attempt);
        let seat = Seat::take(inner, principal, run, reader);
        let bell = seat.post.listen();
        Self {
            seat,
            bell,
            from,
            stage: Stage::First,
            place,
            bridged: after.bridged,
            open,
            waiting,
            position: None,
            patient: false,
            asked: None,
            attend_at: None,
            log: None,
            ready: VecDeque::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<Result<StreamItem>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                if item.kind == ItemKind::Terminal {
                    self.end();
                }
                return Some(Ok(item));
            }
            if self.stage == Stage::Over {
                return None;
            }
            let first = self.stage == Stage::First;
            match self.advance().await {
                Ok(()) => {}
                Err(error) if first => {
                    self.end();
                    return Some(Err(error));
                }
                Err(FollowError::Storage(StorageError::Unavailable(_) | StorageError::Conflict(_))) => self.wait(AWAY).await,
                Err(error) => {
                    tracing::error!(%error, "failed to go on reading a run");
                    self.terminal(&Event::error(
                        Code::Internal,
                        "the answer cannot be read any further; reload the conversation",
                    ));
                }
            }
        }
    }

    /// Finds items, or the end, or waits for news.
    async fn advance(&mut self) -> Result {
        self.bell.borrow_and_update();
        if self.stage == Stage::First {
            return self.begin().await;
        }
        if let Some(local) = self.seat.post.local()
            && local.log.attempt >= self.place.attempt
            && local.log.is_live()
        {
            return self.live(local.log).await;
        }
        if let Some(log) = &self.log
            && log.attempt == self.place.attempt
            && log.is_live()
        {
            return self.live(log.clone()).await;
        }
        self.stored().await
    }

    async fn begin(&mut self) -> Result {
        if let Some(local) = self.seat.post.local()
            && local.log.is_live()
        {
            self.started(local.log.parent_run.clone());
            return Ok(());
        }
        let Some(record) = Box::pin(self.store().run_by_key(&self.seat.run.key)).await? else {
            self.vanished();
            return Ok(());
        };
        if record.status.is_active() {
            if record.unattended_since.is_some() {
                self.seat.found_unattended();
            }
            self.started(record.parent_run);
            return Ok(());
        }
        let frames = self.frames(self.place).await?;
        if frames.is_empty() {
            let kept = self.from != From::Start && !self.frames(Offset::START).await?.is_empty();
            if !kept {
                return Err(FollowError::Expired);
            }
            self.end();
            return Ok(());
        }
        self.started(record.parent_run);
        self.deliver(frames).await
    }

    fn started(&mut self, parent_run_id: Option<RunId>) {
        self.stage = Stage::Going;
        if self.from == From::Start {
            let run = &self.seat.run;
            let (thread_id, run_id) = (run.thread_id.clone(), run.id.clone());
            let event = Event::RunStarted { thread_id, run_id, parent_run_id, protocol_version: None };
            self.push(Some(Offset::START.into()), json(&event), ItemKind::Started);
        }
    }

    /// Reads from a log of this process.
    async fn live(&mut self, log: Arc<RunLog>) -> Result {
        if log.attempt > self.place.attempt {
            // What stands of attempts before, unless this is the first.
            if self.place.attempt > 0 || log.attempt > 1 {
                let mut frames = self.frames(self.place).await?;
                frames.retain(|frame| frame.attempt < log.attempt);
                if !frames.is_empty() {
                    return self.deliver(frames).await;
                }
            }
            self.cross(log.attempt).await?;
            self.log = Some(log);
            return Ok(());
        }
        match log.read(self.place.seq) {
            Found::Events { first, json, end } => {
                let last = json.len();
                for (index, (seq, json)) in (first..).zip(json).enumerate() {
                    let kind = if end && index + 1 == last { ItemKind::Terminal } else { ItemKind::Event };
                    self.tell(seq, json, kind);
                }
                self.log = Some(log);
            }
            Found::Nothing => {
                self.log = Some(log);
                // The post outlives its readers, and so does the bell.
                let _ = self.bell.changed().await;
            }
            Found::Behind => {
                let frames = self.frames(self.place).await?;
                self.deliver(frames).await?;
            }
            Found::Over => self.end(),
            Found::Gone => {}
        }
        Ok(())
    }

    /// Reads what is stored, by what the run's row says.
    async fn stored(&mut self) -> Result {
        let Some(record) = Box::pin(self.store().run_by_key(&self.seat.run.key)).await? else {
            self.vanished();
            return Ok(());
        };
        let frames = self.frames(self.place).await?;
        if !frames.is_empty() {
            return self.deliver(frames).await;
        }
        match record.status {
            RunStatus::Queued => self.queued(&record).await,
            RunStatus::Running => self.elsewhere(&record).await,
            _ => {
                // The frames were deleted before this reader came to them.
                self.terminal(&Event::error(
                    Code::StreamExpired,
                    "the rest of the answer is no longer kept as a stream; reload the conversation",
                ));
                Ok(())
            }
        }
    }

    async fn queued(&mut self, record: &RunRecord) -> Result {
        if record.attempt > 0 {
            // It ran before and will again: what was sent is led over then.
            self.wait(QUEUE_POLL).await;
            return Ok(());
        }
        if !self.patient {
            self.patient = true;
            self.wait(PATIENCE).await;
            return Ok(());
        }
        if let Some(early) = self.asked.and_then(|asked| QUEUE_POLL.checked_sub(asked.elapsed())).filter(|early| !early.is_zero())
        {
            self.wait(early).await;
            return Ok(());
        }
        self.asked = Some(Instant::now());
        let ahead = Box::pin(self.store().queue_position(&self.seat.run.key)).await?;
        match ahead.map(|ahead| ahead + 1) {
            Some(position) if self.position != Some(position) => {
                self.position = Some(position);
                self.waiting = self.waiting.saturating_add(1);
                let event = Event::custom("frontdesk.queued", json!({ "position": position }));
                let offset = Offset { attempt: 0, seq: self.waiting };
                self.push(Some(offset.into()), json(&event), ItemKind::Event);
            }
            _ => self.wait(QUEUE_POLL).await,
        }
        Ok(())
    }

    /// Another process runs it, or this one is just done with it.
    async fn elsewhere(&mut self, record: &RunRecord) -> Result {
        if record.attempt > self.place.attempt && self.place.attempt > 0 {
            return self.cross(record.attempt).await;
        }
        let now = Instant::now();
        match self.attend_at {
            _ if self.seat.post.local().is_some() => {}
            // A run that was claimed here may not have reached its post yet.
            None => self.attend_at = Some(now + FRAME_POLL),
            Some(at) if at > now => {}
            Some(_) => {
                Box::pin(self.store().attend(&self.seat.run.key, Some(ATTEND))).await?;
                Box::pin(self.store().announce()).await;
                self.attend_at = Some(now + ATTEND_AGAIN);
            }
        }
        self.wait(FRAME_POLL).await;
        Ok(())
    }

    /// Sends what frames hold after the reader's place.
    async fn deliver(&mut self, frames: Vec<Frame>) -> Result {
        for frame in frames {
            if frame.attempt > self.place.attempt {
                self.cross(frame.attempt).await?;
            }
            for (seq, line) in lines(&frame) {
                if seq <= self.place.seq {
                    continue;
                }
                let kind = if is_terminal(&line) { ItemKind::Terminal } else { ItemKind::Event };
                self.tell(seq, line, kind);
                if kind == ItemKind::Terminal {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Leads the reader from what it was sent of its attempt to the beginning of another.
    async fn cross(&mut self, attempt: i64) -> Result {
        if self.place.seq > 0 {
            let place = Place { offset: self.place, open: &self.open, log: self.log.as_ref() };
            let events = bridge::events(self.store(), &self.seat.run.key, place).await?;
            let sent = self.bridged;
            for (bridged, event) in (1..).zip(events).filter(|(bridged, _)| *bridged > sent) {
                let mark = Bookmark { offset: self.place, bridged, open: self.open.note() };
                self.push(Some(mark), json(&event), ItemKind::Event);
            }
        }
        self.place = Offset { attempt, seq: 0 };
        self.bridged = 0;
        self.open = Open::default();
        self.log = None;
        Ok(())
    }

    /// Sends the event that follows in the attempt.
    fn tell(&mut self, seq: i64, line: Bytes, kind: ItemKind) {
        self.place.seq = seq;
        self.bridged = 0;
        self.open.take(&line, &self.seat.run.key, self.place.attempt);
        let mark = Bookmark { offset: self.place, bridged: 0, open: self.open.note() };
        self.push(Some(mark), line, kind);
    }

    async fn frames(&self, after: Offset) -> Result<Vec<Frame>> {
        Ok(Box::pin(self.store().frames(&self.seat.run.key, after, true, PAGE)).await?)
    }

    fn store(&self) -> &storage::Store {
        &self.seat.inner.parts.store
    }

    /// Until the bell rings or `most` has passed.
    async fn wait(&mut self, most: Duration) {
        // Either way there is something to look at.
        let _ = tokio::time::timeout(most, self.bell.changed()).await;
    }

    fn vanished(&mut self) {
        self.stage = Stage::Going;
        self.terminal(&Event::error(Code::RunNotFound, "the run was deleted; start a new one"));
    }

    /// An end that is this response's, not the run's, and no place in it: a client that drops what it has seen must
    /// not take it for the event before.
    fn terminal(&mut self, event: &Event) {
        self.push(None, json(event), ItemKind::Terminal);
    }

    fn push(&mut self, mark: Option<Bookmark>, json: Bytes, kind: ItemKind) {
        self.ready.push_back(StreamItem { mark, json, kind });
    }

    fn end(&mut self) {
        self.stage = Stage::Over;
        self.seat.done = true;
        self.log = None;
    }
}
