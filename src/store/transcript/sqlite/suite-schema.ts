/** The tables of suites: runs, the results of their cells, and the answers that cells share. */
export const ADD_SUITES = `
CREATE TABLE suite_runs (
  -- Also the id of its workflow.
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- JSON.
  plan TEXT NOT NULL,
  -- The digests of the scorers: JSON.
  scorers TEXT NOT NULL,
  control_state TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  max_cost_usd REAL,
  status TEXT NOT NULL,
  reason TEXT,
  stop_code TEXT,
  cases INTEGER NOT NULL,
  cells INTEGER NOT NULL,
  reused INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  ended_at_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX suite_runs_by_time ON suite_runs (created_at_ms, id);

CREATE TABLE suite_tags (
  tag TEXT NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (tag, run)
) WITHOUT ROWID;
CREATE INDEX suite_tags_by_run ON suite_tags (run);

CREATE TABLE suite_cases (
  run TEXT NOT NULL,
  number INTEGER NOT NULL,
  -- JSON.
  value TEXT NOT NULL,
  UNIQUE (run, number)
);

-- The cells of runs.
CREATE TABLE suite_cells (
  run TEXT NOT NULL,
  number INTEGER NOT NULL,
  case_number INTEGER NOT NULL,
  configuration INTEGER NOT NULL,
  repetition INTEGER NOT NULL,
  cell TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  -- Where the result is, once the run has seen one. Cells that finish together have their results together.
  result INTEGER,
  -- The class of the failure; null unless the state is failed.
  failure TEXT,
  -- The cost of the result and of the scores; null: unknown. Repeated here, so that a count reads one table.
  cost_usd REAL,
  -- What this run has paid for it, results that later attempts have replaced included; null: unknown.
  paid_usd REAL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
-- With the state as a column too: otherwise SQLite prefers the primary key, and passes all finished cells.
CREATE INDEX suite_cells_pending ON suite_cells (state, run, number) WHERE state = 'pending';
CREATE INDEX suite_cells_failed ON suite_cells (state, run, number) WHERE state = 'failed';
CREATE INDEX suite_cells_by_case ON suite_cells (run, case_number, number);

CREATE TABLE suite_claims (
  cell TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX suite_claims_by_owner ON suite_claims (owner);

-- What cells have come to, shared by all runs that contain them.
CREATE TABLE suite_results (
  ref INTEGER PRIMARY KEY,
  cell TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  session TEXT,
  loop_id TEXT,
  branch TEXT,
  outcome TEXT NOT NULL,
  message TEXT,
  -- JSON.
  usage TEXT NOT NULL,
  cost_usd REAL,
  turns INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  paid_answers INTEGER NOT NULL,
  stored_answers INTEGER NOT NULL,
  ended_at_ms INTEGER NOT NULL
);

CREATE TABLE suite_scores (
  result INTEGER NOT NULL REFERENCES suite_results (ref),
  -- The digest of the scorer.
  scorer TEXT NOT NULL,
  class TEXT NOT NULL,
  value REAL,
  passed INTEGER,
  -- What is added up: 0 for a scorer without a cost; null: unknown.
  cost_usd REAL,
  -- The explanation, the points and the cost as they were given: JSON.
  detail TEXT,
  PRIMARY KEY (result, scorer)
) WITHOUT ROWID;

-- The answers of models, by the digest of request and repetition.
CREATE TABLE answers (
  key TEXT PRIMARY KEY,
  message TEXT NOT NULL,
  -- Where it was paid.
  session TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  used_at_ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL
);
-- Covers what is counted and deleted, so that neither reads the messages.
CREATE INDEX answers_by_use ON answers (used_at_ms, key, bytes, at_ms);
`;
