import { Context } from "@temporalio/activity";
import type { PrepareCellsInput, PreparedCell, PreparedCells } from "../../core/suite/suite-parts.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import type { PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { CellDefinitions, getSharing } from "./cell-definition.ts";
import { buildFailedResult, isOutside } from "./cell-failure.ts";
import { CellResults } from "./cell-results.ts";
import { buildSessionId } from "./cell-session.ts";
import { readWorkflow } from "./cell-workflow.ts";
import { buildWorkspacePath, makeCellWorkspace, needsWorkspace } from "./cell-workspace.ts";
import { forkForCell } from "./fork-for-cell.ts";
import { readCasesOf } from "./read-cases.ts";
import { readSuiteRun } from "./suite-run.ts";

/** Prepares cells that need a run of their own: their workspaces, their forks, and what they are started with. */
export function prepareCells(input: PrepareCellsInput, dependencies: Dependencies): Promise<PreparedCells> {
  return withHeartbeat(
    () => undefined,
    () =>
      prepare(input, dependencies).catch((error: unknown) => {
        throw toFailure(error);
      }),
  );
}

async function prepare(
  { run, after, to, limit }: PrepareCellsInput,
  dependencies: Dependencies,
): Promise<PreparedCells> {
  const { transcript } = dependencies;
  const { suites } = transcript;
  const record = await readSuiteRun(run, transcript);
  const found = await suites.readPending(run, after, limit);
  const cells = found.filter(({ number, kind }) => number <= to && kind === "agent");
  const cases = await readCasesOf(run, cells, transcript);
  const results = new CellResults(record, dependencies, Context.current().cancellationSignal);
  // The id of its workflow is the claim of such a cell: this one is over at once.
  const atMs = Date.now();
  const claims = await suites.claimCells(cells, { owner: run, atMs, untilMs: atMs });
  const preparing = new CellPreparation(record, dependencies);
  const prepared: PreparedCell[] = [];
  let ended = 0;
  let busy = 0;
  for (const [index, cell] of cells.entries()) {
    const claim = claims[index]!;
    const value = cases.get(cell.caseNumber)!;
    const startedAtMs = Date.now();
    try {
      if (claim.type === "finished") {
        await results.scoreAgain(cell, value, claim.result);
        ended += 1;
        continue;
      }
      if (claim.type === "busy") {
        // It is asked together with others, or stands twice among these cells.
        busy += 1;
        continue;
      }
      const { attempt, isEnded, isJoined } = await findAttempt(cell, claim.attempt, dependencies);
      const session = buildSessionId(cell.cell, attempt);
      if (isEnded) {
        const { number } = cell;
        if (await results.finish(cell, value, { number, session, attempt, durationMs: 0 })) ended += 1;
        continue;
      }
      prepared.push(await preparing.prepare(cell, value, { session, attempt, isJoined }));
    } catch (error) {
      if (isOutside(error)) throw error;
      const attempt = claim.type === "claimed" ? claim.attempt : 1;
      const result = buildFailedResult(error, attempt, { startedAtMs, endedAtMs: Date.now() });
      await suites.finishCell({ run, number: cell.number, cell: cell.cell, result, scores: [] });
      ended += 1;
    }
  }
  const looked = found.length < limit ? to : Math.min(to, found.at(-1)?.number ?? to);
  return { cells: prepared, ended, busy, after: looked };
}

/**
 * Finds the first attempt whose session is new, or has ended with a result that nobody has stored yet. A session that was
 * stopped half-way is left as it is.
 */
async function findAttempt(
  { cell }: PlannedCell,
  first: number,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<Pick<Attempt, "attempt" | "isJoined"> & { readonly isEnded: boolean }> {
  for (let attempt = first; ; attempt++) {
    const session = buildSessionId(cell, attempt);
    const record = await transcript.readSession(session);
    const hasBegun = record !== undefined && record.loops > 0;
    const isEnded = hasBegun && (record.status === "completed" || record.status === "failed");
    const workflow = isEnded ? "closed" : await readWorkflow(session);
    // Another run of a suite works on it: starting it joins that run.
    if (workflow === "running") return { attempt, isEnded: false, isJoined: true };
    if (isEnded) return { attempt, isEnded, isJoined: false };
    if (workflow === "none" && !hasBegun) return { attempt, isEnded, isJoined: false };
  }
}

type Attempt = {
  readonly session: string;
  readonly attempt: number;
  /** Another run works on the session. */
  readonly isJoined: boolean;
};

class CellPreparation {
  readonly #run: SuiteRunRecord;
  readonly #dependencies: Dependencies;
  readonly #definitions: CellDefinitions;

  constructor(run: SuiteRunRecord, dependencies: Dependencies) {
    this.#run = run;
    this.#dependencies = dependencies;
    this.#definitions = new CellDefinitions(dependencies.transcript);
  }

  async prepare(
    cell: PlannedCell,
    value: SuiteCase,
    { session, attempt, isJoined }: Attempt,
  ): Promise<PreparedCell> {
    const { transcript, definitions } = this.#dependencies;
    const { plan } = this.#run;
    const { name, definitionHash } = plan.configurations[cell.configuration]!;
    const definition = await definitions.readAccepted(definitionHash);
    const workspace = needsWorkspace(definition, value)
      ? await this.#prepareWorkspace(value, session, isJoined)
      : undefined;
    const derived = await this.#definitions.derive(
      { hash: definitionHash, definition },
      getSharing(this.#run, cell),
      workspace,
    );
    if (value.fork !== undefined && !isJoined) await forkForCell(value, session, transcript);
    const messages = await Promise.all(
      value.messages.map(async (text) => ({
        ref: await transcript.putText(text, Date.now()),
        tokens: estimateText(text),
      })),
    );
    return {
      number: cell.number,
      session,
      attempt,
      definitionHash: derived.hash,
      messages,
      ...(messages.length === 0 ? { continues: true as const } : {}),
      summary: formatLabel(cell, name),
    };
  }

  /** Makes the workspace of a cell, unless a run works in it. */
  async #prepareWorkspace(value: SuiteCase, session: string, isJoined: boolean): Promise<string> {
    const { plan } = this.#run;
    if (isJoined) return buildWorkspacePath(session, plan, this.#dependencies);
    const isFree = async () => (await readWorkflow(session)) !== "running";
    return await makeCellWorkspace(session, value, plan, this.#dependencies, isFree);
  }
}

/** What the timeline displays: numbers and the configuration, none of the case's texts. */
function formatLabel({ caseNumber, repetition }: PlannedCell, configuration: string): string {
  return `case ${caseNumber + 1} · ${configuration} · repetition ${repetition + 1}`;
}
