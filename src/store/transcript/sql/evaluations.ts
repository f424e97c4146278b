import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type {
  ClosedEvaluation,
  EvaluationClosing,
  EvaluationOpening,
  EvaluationRecord,
  OpenedEvaluation,
  ParallelGroup,
  PlannedLoop,
} from "../evaluation.ts";
import { assignLoopNumbers } from "../loop-numbers.ts";
import { StoreError } from "../store-error.ts";
import { type BranchRow, findBranch, readLength } from "./branches.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { findLoopBefore } from "./find-loop-before.ts";
import { assertVisible } from "./session-visibility.ts";
import { abortRunningLoops, createSession, MAIN_BRANCH } from "./sessions.ts";
import { all, exec, get, json, type Work } from "./statement.ts";
import { readStepResult, takeAndFinishStep } from "./step-claims.ts";
import { setTitle } from "./titles.ts";

/** The content of the column `opened`. */
type StoredOpening = OpenedEvaluation & {
  readonly strategy: string;
  readonly planned: readonly PlannedLoop[];
  readonly plannedJudge?: PlannedLoop | undefined;
};

/**
 * Opens an evaluation: creates the session if it is new, fixes the position, and reserves numbers for the loops. A
 * repeated request returns the step's stored result.
 */
export function* openEvaluation(opening: EvaluationOpening): Work<OpenedEvaluation> {
  const { step, atMs, strategy, branches, judge, agentId } = opening;
  const before = yield* readStepResult(step);
  if (before !== undefined) return before.result as OpenedEvaluation;
  yield* assertVisible(step.session);
  const first = branches[0]!;
  const row = yield* get<{ head_branch: string; last_loop_id: string | null }>(
    "SELECT head_branch, last_loop_id FROM sessions WHERE id = ?",
    step.session,
  );
  if (row === undefined) yield* createSession({ ...first, step, atMs, agentId });
  else yield* abortRunningLoops(step.session, atMs);
  if (opening.title !== undefined) yield* setTitle(step.session, { text: opening.title, by: "prompt" });
  yield* exec(
    "UPDATE sessions SET status = 'running', last_active_at_ms = ? WHERE id = ?",
    atMs,
    step.session,
  );
  const { branch, position } = yield* resolveStart(opening, row?.head_branch ?? MAIN_BRANCH);
  const precedingLoopId = opening.at === undefined ? undefined : yield* findLoopBefore(branch, position);
  const parentLoopId = precedingLoopId ?? row?.last_loop_id ?? undefined;
  const loops = [...branches, ...(judge === undefined ? [] : [judge])];
  const segments = loops.map(({ segment }) => segment);
  const last = new Map<string, number>();
  for (const segment of segments) last.set(segment, yield* findLastNumber(step.session, segment));
  const numbers = assignLoopNumbers(segments, (segment) => last.get(segment)!);
  const reserved = loops.map(({ segment }, index) => {
    const number = numbers[index]!;
    return { loopId: `${step.session}.${segment}.${number}`, number };
  });
  const opened: OpenedEvaluation = {
    evaluation: step.run,
    at: { branch: branch.id, position },
    ...omitUndefined({ parentLoopId }),
    branches: reserved.slice(0, branches.length),
    ...(judge === undefined ? {} : { judge: reserved[branches.length] }),
  };
  const stored: StoredOpening = { ...opened, strategy, planned: branches, plannedJudge: judge };
  yield* exec(
    "INSERT INTO evaluations (id, session, opened, started_at_ms) VALUES (?, ?, ?, ?)",
    step.run,
    step.session,
    markForEncryption(json(stored), "evaluations.opened", step.run),
    atMs,
  );
  yield* takeAndFinishStep(step, { loopId: "", branch: branch.id }, opened, atMs);
  return opened;
}

function parseOpening(row: { readonly id: string; readonly opened: string }): StoredOpening {
  return JSON.parse(
    decryptColumn(row, "opened", buildAssociatedData("evaluations.opened", [row.id])),
  ) as StoredOpening;
}

function* resolveStart(
  { step, at }: EvaluationOpening,
  head: string,
): Work<{ branch: BranchRow; position: number }> {
  const id = at?.branch ?? head;
  const branch = yield* findBranch(step.session, id);
  if (branch === undefined) throw new StoreError("other", `Session ${step.session} has no branch ${id}.`);
  const length = yield* readLength(branch);
  const position = at?.position ?? length;
  if (position <= length) return { branch, position };
  const message = `Branch ${id} of session ${step.session} has ${length} entries; nothing can begin at ${position}.`;
  throw new StoreError("other", message);
}

