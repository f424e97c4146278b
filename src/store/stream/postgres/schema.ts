import { createCommitsTableSql } from "../../postgres/commit-tokens.ts";

/**
 * Output that is displayed but not yet recorded. It is not needed after a crash of the server, so the tables are unlogged
 * and commits do not wait for the disk. Positions must still be unique: a crash reverts the last few of the sequence and
 * empties the epoch, from which the next writer detects that it must continue at a higher position.
 */
const SCHEMA_2 = `
CREATE SEQUENCE delta_positions AS BIGINT;

CREATE UNLOGGED TABLE delta_epoch (
  started_at_ms DOUBLE PRECISION NOT NULL
);

CREATE UNLOGGED TABLE deltas (
  position BIGINT PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL,
  loop_id TEXT COLLATE "C" NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  command BIGINT NOT NULL,
  call BIGINT NOT NULL,
  -- The call that it shows something of; null for an answer's.
  tool_call_id TEXT COLLATE "C",
  -- 1: it only says that something was recorded.
  is_announcement BIGINT NOT NULL,
  at_ms DOUBLE PRECISION NOT NULL,
  -- The whole delta as JSON.
  delta TEXT NOT NULL
);
CREATE INDEX deltas_by_session ON deltas (session, position);
CREATE INDEX deltas_by_time ON deltas (at_ms);

-- A crash takes the tokens and the deltas alike: what is not there any more is written again.
${createCommitsTableSql("stream", "unlogged")}
`;

const SCHEMA_3 = `
CREATE UNLOGGED TABLE watches (
  id TEXT COLLATE "C" PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
`;

/** Step N migrates from version N - 1 to version N. Steps are only added, never changed. */
export const MIGRATIONS: readonly string[] = ["", SCHEMA_2, SCHEMA_3];
