-- Times are milliseconds since 1970. States are numbered as A2A numbers them.

-- A task as it stands. One without a principal is being purged: nobody can see it any more.
CREATE TABLE task (
    number    INTEGER PRIMARY KEY,
    principal TEXT,
    id        TEXT    NOT NULL,
    tenant    TEXT    NOT NULL,
    context   TEXT    NOT NULL,
    state     INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    -- When it came to a state that never changes; none before. Not an index on some states: SQLite makes a table of
    -- its own to look one up in a list, for every row that is written, and that took half of a commit.
    ended     INTEGER,
    -- Of its last event. In no index, so that an event without a change of state touches the row alone.
    sequence  INTEGER NOT NULL
) STRICT;

-- Ids are unique for each principal only, so that not even a clash tells of another's task. Those without a
-- principal are found here too.
CREATE UNIQUE INDEX task_id ON task (principal, id);

-- Lists are read in this order. The state is along so that counting needs the index alone.
CREATE INDEX task_list ON task (principal, tenant, updated, id, state);
CREATE INDEX task_context ON task (principal, tenant, context, updated, id, state);

-- Finds what has not ended and what has ended long ago.
CREATE INDEX task_ended ON task (ended);

-- What one commit added to a task: a TaskEvents that begins with the sequence `first`. Rows stand in the order
-- of their commits, not clustered by task: what many tasks write at once then falls on few pages.
CREATE TABLE journal (
    task   INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    events BLOB    NOT NULL,
    PRIMARY KEY (task, first)
) STRICT;

-- Sends that would be recognised if they came again.
CREATE TABLE send (
    principal TEXT    NOT NULL,
    hash      BLOB    NOT NULL,
    task      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (principal, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX send_task ON send (task);

-- Webhooks, which are their own outbox.
CREATE TABLE push (
    task       INTEGER NOT NULL,
    id         TEXT    NOT NULL,
    -- A TaskPushNotificationConfig.
    config     BLOB    NOT NULL,
    -- 3 is A2A 0.3, 10 is 1.0.
    version    INTEGER NOT NULL,
    delivered  INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    -- None if it was stopped; then the problem says why.
    not_before INTEGER,
    problem    TEXT,
    -- Whether the task has events behind `delivered`, so that those without are not looked at.
    behind     INTEGER NOT NULL,
    PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX push_due ON push (not_before) WHERE behind = 1 AND not_before IS NOT NULL;

-- What a user always allows in the context of the task. It goes with that task: what is forgotten is asked for again.
CREATE TABLE always (
    number INTEGER PRIMARY KEY,
    task   INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    at     INTEGER NOT NULL
) STRICT;

CREATE INDEX always_task ON always (task);
