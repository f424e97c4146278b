import { createCommitsTableSql } from "../../postgres/commit-tokens.ts";

/**
 * What is shown and not recorded yet. Nothing of it is needed after a crash of the server, so that it is not logged, and
 * its commits do not wait for the disk. No place may be given out twice all the same: a crash takes back the last few,
 * and empties the epoch, by which the next writer sees that it has to go on from further up.
 */
const SCHEMA_1 = `
CREATE SEQUENCE delta_places AS BIGINT;

CREATE UNLOGGED TABLE delta_epoch (
  begun_at_ms DOUBLE PRECISION NOT NULL
);

CREATE UNLOGGED TABLE deltas (
  place BIGINT PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL,
  loop_id TEXT COLLATE "C" NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  command BIGINT NOT NULL,
  call BIGINT NOT NULL,
  -- The call that it shows something of; null for an answer's.
  tool_call_id TEXT COLLATE "C",
  -- 1: it only says that something was recorded.
  announces BIGINT NOT NULL,
  at_ms DOUBLE PRECISION NOT NULL,
  -- The whole delta as JSON.
  delta TEXT NOT NULL
);
CREATE INDEX deltas_by_session ON deltas (session, place);
CREATE INDEX deltas_by_time ON deltas (at_ms);

-- A crash takes the tokens and the deltas alike: what is not there any more is written again.
${createCommitsTableSql("stream", "unlogged")}
`;

/** Step N leads from version N - 1 to version N. Steps are only ever added. */
export const MIGRATIONS: readonly string[] = [SCHEMA_1];
