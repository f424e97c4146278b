import type {
  EvaluationClosed,
  EvaluationClosing,
  EvaluationOpened,
  EvaluationOpening,
  EvaluationRecord,
  ParallelGroup,
  PlannedLoop,
} from "../evaluation.ts";
import { loopNumbers } from "../loop-numbers.ts";
import { StoreError } from "../store-error.ts";
import { type Branch, findBranch, lengthOf } from "./branches.ts";
import { mustBeSeen } from "./hidden.ts";
import { loopBefore } from "./loop-before.ts";
import { placeOf, secret } from "./private.ts";
import { abortRunning, createSession, MAIN } from "./sessions.ts";
import { all, exec, get, json, type Work } from "./statement.ts";
import { resultOf, takeAndFinish } from "./steps.ts";
import { wordsIn } from "./vault.ts";

/** What `opened` of the table holds. */
type Opened = EvaluationOpened & {
  readonly strategy: string;
  readonly planned: readonly PlannedLoop[];
  readonly plannedJudge?: PlannedLoop | undefined;
};

/**
 * Begins an evaluation: the session if it is new, its place, and numbers for its loops. The step's stored answer makes
 * a second asking give the same.
 */
export function* openEvaluation(opening: EvaluationOpening): Work<EvaluationOpened> {
  const { step, atMs, strategy, branches, judge, agentId } = opening;
  const before = yield* resultOf(step);
  if (before !== undefined) return before.result as EvaluationOpened;
  yield* mustBeSeen(step.session);
  const first = branches[0]!;
  const row = yield* get<{ head_branch: string; last_loop_id: string | null }>(
    "SELECT head_branch, last_loop_id FROM sessions WHERE id = ?",
    step.session,
  );
  if (row === undefined) yield* createSession({ ...first, step, atMs, agentId });
  else yield* abortRunning(step.session, atMs);
  yield* exec(
    "UPDATE sessions SET status = 'running', last_active_at_ms = ? WHERE id = ?",
    atMs,
    step.session,
  );
  const { branch, position } = yield* startOf(opening, row?.head_branch ?? MAIN);
  const there = opening.at === undefined ? undefined : yield* loopBefore(branch, position);
  const parentLoopId = there ?? row?.last_loop_id ?? undefined;
  const loops = [...branches, ...(judge === undefined ? [] : [judge])];
  const segments = loops.map(({ segment }) => segment);
  const last = new Map<string, number>();
  for (const segment of segments) last.set(segment, yield* lastNumber(step.session, segment));
  const numbers = loopNumbers(segments, (segment) => last.get(segment)!);
  const named = loops.map(({ segment }, index) => {
    const number = numbers[index]!;
    return { loopId: `${step.session}.${segment}.${number}`, number };
  });
  const opened: EvaluationOpened = {
    evaluation: step.run,
    at: { branch: branch.id, position },
    ...(parentLoopId === undefined ? {} : { parentLoopId }),
    branches: named.slice(0, branches.length),
    ...(judge === undefined ? {} : { judge: named[branches.length] }),
  };
  const kept: Opened = { ...opened, strategy, planned: branches, plannedJudge: judge };
  yield* exec(
    "INSERT INTO evaluations (id, session, opened, started_at_ms) VALUES (?, ?, ?, ?)",
    step.run,
    step.session,
    secret(json(kept), "evaluations.opened", step.run),
    atMs,
  );
  yield* takeAndFinish(step, { loopId: "", branch: branch.id }, opened, atMs);
  return opened;
}

function openedIn(row: { readonly id: string; readonly opened: string }): Opened {
  return JSON.parse(wordsIn(row, "opened", placeOf("evaluations.opened", [row.id]))) as Opened;
}

function* startOf({ step, at }: EvaluationOpening, head: string): Work<{ branch: Branch; position: number }> {
  const id = at?.branch ?? head;
  const branch = yield* findBranch(step.session, id);
  if (branch === undefined) throw new StoreError("other", `Session ${step.session} has no branch ${id}.`);
  const length = yield* lengthOf(branch);
  const position = at?.position ?? length;
  if (position <= length) return { branch, position };
  const message = `Branch ${id} of session ${step.session} has ${length} entries; nothing can begin at ${position}.`;
  throw new StoreError("other", message);
}

/** The highest number that a segment has had in a session, or that an evaluation has taken for a loop never opened. */
export function* lastNumber(session: string, segment: string): Work<number> {
  const last = yield* get<{ n: number | null }>(
    "SELECT max(number) AS n FROM loops WHERE session = ? AND segment = ?",
    session,
    segment,
  );
  const rows = yield* all<{ id: string; opened: string }>(
    "SELECT id, opened FROM evaluations WHERE session = ?",
    session,
  );
  return rows.reduce((highest, row) => {
    const { planned, plannedJudge, branches, judge } = openedIn(row);
    const segments = [...planned, ...(plannedJudge === undefined ? [] : [plannedJudge])];
    const taken = [...branches, ...(judge === undefined ? [] : [judge])];
    const own = taken.filter((_, index) => segments[index]?.segment === segment).map(({ number }) => number);
    return Math.max(highest, ...own);
  }, last?.n ?? 0);
}

