-- Times are milliseconds since the epoch, the database's. Keys are ULIDs and ours; ids are the clients'.
-- Keys collate as bytes, so that both engines order them alike.
-- No foreign keys: rows are written by the operation that owns them, and organizations may go while threads stay.

CREATE TABLE organizations (
    id TEXT NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);

CREATE TABLE memberships (
    org_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT,
    expires_at BIGINT,
    PRIMARY KEY (org_id, user_id)
);

CREATE TABLE settings (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE workers (
    id TEXT NOT NULL PRIMARY KEY,
    capacity BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- Theoretical arrival times (GCRA), one row for each person and kind of limit.
CREATE TABLE rates (
    org_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    tat BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id, kind)
);

CREATE TABLE threads (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('personal', 'shared')),
    id TEXT NOT NULL,
    channel TEXT NOT NULL,
    title TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    next_seq BIGINT NOT NULL DEFAULT 1,
    UNIQUE (org_id, owner_id, id)
);
CREATE INDEX threads_recent ON threads (org_id, owner_id, updated_at, key);

CREATE TABLE messages (
    thread_key TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'note')),
    run_key TEXT COLLATE "C",
    step BIGINT NOT NULL DEFAULT 0,
    superseded_by TEXT,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_key, seq),
    UNIQUE (thread_key, id)
);
CREATE INDEX messages_standing ON messages (thread_key, turn, seq, role) WHERE superseded_by IS NULL;

CREATE TABLE runs (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_key TEXT COLLATE "C" NOT NULL,
    thread_id TEXT NOT NULL,
    parent_run_id TEXT,
    channel TEXT NOT NULL,
    version BIGINT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'interrupted', 'completed', 'failed', 'cancelled', 'abandoned')),
    turn BIGINT NOT NULL,
    message_id TEXT NOT NULL,
    attempt BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    steps BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    cancel TEXT CHECK (cancel IN ('asked', 'unattended', 'replaced')),
    unattended_since BIGINT,
    remote_reader_until BIGINT,
    superseded_by TEXT,
    model TEXT,
    error_code TEXT,
    error_message TEXT,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    frames_expired BOOLEAN NOT NULL DEFAULT FALSE,
    decision TEXT,
    input TEXT NOT NULL,
    UNIQUE (org_id, user_id, id)
);
-- One running run a thread.
CREATE UNIQUE INDEX runs_running ON runs (thread_key) WHERE status = 'running';
CREATE INDEX runs_running_org ON runs (org_id) WHERE status = 'running';
CREATE INDEX runs_queue ON runs (position, key) WHERE status = 'queued';
CREATE INDEX runs_active ON runs (thread_key, position) WHERE status IN ('queued', 'running');
CREATE INDEX runs_thread ON runs (thread_key, created_at, key);
CREATE INDEX runs_unattended ON runs (unattended_since)
    WHERE unattended_since IS NOT NULL AND cancel IS NULL AND ended_at IS NULL;
CREATE INDEX runs_with_frames ON runs (ended_at) WHERE ended_at IS NOT NULL AND frames_expired = FALSE;
CREATE INDEX runs_dead ON runs (ended_at, key) WHERE status = 'abandoned';

CREATE TABLE frames (
    run_key TEXT COLLATE "C" NOT NULL,
    attempt BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    committed BOOLEAN NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run_key, attempt, first_seq)
);

-- The ledger: each row says whose call it was.
CREATE TABLE model_calls (
    run_key TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    org_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    thread_key TEXT COLLATE "C" NOT NULL,
    thread_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    parent_run_id TEXT,
    attempt BIGINT NOT NULL,
    step BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    total_tokens BIGINT,
    reasoning_tokens BIGINT,
    cached_input_tokens BIGINT,
    latency_ms BIGINT NOT NULL,
    first_ms BIGINT,
    retries BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (run_key, place)
);
