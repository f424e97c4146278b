import type { StepLine } from "../../../schema/export-line.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { all, get, type Work } from "./statement.ts";

/** Reads the end of the export's steps, exclusive. */
export function* readStepEnd(session: string): Work<number> {
  const row = yield* get<{ n: number | null }>(
    "SELECT max(rowid) AS n FROM steps WHERE session = ?",
    session,
  );
  return row?.n ?? 0;
}

type StepRow = {
  ref: number;
  run: string;
  number: number;
  call: number;
  loop_id: string | null;
  kind: string;
  generation: number;
  executions: number;
  started_at_ms: number;
  stored_at_ms: number;
  branch: string | null;
  note: string | null;
  result: string;
};

export function* readStepLines(
  session: string,
  after: number,
  end: number,
  limit: number,
): Work<readonly { ref: number; record: StepLine }[]> {
  const rows = yield* all<StepRow>(
    `SELECT rowid AS ref, run, number, call, loop_id, kind, generation, executions, started_at_ms, stored_at_ms,
       branch, note, result
     FROM steps WHERE session = ? AND rowid > ? AND rowid <= ? AND stored_at_ms IS NOT NULL ORDER BY rowid LIMIT ?`,
    session,
    after,
    end,
    limit,
  );
  return rows.map((row) => ({ ref: row.ref, record: toStepLine(session, row) }));
}

function toStepLine(session: string, row: StepRow): StepLine {
  const key = [row.run, row.number, row.call];
  const note = decryptColumn(row, "note", buildAssociatedData("steps.note", key));
  return {
    type: "step",
    session,
    run: row.run,
    number: row.number,
    call: row.call,
    ...(row.loop_id === null ? {} : { loopId: row.loop_id }),
    kind: row.kind,
    generation: row.generation,
    executions: row.executions,
    startedAtMs: row.started_at_ms,
    storedAtMs: row.stored_at_ms,
    ...(row.branch === null ? {} : { branch: row.branch }),
    ...(note === null ? {} : { note: JSON.parse(note) as string }),
    result: JSON.parse(decryptColumn(row, "result", buildAssociatedData("steps.result", key))),
  };
}
