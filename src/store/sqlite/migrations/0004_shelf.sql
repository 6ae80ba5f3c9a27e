-- What facades keep between requests, each for a while.
CREATE TABLE shelf (
    principal TEXT    NOT NULL,
    -- 1 an answer, 2 a signature.
    kind      INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    value     BLOB    NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (principal, kind, key)
) STRICT;

CREATE INDEX shelf_until ON shelf (until);
