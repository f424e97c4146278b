/** The tables of suites: those of the SQLite transcript, with the same names. */
export const ADD_SUITES = `
CREATE TABLE suite_runs (
  -- Also the id of its workflow.
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  -- JSON.
  plan TEXT NOT NULL,
  -- The digests of the scorers: JSON.
  scorers TEXT COLLATE "C" NOT NULL,
  control_state TEXT COLLATE "C" NOT NULL,
  concurrency BIGINT NOT NULL,
  max_cost_usd DOUBLE PRECISION,
  status TEXT COLLATE "C" NOT NULL,
  reason TEXT,
  stop_code TEXT,
  cases BIGINT NOT NULL,
  cells BIGINT NOT NULL,
  reused BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  started_at_ms BIGINT,
  ended_at_ms BIGINT
);
CREATE INDEX suite_runs_by_time ON suite_runs (created_at_ms, id);

CREATE TABLE suite_tags (
  tag TEXT COLLATE "C" NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tag, run)
);
CREATE INDEX suite_tags_by_run ON suite_tags (run);

CREATE TABLE suite_cases (
  run TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  -- JSON.
  value TEXT NOT NULL,
  PRIMARY KEY (run, number)
);

-- The cells of runs.
CREATE TABLE suite_cells (
  run TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  case_number BIGINT NOT NULL,
  configuration BIGINT NOT NULL,
  repetition BIGINT NOT NULL,
  cell TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  -- Where the result is, once the run has seen one. Cells that finish together have their results together.
  result BIGINT,
  -- The class of the failure; null unless the state is failed.
  failure TEXT COLLATE "C",
  -- The cost of the result and of the scores; null: unknown. Repeated here, so that a count reads one table.
  cost_usd DOUBLE PRECISION,
  -- What this run has paid for it, results that later attempts have replaced included; null: unknown.
  paid_usd DOUBLE PRECISION,
  PRIMARY KEY (run, number)
);
CREATE INDEX suite_cells_pending ON suite_cells (state, run, number) WHERE state = 'pending';
CREATE INDEX suite_cells_failed ON suite_cells (state, run, number) WHERE state = 'failed';
CREATE INDEX suite_cells_by_case ON suite_cells (run, case_number, number);

CREATE TABLE suite_claims (
  cell TEXT COLLATE "C" PRIMARY KEY,
  owner TEXT COLLATE "C" NOT NULL,
  until_ms BIGINT NOT NULL
);
CREATE INDEX suite_claims_by_owner ON suite_claims (owner);

-- What cells have come to, shared by all runs that contain them.
CREATE TABLE suite_results (
  ref BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cell TEXT COLLATE "C" NOT NULL UNIQUE,
  state TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  session TEXT COLLATE "C",
  loop_id TEXT COLLATE "C",
  branch TEXT COLLATE "C",
  outcome TEXT COLLATE "C" NOT NULL,
  message TEXT,
  -- JSON.
  usage TEXT NOT NULL,
  cost_usd DOUBLE PRECISION,
  turns BIGINT NOT NULL,
  duration_ms DOUBLE PRECISION NOT NULL,
  paid_answers BIGINT NOT NULL,
  stored_answers BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL
);

CREATE TABLE suite_scores (
  result BIGINT NOT NULL REFERENCES suite_results (ref),
  -- The digest of the scorer.
  scorer TEXT COLLATE "C" NOT NULL,
  class TEXT COLLATE "C" NOT NULL,
  value DOUBLE PRECISION,
  passed BIGINT,
  -- What is added up: 0 for a scorer without a cost; null: unknown.
  cost_usd DOUBLE PRECISION,
  -- The explanation, the points and the cost as they were given: JSON.
  detail TEXT,
  PRIMARY KEY (result, scorer)
);

-- The answers of models, by the digest of request and repetition.
CREATE TABLE answers (
  key TEXT COLLATE "C" PRIMARY KEY,
  message TEXT NOT NULL,
  -- Where it was paid.
  session TEXT COLLATE "C" NOT NULL,
  at_ms BIGINT NOT NULL,
  used_at_ms BIGINT NOT NULL,
  bytes BIGINT NOT NULL
);
-- Covers what is counted and deleted, so that neither reads the messages.
CREATE INDEX answers_by_use ON answers (used_at_ms, key, bytes, at_ms);

-- A row is rewritten in place where there is room: a run is written often, a cell several times.
ALTER TABLE suite_runs SET (fillfactor = 70);
ALTER TABLE suite_cells SET (fillfactor = 85);
`;
