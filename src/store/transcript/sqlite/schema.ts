/**
 * The tables.
 *
 * `ref` columns are short numbers for long ids.
 */
export const SCHEMA_2 = `
CREATE TABLE definitions (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
) WITHOUT ROWID;

-- Definitions that came with an import and that nobody has accepted here: no run is started with them.
CREATE TABLE unaccepted_definitions (
  hash TEXT PRIMARY KEY,
  imported_at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE contents (
  hash TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  -- Kept at least until then, and for good once an entry names it.
  leased_until_ms INTEGER NOT NULL,
  is_referenced INTEGER NOT NULL,
  -- UTF-8. A TEXT would end at NUL.
  body BLOB NOT NULL
);
CREATE INDEX contents_by_lease ON contents (leased_until_ms) WHERE is_referenced = 0;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent_name TEXT NOT NULL,
  definition_hash TEXT NOT NULL,
  model TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  last_active_at_ms INTEGER NOT NULL,
  head_branch TEXT NOT NULL,
  loops INTEGER NOT NULL,
  last_loop_id TEXT,
  status TEXT NOT NULL,
  -- What a person has allowed in it: JSON.
  grants TEXT,
  -- The call that a sub-agent's session was made for, whole (JSON) and by its session.
  spawn TEXT,
  spawned_by TEXT,
  agent_id TEXT,
  -- JSON; null: its first loop has formed it.
  origin TEXT,
  -- The session that was left for this one, because it had been idle.
  rotated_from TEXT,
  hidden TEXT,
  import_digest TEXT,
  scope TEXT
);
CREATE INDEX sessions_by_activity ON sessions (last_active_at_ms);
CREATE INDEX sessions_by_agent ON sessions (agent_name, last_active_at_ms);
CREATE INDEX sessions_by_status ON sessions (status, last_active_at_ms);
CREATE INDEX sessions_by_spawn ON sessions (spawned_by, created_at_ms) WHERE spawned_by IS NOT NULL;
CREATE INDEX sessions_by_rotation ON sessions (rotated_from) WHERE rotated_from IS NOT NULL;
CREATE INDEX sessions_hidden ON sessions (hidden) WHERE hidden IS NOT NULL;

CREATE TABLE branches (
  ref INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id),
  id TEXT NOT NULL,
  parent INTEGER REFERENCES branches (ref),
  -- Where it leaves its parent: everything below is the parent's.
  position INTEGER NOT NULL,
  -- The run that a conflict sent here; null for a branch that was asked for.
  run TEXT,
  -- End of the unbroken prefix, and the tokens of its own part of it.
  length INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  requested_at_ms INTEGER,
  -- Of one that has begun in a session which was deleted: what its loops had left of the view before position.
  inherited_view TEXT,
  UNIQUE (session, id)
);
CREATE INDEX branches_by_parent ON branches (parent, run, position) WHERE parent IS NOT NULL;

CREATE TABLE entries (
  branch INTEGER NOT NULL REFERENCES branches (ref),
  position INTEGER NOT NULL,
  -- The writer: the entry's key is {run}@{position}.
  run TEXT NOT NULL,
  origin TEXT NOT NULL,
  message_id TEXT,
  tokens INTEGER NOT NULL,
  -- Tokens of the branch's own entries before this one; null while one of them is missing.
  tokens_before INTEGER,
  -- The message as JSON, or the hash of that JSON in contents.
  message TEXT,
  content TEXT REFERENCES contents (hash),
  UNIQUE (branch, position)
);
CREATE INDEX entries_by_content ON entries (content) WHERE content IS NOT NULL;

-- Who keeps a text that no entry holds: a session, or a job.
CREATE TABLE text_owners (
  hash TEXT NOT NULL,
  owner TEXT NOT NULL,
  PRIMARY KEY (hash, owner)
) WITHOUT ROWID;
CREATE INDEX text_owners_by_owner ON text_owners (owner);

-- What workspaces held.
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

CREATE TABLE message_ids (
  session TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

CREATE TABLE inbox (
  sequence INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- A JSON string.
  text TEXT NOT NULL,
  -- JSON, or null.
  metadata TEXT,
  UNIQUE (session, id)
);

-- Evaluations, whose loops run side by side in one session under workflows of their own: opened and closed are JSON.
CREATE TABLE evaluations (
  -- The run that has opened it.
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id),
  opened TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  -- A JSON string.
  warning TEXT,
  closed TEXT,
  ended_at_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX evaluations_by_session ON evaluations (session, started_at_ms);

CREATE TABLE loops (
  ref INTEGER PRIMARY KEY,
  loop_id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions (id),
  segment TEXT NOT NULL,
  number INTEGER NOT NULL,
  parent_loop_id TEXT,
  kind TEXT NOT NULL,
  definition_hash TEXT NOT NULL,
  model TEXT NOT NULL,
  branch TEXT NOT NULL,
  start INTEGER NOT NULL,
  status TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  outcome TEXT,
  usage TEXT,
  cost_usd REAL,
  turns INTEGER,
  -- How it has left the view: where on which branch, and its spans when it does not show all.
  end_branch TEXT,
  end_position INTEGER,
  view TEXT,
  evaluation TEXT REFERENCES evaluations (id),
  -- What a loop that is one of several leaves for the session, if it is chosen.
  grants TEXT
);
CREATE INDEX loops_by_session ON loops (session, segment, number);
CREATE INDEX loops_by_end ON loops (session, end_branch, end_position);
CREATE INDEX loops_running ON loops (session) WHERE status = 'running';
CREATE INDEX loops_by_evaluation ON loops (evaluation) WHERE evaluation IS NOT NULL;

-- The runs that have written to a loop, in order of appearance.
CREATE TABLE loop_runs (
  loop INTEGER NOT NULL REFERENCES loops (ref),
  ordinal INTEGER NOT NULL,
  run TEXT NOT NULL,
  -- The run's lowest sequence, and the end of its unbroken row of events from there; null before the first.
  first_sequence INTEGER,
  end_sequence INTEGER,
  PRIMARY KEY (loop, ordinal),
  UNIQUE (loop, run)
) WITHOUT ROWID;

CREATE TABLE events (
  loop INTEGER NOT NULL REFERENCES loops (ref),
  ordinal INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  at_ms REAL NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (loop, ordinal, sequence)
) WITHOUT ROWID;

CREATE TABLE steps (
  run TEXT NOT NULL,
  number INTEGER NOT NULL,
  call INTEGER NOT NULL,
  session TEXT NOT NULL,
  loop_id TEXT,
  kind TEXT NOT NULL,
  generation INTEGER NOT NULL,
  executions INTEGER NOT NULL,
  process TEXT NOT NULL,
  activity_id TEXT,
  started_at_ms INTEGER NOT NULL,
  released INTEGER NOT NULL,
  group_pgid INTEGER,
  group_start TEXT,
  -- A JSON string.
  note TEXT,
  branch TEXT,
  stored_at_ms INTEGER,
  result TEXT,
  workflow TEXT,
  -- Executions that later claims of the step have displaced, none of which has given it back: JSON, oldest first; null where
  -- there is none. The row itself describes only the newest claim.
  displaced TEXT,
  UNIQUE (run, number, call)
);
CREATE INDEX steps_by_session ON steps (session);
CREATE INDEX steps_open ON steps (process) WHERE stored_at_ms IS NULL AND released = 0;

CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  namespace TEXT NOT NULL,
  task_queue TEXT NOT NULL
) WITHOUT ROWID;

-- Which runs a process has worked on, and when last.
CREATE TABLE process_runs (
  process TEXT NOT NULL,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  workflow TEXT,
  PRIMARY KEY (process, run)
) WITHOUT ROWID;
CREATE INDEX process_runs_by_time ON process_runs (process, at_ms);

CREATE VIRTUAL TABLE search_index USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
-- How far the index of words has come where it is made anew; empty while it holds everything.
CREATE TABLE search_index_progress (branch INTEGER NOT NULL, position INTEGER NOT NULL, last INTEGER NOT NULL);
`;
