import type { Holdfast, SessionResult } from "../../../client/index.ts";
import { formatMovedChange, formatRevisionPrompt, formatTask } from "../agents/task-prompt.ts";
import { hasSchema, readArtifact } from "../artifacts/read-artifact.ts";
import { type ChangeRequest, isSameChange, type PinnedChange, pinChange } from "../changes/pin-change.ts";
import { type CheckedArtifact, checkArtifact } from "../evidence/check-artifact.ts";
import { createGitEvidenceReader } from "../evidence/git-evidence-reader.ts";
import { type Repository, withRepository } from "../repository/repository.ts";
import { accountForChange, type CoverageReport } from "./account-for-change.ts";
import { askAgent } from "./ask-agent.ts";
import type { CapabilityResult, CapabilityRun, Published, RunWatcher, Unfinished } from "./capability-run.ts";
import { finishArtifact } from "./finish-artifact.ts";
import { judgeArtifact, requiresRevision, type Verdict } from "./judge-artifact.ts";
import { readTotals } from "./read-totals.ts";
import { toMetadata } from "./run-plan.ts";
import { type Answer, isAnswer, readAnswerBefore, readPrompt, type StoredPrompt } from "./stored-prompts.ts";

// How a capability becomes an artifact. Every step is a run, or a prompt of one, under an id that follows from the session's:
// a process that begins again with the same session finds what is done, and continues from there.
//
// Invariants
//   R1. A prompt is sent once, and an answer is paid once, however many processes work on a session one after the other.
//   R2. An artifact is published only if it is about the change as it is then: a head that has moved sends the agent back to
//       the difference. One that an earlier process has published stays.
//   R3. The artifact is made again at most once because of the critic, and no failure of the critic or of that second
//       attempt costs the first artifact.

const MAX_MOVES = 3;

/** Carries out a capability, from the beginning or from where an earlier process has left. */
export async function runCapability(
  holdfast: Holdfast,
  run: CapabilityRun,
  watcher: RunWatcher = {},
): Promise<CapabilityResult> {
  return await new CapabilityRunner(holdfast, run, watcher).run();
}

/** What comes after a prompt: an answer, or nothing that could be published. */
type Settled = { readonly type: "answered"; readonly answer: Answer } | Unfinished;

class CapabilityRunner {
  readonly #holdfast: Holdfast;
  readonly #run: CapabilityRun;
  readonly #watcher: RunWatcher;
  #moves = 0;
  #change: PinnedChange | undefined;
  #published: Published | undefined;

  constructor(holdfast: Holdfast, run: CapabilityRun, watcher: RunWatcher) {
    this.#holdfast = holdfast;
    this.#run = run;
    this.#watcher = watcher;
  }

