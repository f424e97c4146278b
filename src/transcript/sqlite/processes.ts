import type { Step } from "../step.ts";
import type { Remains, WorkerProcess } from "../worker-process.ts";
import type { Sql } from "./sql.ts";

export function signIn(sql: Sql, process: WorkerProcess): void {
  sql.run(
    `INSERT INTO processes (id, host, pid, start_time, namespace, task_queue) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET host = excluded.host, pid = excluded.pid, start_time = excluded.start_time,
       namespace = excluded.namespace, task_queue = excluded.task_queue`,
    process.id,
    process.host,
    process.pid,
    process.startTime,
    process.namespace,
    process.taskQueue,
  );
}

/** Nobody asks for what a process has left once it has signed out. */
export function signOut(sql: Sql, processId: string): void {
  sql.run("DELETE FROM processes WHERE id = ?", processId);
  sql.run("DELETE FROM process_runs WHERE process = ?", processId);
}

export function processesOf(sql: Sql, host: string): WorkerProcess[] {
  type Row = {
    id: string;
    host: string;
    pid: number;
    start_time: string;
    namespace: string;
    task_queue: string;
  };
  const rows = sql.all<Row>("SELECT * FROM processes WHERE host = ? ORDER BY id", host);
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    startTime: row.start_time,
    namespace: row.namespace,
    taskQueue: row.task_queue,
  }));
}

/** Remembers that the step's process works on its run. */
export function noteRun(sql: Sql, step: Step, atMs: number): void {
  sql.run(
    `INSERT INTO process_runs (process, run, session, at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT (process, run) DO UPDATE SET at_ms = excluded.at_ms`,
    step.process,
    step.run,
    step.session,
    atMs,
  );
}

/** How many runs are looked at: those that a process has touched last. */
const RECENT_RUNS = 1000;

/**
 * A step counts as unanswered while it has no result; and when it has one and nothing came after it in its run,
 * because the process may have died before it could say so.
 */
export function remainsOf(sql: Sql, processId: string): Remains {
  type Activity = {
    session: string;
    run: string;
    number: number;
    call: number;
    activity_id: string;
    executions: number;
  };
  const open = sql.all<Activity>(
    `SELECT steps.session, steps.run, steps.number, steps.call, steps.activity_id, steps.executions
     FROM steps LEFT JOIN loops ON loops.loop_id = steps.loop_id
     WHERE process = ? AND stored_at_ms IS NULL AND released = 0 AND activity_id IS NOT NULL
       AND coalesce(loops.status, 'running') = 'running'`,
    processId,
  );
  const runs = sql.all<{ session: string; run: string; running: number }>(
    `SELECT recent.session, recent.run, coalesce(loops.status = 'running', 0) AS running
     FROM (SELECT session, run, at_ms FROM process_runs WHERE process = ? ORDER BY at_ms DESC LIMIT ?) AS recent
     LEFT JOIN sessions ON sessions.id = recent.session
     LEFT JOIN loops ON loops.loop_id = sessions.last_loop_id
     ORDER BY running DESC, recent.at_ms DESC`,
    processId,
    RECENT_RUNS,
  );
  const unsaid = runs
    .filter((run) => run.running === 1)
    .flatMap((run) =>
      sql.all<Activity>(
        `SELECT session, run, number, call, activity_id, executions FROM steps
         WHERE run = ?1 AND number = (SELECT max(number) FROM steps WHERE run = ?1) AND process = ?2
           AND stored_at_ms IS NOT NULL AND activity_id IS NOT NULL`,
        run.run,
        processId,
      ),
    );
  return {
    activities: [...open, ...unsaid].map(({ session, run, number, call, activity_id, executions }) => ({
      session,
      run,
      number,
      call,
      activityId: activity_id,
      executions,
    })),
    runs: withCallers(sql, processId, runs),
  };
}

/**
 * A process that has worked for a sub-agent may have told its caller of its end, without a step of the caller's own.
 * The caller's run is the one that took its newest step.
 */
function withCallers(sql: Sql, processId: string, runs: readonly Run[]): readonly Run[] {
  const callers = sql.all<Run>(
    `WITH RECURSIVE callers (session) AS (
       SELECT spawned_by FROM process_runs JOIN sessions ON sessions.id = process_runs.session
       WHERE process = ? AND spawned_by IS NOT NULL
       UNION
       SELECT spawned_by FROM callers JOIN sessions ON sessions.id = callers.session
       WHERE spawned_by IS NOT NULL
     )
     SELECT callers.session,
       (SELECT run FROM steps WHERE steps.session = callers.session ORDER BY steps.rowid DESC LIMIT 1) AS run
     FROM callers JOIN sessions ON sessions.id = callers.session
     WHERE sessions.status = 'running' AND run IS NOT NULL`,
    processId,
  );
  const known = new Set(runs.map(({ run }) => run));
  return [...runs, ...callers.filter(({ run }) => !known.has(run))].map(({ session, run }) => ({
    session,
    run,
  }));
}

type Run = { readonly session: string; readonly run: string };
