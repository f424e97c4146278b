import { uuid4, workflowInfo } from "@temporalio/workflow";
import { NOTHING } from "../core/budget/amounts.ts";
import type { Reservation } from "../core/budget/reserve.ts";
import { shortStatus } from "../core/evaluation/branch-outcome.ts";
import type {
  BranchEnd,
  DecideEvaluation,
  EvaluationOpenedDigest,
  OpenedAgent,
} from "../core/evaluation/digest.ts";
import { agentsIn, branchEnd, shareRequest } from "../core/evaluation/parts.ts";
import { refusePart, settlePart, startPart } from "../core/job/parts.ts";
import type { Continuation } from "../schema/definition.ts";
import type { Steps } from "./evaluation-steps.ts";
import type { StartRequest } from "./input.ts";
import type { JobRun } from "./job.ts";

/** The branches of one evaluation at work, all at once, and then the judge. However a part ends, it is an outcome. */
export class Comparison {
  readonly #job: JobRun;
  readonly #opened: EvaluationOpenedDigest;
  readonly #steps: Steps;
  /** All branches are kept: each is one of the conversation's. */
  readonly #explores: boolean;
  readonly #ends: BranchEnd[] = [];
  readonly #lost: number[] = [];
  #judge: BranchEnd | undefined;

  constructor(job: JobRun, opened: EvaluationOpenedDigest, steps: Steps, explores: boolean) {
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

  /** Where there is something to compare. @param asks - Called before it is asked. */
  async askJudge(judge: OpenedAgent, asks: () => void): Promise<void> {
    const job = this.#job;
    const lost = [...this.#lost].sort((a, b) => a - b);
    const { question, used } = await this.#steps.perform(
      "weigh",
      { ...this.#looked(), judgeHash: judge.definitionHash, lost },
      "what the judge is asked",
    );
    for (const [place, index] of lost.entries())
      job.state = settlePart(job.state, index, used[place] ?? NOTHING);
    if (question === undefined || job.stopped !== undefined) return;
    asks();
    const index = this.#opened.branches.length;
    const [reservation] = job.reserve([shareRequest(judge, index)]);
    const request = requestOf(this.#opened, judge, { ...this.#opened.at, position: 0 }, question);
    this.#judge = await this.#perform(index, request, reservation);
  }

  /** What the choice is made of. */
  ends(): Pick<DecideEvaluation, "evaluation" | "at" | "prompt" | "ends" | "judge"> {
    return { ...this.#looked(), ...(this.#judge === undefined ? {} : { judge: this.#judge }) };
  }

  #looked(): Pick<DecideEvaluation, "evaluation" | "at" | "prompt" | "ends"> {
    const { evaluation, at, prompt } = this.#opened;
    return { evaluation, at, ...(prompt === undefined ? {} : { prompt }), ends: this.#ends };
  }

  #requestOf(index: number): Request {
    const agent = this.#opened.branches[index]!;
    const prompt = agent.prompt ?? this.#opened.prompt;
    return requestOf(this.#opened, agent, this.#opened.at, prompt, this.#explores);
  }

  async #perform(index: number, request: Request, reservation: Reservation | undefined): Promise<BranchEnd> {
    const job = this.#job;
    const { loopId } = agentsIn(this.#opened)[index]!;
    if (reservation?.type !== "reserved") {
      const reason = reservation?.reason ?? "";
      job.change(refusePart(job.state, index, reason, Date.now()));
      return { loopId, status: shortStatus({ type: "over-budget", reason }) };
    }
    const { name, session } = job.state.parts[index]!;
    job.change(startPart(job.state, index, Date.now(), partWorkflow(session, name)));
    const end = await job.start(index, request, reservation.given, "when-known").end;
    if (end.report === undefined) this.#lost.push(index);
    return branchEnd(loopId, end);
  }
}

type Request = Omit<StartRequest, "share" | "settings">;

/** Made in the run, so that a run that was reset has others. */
function partWorkflow(session: string, name: string): string {
  return `${session}.${name}-${uuid4().slice(0, 8)}`;
}

/** @param prompt - The stored text that it is asked; absent: it goes on with what is there. */
function requestOf(
  { evaluation, parentLoopId }: EvaluationOpenedDigest,
  { definitionHash, number }: OpenedAgent,
  at: EvaluationOpenedDigest["at"],
  prompt: string | undefined,
  explores = false,
): Request {
  const session = workflowInfo().workflowId;
  const parent = parentLoopId === undefined ? {} : { parentLoopId };
  return {
    definitionHash,
    within: { session, evaluation, number, at, ...parent },
    ...(prompt === undefined || explores ? { continuation: { kind: continuationKind(explores), at } } : {}),
    // Every loop has a message of its own: ids are unique in a session.
    ...(prompt === undefined ? {} : { prompt: { id: `${evaluation}.${number}`, ref: prompt } }),
  };
}

function continuationKind(explores: boolean): Continuation["kind"] {
  return explores ? { type: "branch", tag: new Date().toISOString() } : { type: "default" };
}
