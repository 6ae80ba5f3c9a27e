-- Rows stand in the order in which they came. Hashes have no order: looked up in the database, each send would write a
-- page of its own. So the writer knows in memory which row a send has, and this is what it reads that from at a start.
CREATE TABLE send_in_order (
    number    INTEGER PRIMARY KEY,
    principal TEXT    NOT NULL,
    hash      BLOB    NOT NULL,
    -- The id of the task, which no other task ever has; one that was purged is not found.
    task      TEXT    NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

-- No window is longer than a day.
INSERT INTO send_in_order (principal, hash, task, at)
    SELECT send.principal, send.hash, task.id, send.at FROM send JOIN task ON task.number = send.task
    WHERE send.at > (SELECT max(at) FROM send) - 86400000 ORDER BY send.at;

DROP TABLE send;
ALTER TABLE send_in_order RENAME TO send;
