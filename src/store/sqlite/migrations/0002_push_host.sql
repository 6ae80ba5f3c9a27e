-- Who is called, as host:port, so that those who have enough visitors can be passed over. Empty for older rows.
ALTER TABLE push ADD COLUMN host TEXT NOT NULL DEFAULT '';

-- The host is along so that passing over needs the index alone.
DROP INDEX push_due;
CREATE INDEX push_due ON push (not_before, host) WHERE behind = 1 AND not_before IS NOT NULL;
