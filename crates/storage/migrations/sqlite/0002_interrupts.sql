-- What runs ended waiting for. A row carries what its continuation needs: any process may take the answer.
CREATE TABLE interrupts (
    thread_key TEXT NOT NULL,
    call_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    style TEXT NOT NULL CHECK (style IN ('universal', 'interrupt')),
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'answered', 'cut_off', 'superseded')),
    -- The run that waits, its place in the turn, and what was decided for it.
    run_key TEXT NOT NULL,
    run_id TEXT NOT NULL,
    turn BIGINT NOT NULL,
    leg BIGINT NOT NULL,
    message_id TEXT NOT NULL,
    decision TEXT,
    -- The run that took the answer.
    settled_by TEXT,
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    PRIMARY KEY (thread_key, call_id)
);
CREATE INDEX interrupts_open ON interrupts (thread_key) WHERE status = 'open';

-- A turn's runs are counted from 1; a continuation says which run it goes on from.
ALTER TABLE runs ADD COLUMN leg BIGINT NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN continues TEXT;
