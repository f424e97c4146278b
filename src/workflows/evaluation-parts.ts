import type { CancellationScope } from "@temporalio/workflow";
import { type Account, settle } from "../core/budget/account.ts";
import { NOTHING } from "../core/budget/amounts.ts";
import type { Reservation } from "../core/budget/reserve.ts";
import type {
  DecideEvaluation,
  EvaluationOpenedDigest,
  OpenedAgent,
  PartEnd,
} from "../core/evaluation/digest.ts";
import {
  begunParts,
  type EvaluationProgress,
  endedPart,
  type PartProgress,
  shortStatus,
} from "../core/evaluation/progress.ts";
import { evaluationAccount, reserveParts } from "../core/evaluation/shares.ts";
import type { TaskReport } from "../core/machine/task.ts";
import { type Part, partWorkflow, performPart } from "./evaluation-part.ts";
import type { Steps } from "./evaluation-steps.ts";
import type { RunSettings } from "./input.ts";

type World = {
  readonly session: string;
  readonly settings: RunSettings;
  readonly steps: Steps;
  readonly tell: (news: Partial<EvaluationProgress>) => void;
  readonly read: () => EvaluationProgress;
  /** All branches are kept: each is one of the conversation's. */
  readonly explores: boolean;
};

const JUDGE = "judge";

/** The parts of one evaluation at work: all branches at once, then the judge. However a part ends, it is an outcome. */
export class Comparison {
  readonly #opened: EvaluationOpenedDigest;
  readonly #world: World;
  readonly #ends: PartEnd[] = [];
  readonly #lost: number[] = [];
  #account: Account;
  #judge: PartEnd | undefined;

  constructor(opened: EvaluationOpenedDigest, world: World) {
    this.#opened = opened;
    this.#world = world;
    const { branches, judge, limits } = opened;
    const agents = judge === undefined ? branches : [...branches, judge];
    this.#account = evaluationAccount(limits, agents, Date.now());
  }

  /** @param work - Cancelling it stops every part. */
  async run(work: CancellationScope): Promise<void> {
    const { tell, read } = this.#world;
    const { branches, judge } = this.#opened;
    tell({ phase: "comparing", ...begunParts(this.#opened) });
    const reservations = this.#reserve(
      branches.map((_, index) => branchName(index)),
      branches,
      judge !== undefined,
    );
    await work.run(() =>
      Promise.all(branches.map((agent, index) => this.#branch(index, agent, reservations[index]))),
    );
    if (judge !== undefined && read().stop === undefined) await this.#ask(judge, work);
  }

  /** What the choice is made of. */
  ends(): Pick<DecideEvaluation, "evaluation" | "at" | "prompt" | "ends" | "judge"> {
    const { evaluation, at, prompt } = this.#opened;
    return {
      evaluation,
      at,
      ...(prompt === undefined ? {} : { prompt }),
      ends: this.#ends,
      ...(this.#judge === undefined ? {} : { judge: this.#judge }),
    };
  }

  async #branch(index: number, agent: OpenedAgent, reservation: Reservation | undefined): Promise<void> {
    const { at } = this.#opened;
    const prompt = agent.prompt ?? this.#opened.prompt;
    const show = (part: PartProgress): void => {
      const parts = this.#world.read().branches;
      this.#world.tell({ branches: parts.map((one, place) => (place === index ? part : one)) });
    };
    const begun = this.#world.read().branches[index] as PartProgress;
    const name = branchName(index);
    const { end, report, wasRefused } = await this.#perform(
      { name, agent, at, prompt, ...(this.#world.explores ? { explores: true as const } : {}) },
      reservation,
      begun,
      show,
    );
    this.#ends[index] = end;
    if (report === undefined && !wasRefused) this.#lost.push(index);
  }

  async #ask(judge: OpenedAgent, work: CancellationScope): Promise<void> {
    const { session: _, steps, tell, read } = this.#world;
    const { evaluation, at, prompt } = this.#opened;
    const looked = { evaluation, at, ...(prompt === undefined ? {} : { prompt }), ends: this.#ends };
    const lost = [...this.#lost].sort((a, b) => a - b);
    const { question, used } = await steps.perform(
      "weigh",
      { ...looked, judgeHash: judge.definitionHash, lost },
      "what the judge is asked",
    );
    for (const [place, index] of lost.entries()) this.#settle(branchName(index), used[place]);
    if (question === undefined || read().stop !== undefined) return;
    tell({ phase: "judging" });
    const [reservation] = this.#reserve([JUDGE], [judge], false);
    const part = { name: JUDGE, agent: judge, at: { ...at, position: 0 }, prompt: question };
    const begun = read().judge as PartProgress;
    const { end } = await work.run(() =>
      this.#perform(part, reservation, begun, (now) => tell({ judge: now })),
    );
    this.#judge = end;
  }

  #reserve(
    ids: readonly string[],
    agents: readonly OpenedAgent[],
    keepsOne: boolean,
  ): readonly Reservation[] {
    const { account, reservations } = reserveParts(this.#account, ids, agents, Date.now(), keepsOne);
    this.#account = account;
    return reservations;
  }

  async #perform(
    part: Omit<Part, "share">,
    reservation: Reservation | undefined,
    begun: PartProgress,
    show: (part: PartProgress) => void,
  ): Promise<{ end: PartEnd; report: TaskReport | undefined; wasRefused: boolean }> {
    const { session, settings } = this.#world;
    if (reservation?.type !== "reserved") {
      const reason = reservation?.reason ?? "";
      const status = shortStatus({ type: "over-budget", reason });
      const end: PartEnd = { loopId: part.agent.loopId, status };
      show(endedPart(begun, end, undefined, Date.now()));
      return { end, report: undefined, wasRefused: true };
    }
    const workflow = partWorkflow(session, part.name);
    const running: PartProgress = { ...begun, status: "running", workflow, startedAtMs: Date.now() };
    show(running);
    const whole = { ...part, share: reservation.given };
    const { end, report } = await performPart(workflow, session, whole, this.#opened, settings);
    if (report !== undefined) this.#settle(part.name, report.used);
    show(endedPart(running, end, report, Date.now()));
    return { end, report, wasRefused: false };
  }

  #settle(id: string, used = NOTHING): void {
    this.#account = settle(this.#account, id, used);
  }
}

/** As people count them. */
function branchName(index: number): string {
  return `branch-${index + 1}`;
}
