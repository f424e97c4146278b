import type { Amounts } from "../../../src/core/budget/account-state.ts";
import { EMPTY_OUTBOX } from "../../../src/core/machine/outbox.ts";
import type {
  CallModelCommand,
  CallToolCommand,
  RunHookCommand,
} from "../../../src/core/machine/state/activity-command.ts";
import type { Command } from "../../../src/core/machine/state/command.ts";
import type { HookResult, ToolDigest } from "../../../src/core/machine/state/digest.ts";
import type { InboundMessage } from "../../../src/core/machine/state/inbound-message.ts";
import type { StepFailure } from "../../../src/core/machine/state/run-event.ts";
import type { StepCommand } from "../../../src/core/machine/state/step-forms.ts";
import type { TaskReport } from "../../../src/core/machine/state/task.ts";
import { isStep, STEPS } from "../../../src/core/machine/steps.ts";
import type { MemoryTranscript } from "../../../src/devkit/scenario/memory-transcript.ts";
import { driveTask } from "../../../src/devkit/scenario/plain/driver.ts";
import { Interrupted } from "../../../src/devkit/scenario/plain/interrupted.ts";
import type { Happening } from "../../../src/devkit/scenario/plain/machine.ts";
import { perform } from "../../../src/devkit/scenario/plain/perform.ts";
import { performCall } from "../../../src/devkit/scenario/plain/perform-call.ts";
import type { Stage } from "../../../src/devkit/scenario/plain/stage.ts";
import { beginChild } from "../../../src/devkit/scenario/plain/sub-agents.ts";
import { type HookPoint, isQuestion } from "../../../src/schema/hooks.ts";
import type { Message } from "../../../src/schema/message.ts";
import { type Chain, chained } from "./chain.ts";
import { Invariants } from "./invariants.ts";
import { hookLine } from "./lines.ts";
import { People } from "./people.ts";
import { must, same } from "./rules.ts";
import { long, type Setting } from "./script.ts";
import { priceFor, register, stageFor } from "./story.ts";
import { ScriptedVendor } from "./vendor.ts";

// Drives the machine on the scenario player's stage, one command or event at a time, and checks the numbered invariants
// of state.ts after every event.

/** How far an execution came before it was lost. */
export type Reached = "nothing" | "claimed" | "stored";

export function play(setting: Setting = {}): Run {
  return new Run(setting);
}

export class Run extends People {
  readonly setting: Setting;
  readonly stage: Stage;
  readonly transcript: MemoryTranscript;
  /** How often a vendor was paid, and each tool run. */
  readonly asked: CallModelCommand[] = [];
  readonly executed: CallToolCommand[] = [];
  readonly commands: Command[] = [];
  /** Words that filters were asked about. */
  readonly judged: string[] = [];
  readonly #vendor: ScriptedVendor;
  readonly #checks: Invariants;
  #words: readonly HookResult[] = [];
  /** The step that is at work. */
  #performed: StepCommand | undefined;
  #ids = 0;
  #links = 0;
  #isLinked = false;

  constructor(setting: Setting) {
    super();
    this.setting = setting;
    this.#vendor = new ScriptedVendor(setting, priceFor(setting), (messages) => this.#noteRequest(messages));
    this.stage = stageFor(setting, this.#vendor);
    this.transcript = this.stage.transcript;
    this.#vendor.machine = this.stage.machine;
    const { judged } = this;
    register(this.stage, setting, {
      hook: (point, context) => this.#hookAnswer(point, context),
      judged: (text) => judged.push(text),
    });
    const { kind, prompts: texts = kind === undefined ? ["hi"] : [] } = setting;
    const prompts = texts.map((text) => this.message(text));
    this.stage.machine.begin({
      session: setting.session ?? "s",
      mode: setting.mode ?? "run",
      idleTimeoutMs: setting.idleTimeoutMs ?? null,
      localSteps: setting.localSteps ?? true,
      requestedDefinition: { hash: "hash-asked" },
      prompts,
      ...(setting.share === undefined ? {} : { share: setting.share }),
      ...(kind === undefined ? {} : { continuation: { kind } }),
    });
    this.#checks = new Invariants(this, prompts);
    if (setting.held !== true) this.tell({ type: "started" });
  }

  get seen(): Invariants {
    return this.#checks;
  }

  /** I1: asked twice, and of a copy, the answer is the same. */
  get command(): Command {
    this.#mustBeAwaited();
    return this.#checks.command();
  }

  // What becomes of commands.

  /** Performs the command and tells the answer; of calls that run together, in call order. */
  step(): Chain {
    return this.#chain(async () => await this.#step());
  }

  async #step(): Promise<void> {
    const { command } = this;
    this.commands.push(command);
    if (command.type === "call-tools") {
      if (command.recordCommand !== undefined) this.tell(await this.perform(command.recordCommand));
      for (const { call } of command.calls) await this.#tool(call);
    } else if (command.type === "rotate") this.continueAsNew();
    else this.tell(await this.perform(stepOf(command)));
  }

