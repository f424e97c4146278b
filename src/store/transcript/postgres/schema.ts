import { createCommitsTableSql } from "../../postgres/commit-tokens.ts";
import { ADD_SUITES } from "./suite-schema.ts";

/**
 * The tables: those of the SQLite transcript, with the same names.
 *
 * Texts compare by their bytes, as in SQLite, regardless of the database's collation. Columns that SQLite numbers by
 * itself are identities, including the column `rowid` of the steps.
 */
const SCHEMA_2 = `
CREATE TABLE definitions (
  hash TEXT COLLATE "C" PRIMARY KEY,
  body TEXT NOT NULL
);

-- Definitions that came with an import and that nobody has accepted here: no run is started with them.
CREATE TABLE unaccepted_definitions (
  hash TEXT COLLATE "C" PRIMARY KEY,
  imported_at_ms BIGINT NOT NULL
);

CREATE TABLE contents (
  hash TEXT COLLATE "C" PRIMARY KEY,
  bytes BIGINT NOT NULL,
  -- Kept at least until then, and for good once an entry names it.
  leased_until_ms BIGINT NOT NULL,
  is_referenced BIGINT NOT NULL,
  -- UTF-8. A TEXT cannot hold NUL.
  body BYTEA NOT NULL
);
CREATE INDEX contents_by_lease ON contents (leased_until_ms) WHERE is_referenced = 0;

CREATE TABLE sessions (
  id TEXT COLLATE "C" PRIMARY KEY,
  agent_name TEXT COLLATE "C" NOT NULL,
  definition_hash TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  created_at_ms BIGINT NOT NULL,
  last_active_at_ms BIGINT NOT NULL,
  head_branch TEXT COLLATE "C" NOT NULL,
  loops BIGINT NOT NULL,
  last_loop_id TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL,
  grants TEXT,
  spawn TEXT,
  spawned_by TEXT COLLATE "C",
  agent_id TEXT COLLATE "C",
  -- JSON; null: its first loop has formed it.
  origin TEXT COLLATE "C",
  -- The session that was left for this one, because it had been idle.
  rotated_from TEXT COLLATE "C",
  hidden TEXT COLLATE "C",
  import_digest TEXT COLLATE "C",
  scope TEXT COLLATE "C"
);
CREATE INDEX sessions_by_activity ON sessions (last_active_at_ms);
CREATE INDEX sessions_by_agent ON sessions (agent_name, last_active_at_ms);
CREATE INDEX sessions_by_status ON sessions (status, last_active_at_ms);
CREATE INDEX sessions_by_spawn ON sessions (spawned_by, created_at_ms) WHERE spawned_by IS NOT NULL;
CREATE INDEX sessions_by_rotation ON sessions (rotated_from) WHERE rotated_from IS NOT NULL;
CREATE INDEX sessions_hidden ON sessions (hidden) WHERE hidden IS NOT NULL;

CREATE TABLE branches (
  ref BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
  id TEXT COLLATE "C" NOT NULL,
  parent BIGINT REFERENCES branches (ref),
  -- Where it leaves its parent: everything below is the parent's.
  position BIGINT NOT NULL,
  -- The run that a conflict sent here; null for a branch that was asked for.
  run TEXT COLLATE "C",
  -- End of the unbroken prefix, and the tokens of its own part of it.
  length BIGINT NOT NULL,
  tokens BIGINT NOT NULL,
  requested_at_ms BIGINT,
  -- Of one that has begun in a session which was deleted: what its loops had left of the view before position.
  inherited_view TEXT COLLATE "C",
  UNIQUE (session, id)
);
CREATE INDEX branches_by_parent ON branches (parent, run, position) WHERE parent IS NOT NULL;

CREATE TABLE entries (
  branch BIGINT NOT NULL REFERENCES branches (ref),
  position BIGINT NOT NULL,
  -- The writer: the entry's key is {run}@{position}.
  run TEXT COLLATE "C" NOT NULL,
  origin TEXT COLLATE "C" NOT NULL,
  message_id TEXT COLLATE "C",
  tokens BIGINT NOT NULL,
  -- Tokens of the branch's own entries before this one; null while one of them is missing.
  tokens_before BIGINT,
  -- The message as JSON, or the hash of that JSON in contents.
  message TEXT,
  content TEXT COLLATE "C" REFERENCES contents (hash),
  PRIMARY KEY (branch, position)
);
CREATE INDEX entries_by_content ON entries (content) WHERE content IS NOT NULL;

-- Who keeps a text that no entry holds: a session, or a job.
CREATE TABLE text_owners (
  hash TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (hash, owner)
);
CREATE INDEX text_owners_by_owner ON text_owners (owner);

-- What workspaces held.
CREATE TABLE snapshots (
  branch BIGINT NOT NULL REFERENCES branches (ref),
  position BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  workspace TEXT COLLATE "C" NOT NULL,
  commit_id TEXT COLLATE "C",
  git_ref TEXT COLLATE "C",
  problem TEXT COLLATE "C",
  PRIMARY KEY (branch, position)
);

CREATE TABLE message_ids (
  session TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (session, id)
);

CREATE TABLE inbox (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  at_ms BIGINT NOT NULL,
  -- A JSON string.
  text TEXT NOT NULL,
  -- JSON, or null.
  metadata TEXT,
  UNIQUE (session, id)
);

CREATE TABLE evaluations (
  -- The run that has opened it.
  id TEXT COLLATE "C" PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
  opened TEXT NOT NULL,
  started_at_ms BIGINT NOT NULL,
  -- A JSON string.
  warning TEXT,
  closed TEXT,
  ended_at_ms BIGINT
);
CREATE INDEX evaluations_by_session ON evaluations (session, started_at_ms);

CREATE TABLE loops (
  ref BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  loop_id TEXT COLLATE "C" NOT NULL UNIQUE,
  session TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
  segment TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  parent_loop_id TEXT COLLATE "C",
  kind TEXT NOT NULL,
  definition_hash TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  branch TEXT COLLATE "C" NOT NULL,
  start BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  started_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT,
  outcome TEXT,
  usage TEXT,
  cost_usd DOUBLE PRECISION,
  turns BIGINT,
  end_branch TEXT COLLATE "C",
  end_position BIGINT,
  view TEXT,
  evaluation TEXT COLLATE "C" REFERENCES evaluations (id),
  grants TEXT
);
CREATE INDEX loops_by_session ON loops (session, segment, number);
CREATE INDEX loops_by_start ON loops (session, ref);
CREATE INDEX loops_by_end ON loops (session, end_branch, end_position);
CREATE INDEX loops_running ON loops (session) WHERE status = 'running';
CREATE INDEX loops_by_evaluation ON loops (evaluation) WHERE evaluation IS NOT NULL;

-- The runs that have written to a loop, in order of appearance.
CREATE TABLE loop_runs (
  loop BIGINT NOT NULL REFERENCES loops (ref),
  ordinal BIGINT NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  -- The run's lowest sequence, and the end of its unbroken row of events from there; null before the first.
  first_sequence BIGINT,
  end_sequence BIGINT,
  PRIMARY KEY (loop, ordinal),
  UNIQUE (loop, run)
);

CREATE TABLE events (
  loop BIGINT NOT NULL REFERENCES loops (ref),
  ordinal BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  at_ms DOUBLE PRECISION NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (loop, ordinal, sequence)
);

CREATE TABLE steps (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  run TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  call BIGINT NOT NULL,
  session TEXT COLLATE "C" NOT NULL,
  loop_id TEXT COLLATE "C",
  kind TEXT COLLATE "C" NOT NULL,
  generation BIGINT NOT NULL,
  executions BIGINT NOT NULL,
  process TEXT COLLATE "C" NOT NULL,
  activity_id TEXT COLLATE "C",
  started_at_ms BIGINT NOT NULL,
  released BIGINT NOT NULL,
  group_pgid BIGINT,
  group_start TEXT COLLATE "C",
  -- A JSON string.
  note TEXT,
  branch TEXT COLLATE "C",
  stored_at_ms BIGINT,
  result TEXT,
  workflow TEXT COLLATE "C",
  -- Executions that later claims of the step have displaced, none of which has given it back: JSON, oldest first.
  displaced TEXT,
  PRIMARY KEY (run, number, call)
);
CREATE UNIQUE INDEX steps_by_session ON steps (session, rowid);
CREATE INDEX steps_open ON steps (process) WHERE stored_at_ms IS NULL AND released = 0;

CREATE TABLE processes (
  id TEXT COLLATE "C" PRIMARY KEY,
  host TEXT COLLATE "C" NOT NULL,
  pid BIGINT NOT NULL,
  start_time TEXT COLLATE "C" NOT NULL,
  namespace TEXT COLLATE "C" NOT NULL,
  task_queue TEXT COLLATE "C" NOT NULL
);

-- Which runs a process has worked on, and when last.
CREATE TABLE process_runs (
  process TEXT COLLATE "C" NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  session TEXT COLLATE "C" NOT NULL,
  at_ms BIGINT NOT NULL,
  workflow TEXT COLLATE "C",
  PRIMARY KEY (process, run)
);
CREATE INDEX process_runs_by_time ON process_runs (process, at_ms);

CREATE TABLE search_index (
  rowid BIGINT PRIMARY KEY,
  text TSVECTOR NOT NULL
);
CREATE INDEX search_index_by_text ON search_index USING gin (text);
-- How far the index of words has come where it is made anew; empty while it holds everything.
CREATE TABLE search_index_progress (branch BIGINT NOT NULL, position BIGINT NOT NULL, last BIGINT NOT NULL);

-- The tokens by which a write whose connection was lost over its commit is known.
${createCommitsTableSql("transcript")}

-- A page of these tables is rewritten in place where there is room: a loop and a step are written several times.
ALTER TABLE steps SET (fillfactor = 85);
ALTER TABLE sessions SET (fillfactor = 70);
ALTER TABLE branches SET (fillfactor = 70);
ALTER TABLE loop_runs SET (fillfactor = 70);
ALTER TABLE process_runs SET (fillfactor = 70);
-- Bodies are read whole and written once; texts of this size are worth packing quickly rather than tightly.
ALTER TABLE contents ALTER COLUMN body SET STORAGE EXTENDED;
`;

/** JSON: the text, and who has given it. */
const ADD_TITLE = "ALTER TABLE sessions ADD COLUMN title TEXT";

/** Step N migrates from version N - 1 to version N. Steps are only added, never changed. */
export const MIGRATIONS: readonly string[] = ["", SCHEMA_2, ADD_TITLE, ADD_SUITES];
