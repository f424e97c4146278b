import { isDeepStrictEqual } from "node:util";
import type { CommandKill } from "./command.ts";
import { CommitPlayer, type CommitTrace } from "./commit.ts";
import { KilledWorker, type WorkerKills, type WorkerTarget } from "./killed-worker.ts";
import { planCommandKills, planWorkerKills } from "./plan-kills.ts";
import { ReviewPlayer, type ReviewTrace } from "./review.ts";
import { openStage, type Stage } from "./stage.ts";
import type { StoredAnswers } from "./vendor.ts";

// Plays a review and a commit undisturbed, then kills the worker, or the command itself, at every step of them. Everything
// that they make must be the same, and no answer that the transcript has may be asked for again.

export type ProofOptions = Pick<WorkerTarget, "address" | "namespace"> & {
  /** How many kills each of the three parts has at most; all by default. */
  readonly maxKills?: number;
  readonly report: (line: string) => void;
};

export type CrashFigures = {
  /** Kills of the worker during reviews, and during commits. */
  readonly reviewKills: number;
  readonly commitKills: number;
  /** Kills of the process of `holdfast git commit`, after which `holdfast git resume` goes on. */
  readonly commandKills: number;
  /** Planned kills whose step did not come. */
  readonly missed: number;
  readonly differentArtifacts: number;
  readonly differentObjects: number;
  readonly repaid: number;
  readonly problems: number;
};

export async function proveCrashes({ address, namespace, ...options }: ProofOptions): Promise<CrashFigures> {
  const stage = await openStage({ address, namespace });
  const proof = new CrashProof(stage, options);
  try {
    return await proof.prove();
  } finally {
    await proof.close();
    await stage.close();
  }
}

type Player<Trace> = { readonly play: (session: string) => Promise<Trace> };

class CrashProof {
  readonly #stage: Stage;
  readonly #options: Omit<ProofOptions, "address" | "namespace">;
  readonly #reviews: ReviewPlayer;
  readonly #commits: CommitPlayer;
  readonly #figures = {
    ...{ reviewKills: 0, commitKills: 0, commandKills: 0, missed: 0 },
    ...{ differentArtifacts: 0, differentObjects: 0, repaid: 0, problems: 0 },
  };
  #worker: KilledWorker | undefined;
  #runs = 0;

  constructor(stage: Stage, options: Omit<ProofOptions, "address" | "namespace">) {
    this.#stage = stage;
    this.#options = options;
    this.#reviews = new ReviewPlayer(stage);
    this.#commits = new CommitPlayer(stage);
  }

  async prove(): Promise<CrashFigures> {
    const { maxKills } = this.#options;
    const review = await this.#playUndisturbed("review", this.#reviews);
    const commit = await this.#playUndisturbed("commit", this.#commits);
    const ofReviews = planWorkerKills(review.passed, maxKills);
    const ofCommits = planWorkerKills(commit.passed, maxKills);
    const ofCommands = planCommandKills(commit.trace.gitCalls, maxKills);
    this.#worker = await KilledWorker.start(this.#stage, [...ofReviews, ...ofCommits]);
    for (const kills of ofReviews) {
      const deaths = await this.#killWorker("review", kills, this.#reviews, review.trace);
      this.#figures.reviewKills += deaths;
    }
    for (const kills of ofCommits) {
      const deaths = await this.#killWorker("commit", kills, this.#commits, commit.trace);
      this.#figures.commitKills += deaths;
    }
    for (const kill of ofCommands) await this.#killCommand(kill, commit.trace);
    for (const end of this.#worker.ownEnds) this.#addProblem("worker", end);
    return { ...this.#figures };
  }

  async close(): Promise<void> {
    await this.#worker?.stop();
    this.#reviews.remove();
    this.#commits.remove();
  }

  async #playUndisturbed<Trace extends ReviewTrace | CommitTrace>(
    name: string,
    player: Player<Trace>,
  ): Promise<{ readonly trace: Trace; readonly passed: ReadonlyMap<string, number> }> {
    const worker = await KilledWorker.start(this.#stage, []);
    const trace = await player.play(this.#nameSession(name)).finally(async () => {
      this.#worker = worker;
    });
    const passed = await worker.stop();
    this.#worker = undefined;
    this.#judge(`undisturbed ${name}`, trace, trace, []);
    return { trace, passed };
  }

  async #killWorker<Trace extends ReviewTrace | CommitTrace>(
    name: string,
    kills: WorkerKills,
    player: Player<Trace>,
    undisturbed: Trace,
  ): Promise<number> {
    let trace: Trace | undefined;
    const deaths = await this.#worker?.kill(kills, async () => {
      trace = await player.play(this.#nameSession(name));
    });
    if (trace !== undefined) this.#judge(`${name} ${kills.join(", ")}`, trace, undisturbed, deaths ?? []);
    return this.#countDeaths(kills, deaths);
  }

  async #killCommand(kill: CommandKill, undisturbed: CommitTrace): Promise<void> {
    const trace = await this.#commits.play(this.#nameSession("command"), kill);
    if (trace.wasKilled) this.#figures.commandKills += 1;
    else this.#figures.missed += 1;
    this.#judge(`command ${kill.at} ${kill.nth}`, trace, undisturbed, []);
  }

  #countDeaths(kills: WorkerKills, deaths: readonly StoredAnswers[] = []): number {
    this.#figures.missed += kills.length - deaths.length;
    return deaths.length;
  }

  #judge<Trace extends ReviewTrace | CommitTrace>(
    name: string,
    trace: Trace,
    undisturbed: Trace,
    deaths: readonly StoredAnswers[],
  ): void {
    const { repaid, problems } = this.#stage.vendor.judge(deaths);
    const isSame = trace.artifact !== undefined && isDeepStrictEqual(trace.artifact, undisturbed.artifact);
    const hasSameObjects =
      !("commit" in trace) ||
      ("tree" in undisturbed && trace.tree === undisturbed.tree && trace.commit === trace.expected);
    this.#figures.repaid += repaid.length;
    if (!isSame) this.#figures.differentArtifacts += 1;
    if (!hasSameObjects) this.#figures.differentObjects += 1;
    for (const problem of [...trace.problems, ...problems]) this.#addProblem(name, problem);
    const faults = [
      ...repaid,
      ...(isSame ? [] : [`another artifact: ${JSON.stringify(trace.artifact)}`]),
      ...(hasSameObjects ? [] : ["other objects"]),
    ];
    this.#options.report(`${name}: ${faults.length === 0 ? "as undisturbed" : faults.join("; ")}`);
  }

  #addProblem(name: string, problem: string): void {
    this.#figures.problems += 1;
    this.#options.report(`${name}: ${problem}`);
  }

  #nameSession(kind: string): string {
    this.#runs += 1;
    return `${kind}-${this.#runs}`;
  }
}