/** Keeps the first warning, for whoever watches. */
export function* warnOfEvaluation(evaluation: string, warning: string): Work<void> {
  yield* exec(
    "UPDATE evaluations SET warning = coalesce(warning, ?) WHERE id = ?",
    secret(json(warning), "evaluations.warning", evaluation),
    evaluation,
  );
}

/** Ends an evaluation, and takes the session's head to the chosen branch; loops that never ended are over. */
export function* closeEvaluation(closing: EvaluationClosing): Work<unknown> {
  const { step, evaluation, atMs, decision, loopIds, selectedLoopId, evaluationUsage } = closing;
  const before = yield* resultOf(step);
  if (before !== undefined) return before.result;
  const closed: EvaluationClosed = {
    decision,
    loopIds,
    evaluationUsage,
    ...(selectedLoopId === undefined ? {} : { selectedLoopId }),
  };
  yield* exec(
    "UPDATE evaluations SET closed = ?, ended_at_ms = ? WHERE id = ?",
    secret(json(closed), "evaluations.closed", evaluation),
    atMs,
    evaluation,
  );
  yield* exec(
    "UPDATE loops SET status = 'aborted', ended_at_ms = ? WHERE evaluation = ? AND session = ? AND status = 'running'",
    atMs,
    evaluation,
    step.session,
  );
  yield* exec(
    "UPDATE sessions SET status = ?, last_active_at_ms = ? WHERE id = ?",
    closing.status,
    atMs,
    step.session,
  );
  const head =
    selectedLoopId === undefined
      ? undefined
      : yield* takeHead(step.session, selectedLoopId, decision.selected);
  yield* takeAndFinish(step, { loopId: "", branch: head ?? "" }, closing.result, atMs);
  return closing.result;
}

type Chosen = {
  branch: string;
  definition_hash: string;
  model: string;
  grants: string | null;
  id: string;
  opened: string;
};

function* takeHead(session: string, loopId: string, index: number): Work<string | undefined> {
  const chosen = yield* get<Chosen>(
    `SELECT loops.branch, loops.definition_hash, loops.model, loops.grants, evaluations.id, evaluations.opened
     FROM loops JOIN evaluations ON evaluations.id = loops.evaluation WHERE loop_id = ?`,
    loopId,
  );
  if (chosen === undefined) return undefined;
  const agentName = openedIn(chosen).planned[index]?.agentName;
  yield* exec(
    `UPDATE sessions SET head_branch = ?, last_loop_id = ?, agent_name = coalesce(?, agent_name), definition_hash = ?,
       model = ?, grants = coalesce(?, grants) WHERE id = ?`,
    chosen.branch,
    loopId,
    agentName ?? null,
    chosen.definition_hash,
    chosen.model,
    secret(wordsIn(chosen, "grants", placeOf("loops.grants", [loopId])), "sessions.grants", session),
    session,
  );
  return chosen.branch;
}

type Row = {
  id: string;
  session: string;
  opened: string;
  started_at_ms: number;
  warning: string | null;
  closed: string | null;
  ended_at_ms: number | null;
};

/** In order of start. */
export function* evaluationsOf(session: string): Work<EvaluationRecord[]> {
  const rows = yield* all<Row>(
    "SELECT * FROM evaluations WHERE session = ? ORDER BY started_at_ms, id",
    session,
  );
  return rows.map((row) => {
    const { planned, branches, judge, strategy, at } = openedIn(row);
    const said = wordsIn(row, "closed", placeOf("evaluations.closed", [row.id]));
    const closed = said === null ? undefined : (JSON.parse(said) as EvaluationClosed);
    const warning = wordsIn(row, "warning", placeOf("evaluations.warning", [row.id]));
    return {
      id: row.id,
      session: row.session,
      strategy,
      startedAtMs: row.started_at_ms,
      at,
      branches: branches.map((reserved, index) => {
        const { segment: _, ...plan } = planned[index]!;
        return { ...plan, loopId: closed?.loopIds[index] ?? reserved.loopId };
      }),
      ...(judge === undefined ? {} : { judgeLoopId: judge.loopId }),
      ...(warning === null ? {} : { warning: JSON.parse(warning) as string }),
      ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
      ...(closed === undefined ? {} : { closed }),
    };
  });
}

/** The group that a branch's loop belongs to, when it is over; nothing of a judge's. */
export function groupOf(loopId: string, closed: string): ParallelGroup | undefined {
  const { decision, loopIds, selectedLoopId, evaluationUsage } = JSON.parse(closed) as EvaluationClosed;
  if (!loopIds.includes(loopId)) return undefined;
  return {
    allLoopIds: loopIds,
    ...(selectedLoopId === undefined ? {} : { selectedLoopId }),
    selectedConfigIndex: decision.selected,
    evaluationUsage,
    isSelected: loopId === selectedLoopId,
  };
}