  tool(call: number, isError = false): Chain {
    return this.#chain(async () => await this.#tool(call, isError));
  }

  async #tool(index: number, isError = false): Promise<void> {
    const command = this.call(index);
    if (command.child === undefined) this.tell(await this.performTool(command, isError));
    else if (this.setting.reports === undefined) await this.#runChild(command);
    else this.child(index);
  }

  /** The tool of this call asks a person, in place of a result. */
  asks(call: number, question = "question-1"): this {
    const command = this.call(call);
    const stored = this.stage.results.recall(command);
    if (stored !== undefined) return this.tell(stored);
    const branch = this.transcript.write(command);
    this.executed.push(command);
    const digest: ToolDigest = { branch, isError: false, tokens: 0, preview: "", question };
    return this.tell({ type: "tool-finished", call, digest });
  }

  /** The sub-agent of this call works from its task to its report, on a stage of its own. */
  async #runChild({ call, child }: CallToolCommand): Promise<void> {
    if (child === undefined) return;
    const tell = (happening: Happening) => void this.tell(happening);
    const working = await beginChild(this.stage, this.call(call), child, driveTask, tell);
    const report = await working.finish();
    this.tell({ type: "child-finished", call, report });
  }

  /** The sub-agent of this call begins, in a session of its own. */
  beginChild(call: number): this {
    const session = `${this.setting.session ?? "s"}.sub-${this.#ids++}`;
    this.call(call);
    return this.tell({ type: "child-started", call, session });
  }

  /** The sub-agent of this call reports what the test says: without a word, unless it says where one stands. */
  child(call: number, report: Partial<TaskReport> = {}): this {
    if (this.call(call).child?.session === undefined) this.beginChild(call);
    const command = this.call(call);
    const session = command.child?.session ?? "";
    const fate = this.setting.reports?.(command) ?? {};
    if (typeof fate === "string") return this.childGone(call, fate === "gone");
    const said = { ...reportOf(session), ...fate, ...report };
    return this.tell({ type: "child-finished", call, report: said });
  }

  /** It is terminated; what its record shows of it is what it has cost. */
  childGone(call: number, shown: boolean): this {
    const command = this.call(call);
    const session = command.child?.session;
    if (!shown || session === undefined) return this.tell({ type: "child-lost", call, reason: "it is gone" });
    const fate = this.setting.reports?.(command) ?? {};
    const report = { ...reportOf(session), ...(typeof fate === "string" ? {} : fate) };
    return this.tell({ type: "child-lost", call, reason: "it was terminated", report });
  }

  /** The command for this call; fails when it is not to be run now. */
  call(index: number): CallToolCommand {
    const { command } = this;
    const found =
      command.type === "call-tools" ? command.calls.find(({ call }) => call === index) : undefined;
    if (found === undefined) throw new Error(`Call ${index} does not run: ${command.type}`);
    return found;
  }

  get running(): readonly number[] {
    const { command } = this;
    return command.type === "call-tools" ? command.calls.map(({ call }) => call) : [];
  }

  /** The step did not get to its end, having reached so far. */
  setBack(setback: StepFailure, reached: Reached = "nothing", call?: number): Chain {
    return this.#chain(async () => await this.#setBack(setback, reached, call));
  }

  async #setBack(setback: StepFailure, reached: Reached, call = this.running[0] ?? 0): Promise<void> {
    const { command } = this;
    if (command.type === "call-tools") {
      const one = this.call(call);
      if (one.child !== undefined) {
        // A sub-agent does not hang on a worker: it is not lost with one, and does not go elsewhere.
        if (setback.type !== "lost" && setback.type !== "not-local") this.childGone(call, false);
        return;
      }
      await this.#losing(reached, async () => await this.performTool(one, false));
      this.tell({ type: "tool-failed", call, failure: setback });
      return;
    }
    const step = stepOf(command);
    await this.#losing(reached, async () => await this.perform(step));
    this.tell({ type: STEPS[step.type].failed, failure: setback });
  }

  async #losing(reached: Reached, work: () => Promise<unknown>): Promise<void> {
    if (reached === "nothing") return;
    const { results } = this.stage;
    results.dies = reached;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
    } finally {
      results.dies = undefined;
    }
  }

  lose(reached: Reached = "nothing", call?: number, attempts = 0): Chain {
    return this.setBack({ type: "lost", attempts }, reached, call);
  }

  fail(fault: string, message = `it was ${fault}`, call?: number): Chain {
    return this.setBack({ type: "failed", failure: { fault, message } }, "nothing", call);
  }

  /** The state goes to another run, as JSON; what the old one has in hand is gone. */
  continueAsNew(): this {
    same(this.command.type, "rotate", "the run is due for continue-as-new");
    same(this.state.outbox, EMPTY_OUTBOX, "everything is written before continue-as-new");
    const reserved = this.state.loop?.account?.reserved ?? {};
    same(Object.keys(reserved), [], "no sub-agent is lost by continue-as-new");
    this.#checks.telling({ type: "started" }, () => this.stage.machine.rotate());
    return this;
  }

  /** Goes on until this is the command. */
  until(type: Command["type"]): Chain {
    return this.#chain(async () => {
      for (let steps = 0; this.command.type !== type; steps++) {
        must(steps < 2000, `a run comes to ${type}`);
        await this.#step();
      }
    });
  }

  /** Goes on until there is nothing to do, and checks what must be true then. */
  settle(): Chain {
    return this.#chain(async () => {
      for (let steps = 0; this.command.type !== "finish" && this.command.type !== "wait"; steps++) {
        must(steps < 2000, "a run comes to its end");
        await this.#step();
      }
      if (this.command.type === "finish") this.checkEnd();
    });
  }

  checkEnd(): void {
    this.#checks.atEnd();
  }

  // Activities.

  async perform(command: StepCommand): Promise<Happening> {
    this.#performed = command;
    return await perform(this.stage, command);
  }

  #noteRequest(messages: readonly Message[]): void {
    const command = this.#performed;
    if (command?.type !== "call-model") throw new Error(`Asked a model for ${command?.type}`);
    this.asked.push(command);
    this.#checks.request(command, messages);
  }

  async performTool(command: CallToolCommand, isError: boolean): Promise<Happening> {
    const ran = this.stage.notes.ran.length;
    const text = long(`${command.toolName} ${isError ? "failed" : "ok"}`, this.setting);
    try {
      const endsLoop = this.setting.ends?.[command.toolName];
      const gives = { gives: text, ...(endsLoop === undefined ? {} : { endsLoop }) };
      return await performCall(this.stage, command, isError ? { fails: text } : gives);
    } finally {
      if (this.stage.notes.ran.length > ran) this.executed.push(command);
    }
  }

  #noteAsking(command: RunHookCommand): void {
    const { loopId, question } = command;
    this.#performed = undefined;
    this.hooked.push({
      loopId,
      behind: this.transcript.listEvents(loopId).length,
      line: hookLine(command),
    });
    const asked = "calls" in question ? question.calls : [question];
    this.#words = this.setting.words?.(command) ?? asked.map((): HookResult => ({ type: "yes" }));
  }

  /** Of a point with several calls, the words of one after the other. */
  #hookAnswer(point: HookPoint, context: object): unknown {
    const { guarded } = this.setting;
    if (point === "before-loop") {
      const refused = guarded !== undefined && JSON.stringify(context).includes(guarded);
      return refused ? { type: "no", reason: `not "${guarded}"` } : true;
    }
    if (this.#performed?.type === "run-hook") this.#noteAsking(this.#performed);
    const [word, ...rest] = this.#words;
    this.#words = rest;
    if (word === undefined || word.type === "yes") {
      const [text] = word?.notices ?? [];
      if (word?.textOnly === true) return { type: "force-text", ...(text === undefined ? {} : { text }) };
      return text === undefined ? true : { type: "inject", text };
    }
    const { hook: _, ...answer } = word;
    if (word.type === "no" && !isQuestion(point)) throw new Error(word.reason);
    return answer;
  }

  /** What was told is applied, and everything is checked. */
  tell(happening: Happening): this {
    this.#mustBeAwaited();
    this.#checks.telling(happening, () => this.stage.machine.tell(happening));
    return this;
  }

  protected message(text: string, id = `${this.setting.run ?? ""}m${++this.#ids}`): InboundMessage {
    return { id, text, atMs: this.now };
  }

  // Steps that follow each other.

  #chain(act: () => Promise<void>): Chain {
    if (this.#isLinked) return chained(this, act());
    this.#mustBeAwaited();
    return chained(this, this.following(Promise.resolve(), act));
  }

  /** Does one thing behind others; nobody else may touch the run until all are done. */
  async following(before: Promise<void>, act: () => Promise<void>): Promise<void> {
    this.#links += 1;
    try {
      await before;
      this.#isLinked = true;
      await act();
    } finally {
      this.#isLinked = false;
      this.#links -= 1;
    }
  }

  #mustBeAwaited(): void {
    if (this.#links > 0 && !this.#isLinked) throw new Error("What the run does must be awaited");
  }
}

const USED: Amounts = { turns: 1, tokens: 100, nanoUsd: 0, children: 0 };

function reportOf(session: string): TaskReport {
  return {
    session,
    outcome: { type: "answered", stopReason: "stop" },
    branch: "main",
    loopId: `${session}.sub.1`,
    tokens: 0,
    messages: 2,
    used: USED,
  };
}

function stepOf(command: Command): StepCommand {
  if (isStep(command)) return command;
  throw new Error(`Nothing to perform: ${command.type}`);
}
