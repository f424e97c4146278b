import { uuid4, workflowInfo } from "@temporalio/workflow";
import { NO_AMOUNTS } from "../core/budget/amounts.ts";
import type { Reservation } from "../core/budget/reserve.ts";
import { shortStatus } from "../core/evaluation/branch-outcome.ts";
import type {
  BranchEnd,
  EvaluationOpenedDigest,
  OpenedAgent,
  SelectBranchCommand,
} from "../core/evaluation/evaluation-digest.ts";
import { buildBranchEnd, listAgents, shareRequest } from "../core/evaluation/parts.ts";
import { parsePromptReference } from "../core/evaluation/prompt-reference.ts";
import { refusePart, settlePart, startPart } from "../core/job/parts.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { Continuation } from "../schema/continuation.ts";
import type { EvaluationSteps } from "./evaluation-steps.ts";
import type { JobRun } from "./job.ts";
import type { StartRequest } from "./run-input.ts";

/** Runs all branches of one evaluation at the same time, and then the judge. However a part ends, it has an outcome. */
export class Comparison {
  readonly #job: JobRun;
  readonly #opened: EvaluationOpenedDigest;
  readonly #steps: EvaluationSteps;
  /** All branches stay: each is a branch of the conversation. */
  readonly #explores: boolean;
  readonly #ends: BranchEnd[] = [];
  readonly #lost: number[] = [];
  #judge: BranchEnd | undefined;

  constructor(job: JobRun, opened: EvaluationOpenedDigest, steps: EvaluationSteps, explores: boolean) {
    this.#job = job;
    this.#opened = opened;
    this.#steps = steps;
    this.#explores = explores;
  }

  async runBranches(): Promise<void> {
    const { branches, judge } = this.#opened;
    const reservations = this.#job.reserve(branches.map(shareRequest), judge === undefined ? 0 : 1);
    await this.#job.forEachPart(branches.length, branches.length, async (index) => {
      this.#ends[index] = await this.#perform(index, this.#requestOf(index), reservations[index]);
    });
  }

  /**
   * Runs the judge if there is something to compare.
   *
   * @param asks - Called before the judge starts.
   */
  async askJudge(judge: OpenedAgent, asks: () => void): Promise<void> {
    const job = this.#job;
    const lost = [...this.#lost].sort((a, b) => a - b);
    const { question, lostUsage } = await this.#steps.perform(
      "prepare-judge",
      { ...this.#looked(), judgeHash: judge.definitionHash, lostBranches: lost },
      "the judge's prompt",
    );
    for (const [place, index] of lost.entries())
      job.state = settlePart(job.state, index, lostUsage[place] ?? NO_AMOUNTS);
    if (question === undefined || job.stopOutcome !== undefined) return;
    asks();
    const index = this.#opened.branches.length;
    const [reservation] = job.reserve([shareRequest(judge, index)]);
    const request = buildRequest(this.#opened, judge, { ...this.#opened.at, position: 0 }, question);
    this.#judge = await this.#perform(index, request, reservation);
  }

  /** Returns what the choice is based on. */
  ends(): Pick<SelectBranchCommand, "evaluation" | "at" | "prompt" | "ends" | "judge"> {
    return { ...this.#looked(), ...omitUndefined({ judge: this.#judge }) };
  }

  #looked(): Pick<SelectBranchCommand, "evaluation" | "at" | "prompt" | "ends"> {
    const { evaluation, at, prompt } = this.#opened;
    return { evaluation, at, ...omitUndefined({ prompt }), ends: this.#ends };
  }

  #requestOf(index: number): Request {
    const agent = this.#opened.branches[index]!;
    const prompt = agent.prompt ?? this.#opened.prompt;
    return buildRequest(this.#opened, agent, this.#opened.at, prompt, this.#explores);
  }

  async #perform(index: number, request: Request, reservation: Reservation | undefined): Promise<BranchEnd> {
    const job = this.#job;
    const { loopId } = listAgents(this.#opened)[index]!;
    if (reservation?.type !== "reserved") {
      const reason = reservation?.reason ?? "";
      job.update(refusePart(job.state, index, reason, Date.now()));
      return { loopId, status: shortStatus({ type: "over-budget", reason }) };
    }
    const { name, session } = job.state.parts[index]!;
    job.update(startPart(job.state, index, Date.now(), partWorkflow(session, name)));
    const end = await job.start(index, request, reservation.allocation, "when-known").end;
    if (end.report === undefined) this.#lost.push(index);
    return buildBranchEnd(loopId, end);
  }
}

type Request = Omit<StartRequest, "share" | "settings">;

/** Creates a workflow id in the run, so that a run that was reset creates others. */
function partWorkflow(session: string, name: string): string {
  return `${session}.${name}-${uuid4().slice(0, 8)}`;
}

/** @param prompt - The reference to the stored prompt. If absent, the branch continues the conversation as it is. */
function buildRequest(
  { evaluation, parentLoopId }: EvaluationOpenedDigest,
  { definitionHash, number }: OpenedAgent,
  at: EvaluationOpenedDigest["at"],
  prompt: string | undefined,
  explores = false,
): Request {
  const session = workflowInfo().workflowId;
  const parent = omitUndefined({ parentLoopId });
  return {
    definitionHash,
    within: { session, evaluation, number, at, ...parent },
    ...(prompt === undefined || explores
      ? { continuation: { kind: getContinuationKind(explores), at } }
      : {}),
    // Every loop has a message of its own, because ids are unique in a session.
    ...(prompt === undefined
      ? {}
      : { prompt: { id: `${evaluation}.${number}`, ...parsePromptReference(prompt) } }),
  };
}

function getContinuationKind(explores: boolean): Continuation["kind"] {
  return explores ? { type: "branch", tag: new Date().toISOString() } : { type: "default" };
}
