import type { Step } from "../step.ts";
import type { DeadProcessWork, WorkerProcess } from "../worker-process.ts";
import { all, exec, type Work } from "./statement.ts";

export function* registerProcess(process: WorkerProcess): Work<void> {
  yield* exec(
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

/** Unregisters a process. It has no unfinished work, so its runs are deleted too. */
export function* unregisterProcess(processId: string): Work<void> {
  yield* exec("DELETE FROM processes WHERE id = ?", processId);
  yield* exec("DELETE FROM process_runs WHERE process = ?", processId);
}

export function* listProcesses(host: string): Work<WorkerProcess[]> {
  type Row = {
    id: string;
    host: string;
    pid: number;
    start_time: string;
    namespace: string;
    task_queue: string;
  };
  const rows = yield* all<Row>("SELECT * FROM processes WHERE host = ? ORDER BY id", host);
  return rows.map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    startTime: row.start_time,
    namespace: row.namespace,
    taskQueue: row.task_queue,
  }));
}

/** Records that the step's process works on its run. */
export function* recordRun(step: Step, atMs: number): Work<void> {
  yield* exec(
    `INSERT INTO process_runs (process, run, session, at_ms, workflow) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (process, run) DO UPDATE SET at_ms = excluded.at_ms`,
    step.process,
    step.run,
    step.session,
    atMs,
    step.workflow ?? null,
  );
}

/** The number of runs that are inspected: those that a process worked on last. */
const RECENT_RUNS = 1000;

/** Whether a run is active, by the loop of its newest step, or by its evaluation. */
const RUNNING = `coalesce(
  (SELECT CASE WHEN status = 'running' THEN 1 ELSE 0 END FROM loops WHERE loop_id =
    (SELECT loop_id FROM steps WHERE run = recent.run ORDER BY number DESC, call DESC LIMIT 1)),
  (SELECT CASE WHEN ended_at_ms IS NULL THEN 1 ELSE 0 END FROM evaluations WHERE id = recent.run), 0)`;

type UnansweredStep = DeadProcessWork["activities"][number];

/**
 * Finds the unfinished work of a dead process. A step counts as unanswered if it has no result, or if it has one and no
 * later step exists in its run, because the process may have died before it reported the result.
 */
export function* findDeadProcessWork(processId: string): Work<DeadProcessWork> {
  const open = yield* all<UnansweredStep>(
    `SELECT coalesce(steps.workflow, steps.session) AS workflow, steps.run, steps.number, steps.call,
       steps.activity_id AS "activityId", steps.executions
     FROM steps LEFT JOIN loops ON loops.loop_id = steps.loop_id
     WHERE process = ? AND stored_at_ms IS NULL AND released = 0 AND activity_id IS NOT NULL
       AND coalesce(loops.status, 'running') = 'running'`,
    processId,
  );
  const runs = yield* all<Run & { readonly running: number }>(
    `SELECT coalesce(recent.workflow, recent.session) AS workflow, recent.run, ${RUNNING} AS running
     FROM (SELECT * FROM process_runs WHERE process = ? ORDER BY at_ms DESC LIMIT ?) AS recent
     ORDER BY running DESC, recent.at_ms DESC`,
    processId,
    RECENT_RUNS,
  );
  const unanswered: UnansweredStep[] = [];
  for (const { run, running } of runs) {
    if (running !== 1) continue;
    const unansweredSteps = yield* all<UnansweredStep>(
      `SELECT coalesce(workflow, session) AS workflow, run, number, call, activity_id AS "activityId", executions
       FROM steps WHERE run = ? AND number = (SELECT max(number) FROM steps WHERE run = ?) AND process = ?
         AND stored_at_ms IS NOT NULL AND activity_id IS NOT NULL`,
      run,
      run,
      processId,
    );
    unanswered.push(...unansweredSteps);
  }
  return {
    activities: [...open, ...unanswered].map((unansweredSteps) => ({ ...unansweredSteps })),
    runs: yield* withCallers(processId, runs),
  };
}

/**
 * Adds the runs of callers: a process that worked for a sub-agent may have reported its end to the caller, without a step
 * of the caller's own. The caller's run is the one that claimed its newest step.
 */
function* withCallers(processId: string, runs: readonly Run[]): Work<readonly Run[]> {
  const callers = yield* all<Run>(
    `WITH RECURSIVE callers (session) AS (
       SELECT spawned_by FROM process_runs JOIN sessions ON sessions.id = process_runs.session
       WHERE process = ? AND spawned_by IS NOT NULL
       UNION
       SELECT spawned_by FROM callers JOIN sessions ON sessions.id = callers.session
       WHERE spawned_by IS NOT NULL
     )
     SELECT coalesce(newest.workflow, newest.session) AS workflow, newest.run
     FROM callers JOIN sessions ON sessions.id = callers.session
     JOIN steps AS newest ON newest.rowid = (SELECT max(rowid) FROM steps WHERE steps.session = callers.session)
     WHERE sessions.status = 'running'`,
    processId,
  );
  const known = new Set(runs.map(({ run }) => run));
  const found = [...runs, ...callers.filter(({ run }) => !known.has(run))];
  return found.map(({ workflow, run }) => ({ workflow, run }));
}

type Run = DeadProcessWork["runs"][number];