  async run(): Promise<CapabilityResult> {
    const { session, task, plan, critic } = this.#run;
    this.#watcher.onPhase?.("analysing");
    this.#published = await this.#watcher.findPublished?.();
    const stored = await this.#readPrompt("task");
    this.#change = stored?.change ?? (await this.#pin());
    const prompt = stored?.text ?? formatTask({ ...task, change: this.#change });
    const first = await this.#ask("task", prompt, { plan, ...this.#notes() });
    const revision = await this.#readPrompt("revision");
    const settled =
      revision === undefined ? await this.#followHead(first) : await this.#settleBefore(revision);
    if (settled.type === "unfinished") return settled;
    const made = await this.#check(settled.answer);
    if (made === undefined) return this.#stop(settled.answer);
    if (critic === undefined || this.#isStopping()) return await this.#publish(made, settled.answer);
    this.#watcher.onPhase?.("judging");
    const { artifact } = made;
    const verdict = await judgeArtifact(
      this.#holdfast,
      { session, agent: critic, task: this.#describeTask(prompt), artifact, title: this.#run.title },
      this.#watcher,
    );
    return await this.#revise(made, settled.answer, verdict);
  }

  /** Has the artifact made again if the critic requires it. A second attempt that fails leaves the first one. */
  async #revise(made: CheckedArtifact, first: Answer, verdict: Verdict): Promise<CapabilityResult> {
    if (!requiresRevision(verdict) || this.#isStopping())
      return await this.#publish(made, first, { verdict });
    this.#watcher.onPhase?.("revising");
    const { issues, revision_prompt } = verdict.critique;
    const answer = await this.#ask("revision", formatRevisionPrompt(issues, revision_prompt), {});
    const settled = await this.#followHead(answer);
    const isWorse = settled.type === "answered" && this.#isUnstructured(settled.answer);
    const again = settled.type === "answered" && !isWorse ? await this.#check(settled.answer) : undefined;
    if (again === undefined || settled.type === "unfinished")
      return await this.#publish(made, first, { verdict });
    return await this.#publish(again, settled.answer, { verdict, isRevised: true });
  }

  /** Sends the agent back to the difference as often as the head has moved while it worked. */
  async #followHead(answer: SessionResult | undefined): Promise<Settled> {
    for (let result: Answer | undefined = answer; ; ) {
      const key = `moved-${this.#moves + 1}`;
      const stored = await this.#readPrompt(key);
      let prompt = stored?.text;
      if (stored === undefined) {
        if (result === undefined || !isAnswer(result)) return this.#stop(result);
        if (this.#published !== undefined) return { type: "answered", answer: result };
        const now = await this.#pin();
        if (now === undefined || this.#change === undefined || isSameChange(now, this.#change))
          return { type: "answered", answer: result };
        if (this.#moves === MAX_MOVES) {
          const reason = `${now.label} has moved ${MAX_MOVES + 1} times while it was examined`;
          return { type: "unfinished", session: this.#run.session, outcome: { type: "moving", reason } };
        }
        this.#watcher.onPhase?.("head-moved");
        prompt = formatMovedChange(this.#change, now);
        this.#change = now;
      } else this.#change = stored.change ?? this.#change;
      this.#moves += 1;
      result = (await this.#ask(key, prompt ?? "", this.#notes())) ?? result;
    }
  }

  async #ask(
    key: string,
    prompt: string,
    notes: Parameters<typeof toMetadata>[0],
  ): Promise<SessionResult | undefined> {
    const { session, agent, title } = this.#run;
    const messageId = `${session}.${key}`;
    const ask = { session, agent, prompt, messageId, title, metadata: toMetadata(notes) };
    return await askAgent(this.#holdfast, ask, this.#watcher);
  }

  /** Checks the evidence of an answer's artifact. `undefined`: the answer has none. */
  async #check(answer: Answer): Promise<CheckedArtifact | undefined> {
    this.#watcher.onPhase?.("checking-evidence");
    const artifact = readArtifact(this.#run.capability, answer);
    if (artifact === undefined) return undefined;
    return await this.#withRepository(
      async (repository) => await checkArtifact(artifact, createGitEvidenceReader(repository)),
    );
  }

  async #publish(
    { artifact, evidence }: CheckedArtifact,
    answer: Answer,
    judged: { readonly verdict?: Verdict; readonly isRevised?: boolean } = {},
  ): Promise<CapabilityResult> {
    const { session } = this.#run;
    const change = this.#change;
    const coverage = await this.#account();
    const totals = await readTotals(this.#holdfast, session);
    this.#watcher.onPhase?.("done");
    return {
      type: "made",
      session,
      artifact: finishArtifact(artifact, change, coverage),
      ...(change === undefined ? {} : { change }),
      ...(coverage === undefined ? {} : { coverage }),
      ...totals,
      ...(evidence === undefined ? {} : { evidence }),
      isRevised: false,
      isUnstructured: this.#isUnstructured(answer),
      ...judged,
      ...(answer.repairs === undefined ? {} : { repairs: answer.repairs }),
    };
  }

  async #account(): Promise<CoverageReport | undefined> {
    const change = this.#change;
    if (change === undefined) return undefined;
    const { session } = this.#run;
    const staged = this.#published?.staged;
    return await this.#withRepository(
      async (repository) => await accountForChange(this.#holdfast, repository, { session, change, staged }),
    );
  }

  async #pin(): Promise<PinnedChange | undefined> {
    const { change } = this.#run.plan;
    if (change === undefined) return undefined;
    return await this.#withRepository(
      async (repository) => await pinChange(repository, change as ChangeRequest),
    );
  }

  async #withRepository<Result>(work: (repository: Repository) => Promise<Result>): Promise<Result> {
    const { folder, options } = this.#run.repository;
    return await withRepository(folder, options, work);
  }

  async #readPrompt(key: string): Promise<StoredPrompt | undefined> {
    const { session } = this.#run;
    return await readPrompt(this.#holdfast, session, `${session}.${key}`);
  }

  /** Takes the answer before a revision that an earlier process has asked for. */
  async #settleBefore(revision: StoredPrompt): Promise<Settled> {
    const answer = await readAnswerBefore(this.#holdfast, this.#run.session, revision);
    return answer === undefined ? this.#stop(undefined) : { type: "answered", answer };
  }

  #notes(): { readonly change?: PinnedChange } {
    return this.#change === undefined ? {} : { change: this.#change };
  }

  #describeTask(prompt: string): string {
    return `${this.#run.capability.taskPrompt.trim()}\n\n${prompt}`;
  }

  #isUnstructured({ output }: Answer): boolean {
    return output === undefined && hasSchema(this.#run.capability);
  }

  #isStopping(): boolean {
    return this.#watcher.isStopping?.() === true;
  }

  #stop(result: Answer | undefined): Unfinished {
    const outcome = result?.outcome ?? { type: "stopped" as const, reason: "the session has gone on" };
    return { type: "unfinished", session: this.#run.session, outcome };
  }
}