/** Finds the highest number of a segment in a session, including numbers that evaluations reserved for unopened loops. */
export function* findLastNumber(session: string, segment: string): Work<number> {
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
    const { planned, plannedJudge, branches, judge } = parseOpening(row);
    const segments = [...planned, ...(plannedJudge === undefined ? [] : [plannedJudge])];
    const reserved = [...branches, ...(judge === undefined ? [] : [judge])];
    const own = reserved
      .filter((_, index) => segments[index]?.segment === segment)
      .map(({ number }) => number);
    return Math.max(highest, ...own);
  }, last?.n ?? 0);
}

/** Stores a warning for watchers. Only the first one is retained. */
export function* setEvaluationWarning(evaluation: string, warning: string): Work<void> {
  yield* exec(
    "UPDATE evaluations SET warning = coalesce(warning, ?) WHERE id = ?",
    markForEncryption(json(warning), "evaluations.warning", evaluation),
    evaluation,
  );
}

/** Closes an evaluation, moves the session's head to the chosen branch, and marks unfinished loops as aborted. */
export function* closeEvaluation(closing: EvaluationClosing): Work<unknown> {
  const { step, evaluation, atMs, decision, loopIds, selectedLoopId, evaluationUsage } = closing;
  const before = yield* readStepResult(step);
  if (before !== undefined) return before.result;
  const closed: ClosedEvaluation = {
    decision,
    loopIds,
    evaluationUsage,
    ...omitUndefined({ selectedLoopId }),
  };
  yield* exec(
    "UPDATE evaluations SET closed = ?, ended_at_ms = ? WHERE id = ?",
    markForEncryption(json(closed), "evaluations.closed", evaluation),
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
      : yield* moveHeadTo(step.session, selectedLoopId, decision.selected);
  yield* takeAndFinishStep(step, { loopId: "", branch: head ?? "" }, closing.result, atMs);
  return closing.result;
}

type ChosenLoop = {
  branch: string;
  definition_hash: string;
  model: string;
  grants: string | null;
  id: string;
  opened: string;
};

function* moveHeadTo(session: string, loopId: string, index: number): Work<string | undefined> {
  const chosen = yield* get<ChosenLoop>(
    `SELECT loops.branch, loops.definition_hash, loops.model, loops.grants, evaluations.id, evaluations.opened
     FROM loops JOIN evaluations ON evaluations.id = loops.evaluation WHERE loop_id = ?`,
    loopId,
  );
  if (chosen === undefined) return undefined;
  const agentName = parseOpening(chosen).planned[index]?.agentName;
  yield* exec(
    `UPDATE sessions SET head_branch = ?, last_loop_id = ?, agent_name = coalesce(?, agent_name), definition_hash = ?,
       model = ?, grants = coalesce(?, grants) WHERE id = ?`,
    chosen.branch,
    loopId,
    agentName ?? null,
    chosen.definition_hash,
    chosen.model,
    markForEncryption(
      decryptColumn(chosen, "grants", buildAssociatedData("loops.grants", [loopId])),
      "sessions.grants",
      session,
    ),
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

/** Reads the evaluations of a session in order of start. */
export function* readEvaluations(session: string): Work<EvaluationRecord[]> {
  const rows = yield* all<Row>(
    "SELECT * FROM evaluations WHERE session = ? ORDER BY started_at_ms, id",
    session,
  );
  return rows.map((row) => {
    const { planned, branches, judge, strategy, at } = parseOpening(row);
    const closedJson = decryptColumn(row, "closed", buildAssociatedData("evaluations.closed", [row.id]));
    const closed = closedJson === null ? undefined : (JSON.parse(closedJson) as ClosedEvaluation);
    const warning = decryptColumn(row, "warning", buildAssociatedData("evaluations.warning", [row.id]));
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
      ...omitUndefined({ judgeLoopId: judge?.loopId }),
      ...(warning === null ? {} : { warning: JSON.parse(warning) as string }),
      ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
      ...omitUndefined({ closed }),
    };
  });
}

/** Returns the group of a branch's loop in a closed evaluation; undefined for the judge's loop. */
export function toParallelGroup(loopId: string, closed: string): ParallelGroup | undefined {
  const { decision, loopIds, selectedLoopId, evaluationUsage } = JSON.parse(closed) as ClosedEvaluation;
  if (!loopIds.includes(loopId)) return undefined;
  return {
    allLoopIds: loopIds,
    ...omitUndefined({ selectedLoopId }),
    selectedConfigIndex: decision.selected,
    evaluationUsage,
    isSelected: loopId === selectedLoopId,
  };
}
