/**
 * Branches that somebody has asked for, how sessions were formed and which agent they are of, and what workspaces held.
 *
 * Sessions that were there before get an agent id (a UUID of version 4).
 */
export const SCHEMA_5 = `
ALTER TABLE branches ADD COLUMN asked_at_ms INTEGER;
-- Of one that has begun in a session which was deleted: what its loops had left of the view before position.
ALTER TABLE branches ADD COLUMN inherited_view TEXT;
ALTER TABLE sessions ADD COLUMN agent_id TEXT;
-- JSON; null: its first loop has formed it.
ALTER TABLE sessions ADD COLUMN formation TEXT;
-- The session that was left for this one, because it had been idle.
ALTER TABLE sessions ADD COLUMN rotated_from TEXT;
CREATE INDEX sessions_by_rotation ON sessions (rotated_from) WHERE rotated_from IS NOT NULL;
UPDATE sessions SET agent_id = lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
  substr(hex(randomblob(2)), 2) || '-' || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) ||
  '-' || hex(randomblob(6)));
CREATE TABLE snapshots (
  branch INTEGER NOT NULL REFERENCES branches (ref),
  position INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  workspace TEXT NOT NULL,
  commit_id TEXT,
  git_ref TEXT,
  problem TEXT,
  PRIMARY KEY (branch, position)
) WITHOUT ROWID;
`;
