import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import { COMPACTION_KIND } from "../../src/conversation/message-visibility.ts";
import { choosePrune } from "../../src/conversation/pruning/choose-prune.ts";
import { chooseRevert } from "../../src/conversation/pruning/choose-revert.ts";
import { replayPruned, toPrunedState } from "../../src/conversation/pruning/replay-prunes.ts";
import { getAllowance, sumReserved, sumUsed } from "../../src/core/budget/account.ts";
import { type Allowance, type Amounts, addAmounts, NO_AMOUNTS } from "../../src/core/budget/amounts.ts";
import { computeSpent } from "../../src/core/budget/limits.ts";
import { apply } from "../../src/core/machine/apply.ts";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import { next } from "../../src/core/machine/next.ts";
import { EMPTY_OUTBOX, type OutboxEvent } from "../../src/core/machine/outbox.ts";
import { hasRoom } from "../../src/core/machine/queues.ts";
import {
  buildRejectedMessage,
  buildUserContent,
  REJECTED_KIND,
} from "../../src/core/machine/rejected-message.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";
import type { CallingTools } from "../../src/core/machine/state/call-status.ts";
import type {
  CallModelCommand,
  CallToolCommand,
  CloseLoopCommand,
  Command,
  CompactCommand,
  FilterInputCommand,
  OpenLoopCommand,
  RecordCommand,
  RunHookCommand,
  UpdateDefinitionCommand,
} from "../../src/core/machine/state/command.ts";
import type {
  CallDigest,
  CompactDigest,
  DefinitionUpdateDigest,
  FilterDigest,
  HookDigest,
  HookResult,
  InputVerdict,
  LoopDigest,
  ModelDigest,
  OutputVerdict,
  PinnedDigest,
  QuestionRef,
  ToolDigest,
  ToolFacts,
} from "../../src/core/machine/state/digest.ts";
import type { RunEvent, StepFailure } from "../../src/core/machine/state/run-event.ts";
import type { InboundMessage, State } from "../../src/core/machine/state/state.ts";
import type { TaskReport } from "../../src/core/machine/task.ts";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import { countEntries } from "../../src/core/view/view.ts";
import type { ViewRequest } from "../../src/core/view/view-request.ts";
import { truncateForPreview } from "../../src/platform/text/preview.ts";
import type { Delegation, Limits, QueueMode, RepeatSettings } from "../../src/schema/definition.ts";
import type { HookPoint } from "../../src/schema/hooks.ts";
import type { AgentMessage, AssistantMessage, StopReason, Usage } from "../../src/schema/message.ts";
import type { PermissionPolicy } from "../../src/schema/permission.ts";
import type { ContinuationKind, Entry } from "../../src/schema/record.ts";
import type { ToolStrategy } from "../../src/schema/tool.ts";
import { FakeTranscript } from "./fake-transcript.ts";

// Drives the machine without a server: performs its commands on a transcript in memory with scripted answers, lets
// a test say what happens when, and checks the numbered invariants of state.ts after every single event.

export type CallScript = Pick<CallDigest, "name" | "invalid" | "facts" | "final"> & {
  readonly summary?: string;
  readonly arguments?: object;
};

export type Reply = {
  readonly text?: string;
  readonly calls?: readonly CallScript[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  readonly costUsd?: number | null;
  /** With stop reason "error": the vendor says in its answer that the context does not fit. */
  readonly overflow?: boolean;
  /** What was found of an answer that claims to be the structured output. */
  readonly output?: OutputVerdict;
  /** The text announces a call that is not made. */
  readonly announces?: boolean;
};

export const says = (text: string, rest: Omit<Reply, "text"> = {}): Reply => ({ text, ...rest });
export const calls = (...names: readonly (string | CallScript)[]): Reply => ({
  calls: names.map((name) => (typeof name === "string" ? { name } : name)),
});
export const usageOf = (input: number, output: number): Usage => ({
  input,
  output,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
});

export const NO_LIMITS: Limits = {
  maxTurns: null,
  maxTotalTokens: null,
  maxDurationMs: null,
  maxCostUsd: null,
};

export type Setting = {
  /** Answers of the model, one for each call of it; "done" when they are used up. */
  readonly replies?: readonly Reply[];
  readonly prompts?: readonly string[];
  readonly mode?: "run" | "interactive";
  readonly idleTimeoutMs?: number | null;
  readonly strategy?: ToolStrategy;
  readonly limits?: Partial<Limits>;
  /** What whoever has started the run has set aside for it. */
  readonly share?: Allowance;
  readonly delegation?: Delegation | undefined;
  /** What becomes of sub-agents, by the calls that started them: the same whenever it is asked. */
  readonly reports?: (command: CallToolCommand) => Fate;
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  readonly maxRetries?: number;
  readonly localSteps?: boolean;
  readonly tools?: Record<string, ToolFacts>;
  readonly kind?: ContinuationKind;
  /** Everything runs unless said. */
  readonly permissions?: Partial<PermissionPolicy>;
  readonly waitingCounts?: boolean;
  readonly approvalTimeoutMs?: number;
  /** Tokens of messages; no compaction unless said. */
  readonly compactAbove?: number | undefined;
  /** In a row; none unless said. */
  readonly nudges?: number | undefined;
  /** What becomes of calls that fail in the same way again and again; nothing by default. */
  readonly repeats?: RepeatSettings | undefined;
  /** Prompts that hold this are rejected, and with them all that came together. */
  readonly rejects?: string;
  /** They are refused by this hook then, and not by a filter. */
  readonly rejectedBy?: string;
  /** Points that have hooks. */
  readonly hooks?: readonly HookPoint[] | undefined;
  /** What they answer, by what they are asked; yes unless said. The same whenever it is asked again. */
  readonly words?: (command: RunHookCommand) => readonly HookResult[];
  /** What the filters say of words that wait; nobody is asked when absent. */
  readonly judges?: Judge | undefined;
  /** What other definitions say, by their hashes, or why the run may not be moved to them; the same as before unless said. */
  readonly definitions?: Readonly<Record<string, Partial<PinnedDigest> | { readonly refused: string }>>;
  readonly transcript?: FakeTranscript;
  readonly session?: string;
  /** The temporal run that goes first. */
  readonly run?: string;
  /** Leaves "begun" to the test. */
  readonly held?: boolean;
  /** The state goes through JSON after every event. */
  readonly throughJson?: boolean;
  /** Only what is cheap is checked: for very long runs. */
  readonly light?: boolean;
};

function reportOf(session: string): TaskReport {
  return {
    session,
    outcome: { type: "answered", stopReason: "stop" },
    branch: "main",
    loopId: `${session}.sub.1`,
    tokens: 0,
    messages: 2,
    used: { turns: 1, tokens: 100, nanoUsd: 0, children: 0 },
  };
}

/** What a sub-agent comes to, or that it is terminated; `unseen` with no record of it. */
export type Fate = Partial<TaskReport> | "gone" | "unseen";

/** What an agent counts for beside what it uses. */
const ONE_MORE: Amounts = { ...NO_AMOUNTS, children: 1 };

/** A warning, a rejection, or nothing. */
export type Judge = (
  message: InboundMessage,
) => { readonly warn: string } | { readonly reject: string } | undefined;

function verdictOn(message: InboundMessage, judges: Judge | undefined): InputVerdict {
  const { id } = message;
  const said = judges?.(message);
  if (said === undefined) return { id, type: "pass" };
  return "warn" in said
    ? { id, type: "warn", text: `[Warning: ${said.warn}]` }
    : { id, type: "reject", reason: said.reject };
}

type Happening = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

/** How far an execution came before it was lost. */
export type Reached = "nothing" | "claimed" | "stored";

type Accepted = { readonly id: string; readonly queue: "prompt" | "steering" | "follow-up" };

const ALLOW_ALL: PermissionPolicy = { rules: [], otherwise: "allow" };
const TOOL: ToolFacts = { replay: "unsafe", quick: false };
export const TOOLS: Record<string, ToolFacts> = {
  bash: { ...TOOL, timeoutMs: 60_000 },
  edit: { replay: "idempotent", quick: false },
  read: { replay: "pure", quick: true },
  /** An agent. */
  scout: {
    replay: "idempotent",
    quick: false,
    child: {
      definitionHash: "hash-child",
      limits: { maxTurns: 10, maxTotalTokens: 1_000_000, maxDurationMs: 300_000, maxCostUsd: null },
      delegation: { maxDepth: 3, maxChildren: 5 },
    },
  },
};

/** What stands in texts that must never be in a state. */
export const SECRET_OF_TEXT = "\u00a7unseen";

export function play(setting: Setting = {}): Play {
  return new Play(setting);
}

export class Play {
  readonly setting: Setting;
  readonly transcript: FakeTranscript;
  state: State;
  /** The Temporal run, which changes with continue-as-new. */
  run: string;
  now = 1_000;
  /** How often a vendor was paid, and each tool run. */
  readonly asked: CallModelCommand[] = [];
  readonly executed: CallToolCommand[] = [];
  readonly accepted: Accepted[] = [];
  readonly forgotten = new Set<string>();
  readonly commands: Command[] = [];
  /** Phase, event, phase behind it. */
  readonly moves = new Set<string>();
  /** Each asking of hooks, behind so many events of its loop. */
  readonly hooked: { readonly loopId: string; readonly behind: number; readonly line: string }[] = [];
  /** What each sub-agent that is over has used, with itself as one of `children`; and in which turn it was called. */
  readonly settled: { readonly loopId: string; readonly turn: number; readonly used: Amounts }[] = [];
  /** The most sub-agents that were at work at one time. */
  sideBySide = 0;
  largestState = 0;
  #modelCalls = new Map<string, number>();
  #answers: { position: number; calls: readonly CallDigest[] }[] = [];
  #heard = new Set<string>();
  #checked: State | undefined;
  #json: string;
  #read: State | undefined;
  /** Branches that the model has gone back from, in order. */
  readonly left: string[] = [];
  /** Messages that filters were asked about. */
  readonly judged: string[] = [];
  /** Positions of entries that no model sees. */
  readonly #unseen = new Set<number>();
  #atWork = 0;
  #ids = 0;
  #runs = 1;

  constructor(setting: Setting) {
    this.setting = setting;
    this.transcript = setting.transcript ?? new FakeTranscript();
    this.run = setting.run ?? "run1";
    const prompts = (setting.prompts ?? ["hi"]).map((text) => this.#message(text));
    for (const { id } of prompts) this.accepted.push({ id, queue: "prompt" });
    this.state = buildInitialState({
      session: setting.session ?? "s",
      mode: setting.mode ?? "run",
      idleTimeoutMs: setting.idleTimeoutMs ?? null,
      localSteps: setting.localSteps ?? true,
      asked: { hash: "hash-asked" },
      prompts,
      ...(setting.share === undefined ? {} : { share: setting.share }),
      nowMs: this.now,
    });
    this.#json = JSON.stringify(this.state);
    if (setting.held !== true) this.tell({ type: "begun" });
  }

  // What people do.

  steer(text: string, id?: string): this {
    return this.tell({ type: "steered", message: this.#message(text, id) });
  }
  followUp(text: string, id?: string): this {
    return this.tell({ type: "followed-up", message: this.#message(text, id) });
  }
  prompt(text: string, id?: string): this {
    return this.tell({ type: "prompted", message: this.#message(text, id) });
  }
  stop(reason = "enough"): this {
    return this.tell({ type: "stop-requested", reason });
  }
  setMode(queue: "steering" | "follow-up", mode: QueueMode): this {
    return this.tell({ type: "queue-mode-set", queue, mode });
  }
  clear(queue: "steering" | "follow-up" | "all"): this {
    return this.tell({ type: "queues-cleared", queue });
  }
  answer(toolCallId: string, yes = true, always = false): this {
    const asked = listPendingApprovals(this.state).find((one) => one.toolCallId === toolCallId);
    if (asked?.question !== undefined) {
      const said = yes ? { answer: "accept" as const, values: "values-1" } : { answer: "decline" as const };
      return this.tell({
        type: "approval-answered",
        toolCallId,
        answer: { type: "answer", ...said },
        by: "ada",
      });
    }
    const answer = yes ? { type: "approve" as const, always } : { type: "refuse" as const, reason: "no" };
    return this.tell({ type: "approval-answered", toolCallId, answer });
  }
  compact(focus?: string): this {
    return this.tell({ type: "compaction-asked", ...(focus === undefined ? {} : { focus }) });
  }
  update(hash: string): this {
    return this.tell({ type: "update-asked", hash });
  }
  rotationDue(): this {
    return this.tell({ type: "rotation-due" });
  }
  pass(ms: number): this {
    this.now += ms;
    return this;
  }
  timePassed(): this {
    return this.tell({ type: "time-passed" });
  }

  // What becomes of commands.

  /** I1: asked twice, and of a copy, the answer is the same. */
  get command(): Command {
    const command = next(this.state);
    if (this.setting.light !== true && this.#checked !== this.state) {
      same(next(this.state), command, "I1: next asked twice gives the same");
      const copy = next(this.#copy());
      if (JSON.stringify(copy) !== JSON.stringify(command)) {
        same(throughJson(copy), throughJson(command), "I1: next of a copy gives the same");
      }
      this.#checked = this.state;
    }
    return command;
  }

  /** The state, read back from JSON: once for each, as nothing may change it. */
  #copy(): State {
    this.#read ??= JSON.parse(this.#json) as State;
    return this.#read;
  }

  get phase(): State["phase"]["type"] {
    return this.state.phase.type;
  }

  /** Performs the command and tells the answer; of calls that run together, in call order. */
  step(): this {
    const { command } = this;
    this.commands.push(command);
    switch (command.type) {
      case "call-tools":
        if (command.beside !== undefined) this.tell(this.perform(command.beside));
        for (const { call } of command.calls) this.tool(call);
        return this;
      case "rotate":
        return this.continueAsNew();
      case "wait":
      case "finish":
        throw new Error(`Nothing to perform: ${command.type}`);
      default:
        return this.tell(this.perform(command));
    }
  }

  tool(call: number, isError = false): this {
    if (this.call(call).child !== undefined) return this.child(call);
    return this.tell(this.performTool(this.call(call), isError));
  }

  /** The tool of this call asks a person, in place of a result. */
  asks(call: number, question = "question-1"): this {
    return this.tell(this.performTool(this.call(call), false, "stored", question));
  }

  /** The sub-agent of this call begins, in a session of its own. */
  beginChild(call: number): this {
    const session = `${this.setting.session ?? "s"}.sub-${this.#ids++}`;
    this.call(call);
    return this.tell({ type: "child-started", call, session });
  }

  /** The sub-agent of this call comes to its end, without a word unless the report says where one stands. */
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
    if (!shown || session === undefined) return this.tell({ type: "child-lost", call, how: "it is gone" });
    const fate = this.setting.reports?.(command) ?? {};
    const report = { ...reportOf(session), ...(typeof fate === "string" ? {} : fate) };
    return this.tell({ type: "child-lost", call, how: "it was terminated", report });
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
  setBack(setback: StepFailure, reached: Reached = "nothing", call = this.running[0] ?? 0): this {
    const { command } = this;
    if (command.type === "call-tools") {
      if (this.call(call).child !== undefined) return this.childSetBack(call, setback);
      this.performTool(this.call(call), false, reached);
      return this.tell({ type: "tool-set-back", call, setback });
    }
    if (command.type === "wait" || command.type === "finish" || command.type === "rotate") {
      throw new Error(`Nothing to set back: ${command.type}`);
    }
    this.perform(command, reached);
    const type = (
      {
        "open-loop": "open-set-back",
        "call-model": "model-set-back",
        "close-loop": "close-set-back",
        record: "record-set-back",
        compact: "compact-set-back",
        "run-hook": "hook-set-back",
        "filter-input": "filter-set-back",
        "move-definition": "move-set-back",
      } as const
    )[command.type];
    return this.tell({ type, setback });
  }

  /** A sub-agent does not hang on a worker: it is not lost with one, and does not go elsewhere. */
  private childSetBack(call: number, { type }: StepFailure): this {
    if (type === "lost" || type === "elsewhere") return this;
    return this.childGone(call, false);
  }

  lose(reached: Reached = "nothing", call?: number, attempts = 0): this {
    return this.setBack({ type: "lost", attempts }, reached, call);
  }

  fail(fault: string, message = `it was ${fault}`, call?: number): this {
    return this.setBack({ type: "failed", failure: { fault, message } }, "nothing", call);
  }

  /** The state goes to another run, as JSON; what the old one has in hand is gone. */
  continueAsNew(): this {
    expect(this.command.type).toBe("rotate");
    expect(this.state.outbox).toEqual(EMPTY_OUTBOX);
    expect(this.state.loop?.account?.open ?? {}, "no sub-agent is lost by continue-as-new").toEqual({});
    this.state = throughJson(this.state);
    this.run = `run${++this.#runs}`;
    return this.tell({ type: "begun" });
  }

  /** Goes on until this is the command. */
  until(type: Command["type"]): this {
    for (let steps = 0; this.command.type !== type; steps++) {
      must(steps < 2000, `a run comes to ${type}`);
      this.step();
    }
    return this;
  }

  /** Goes on until there is nothing to do, and checks what must be true then. */
  settle(): this {
    for (let steps = 0; this.command.type !== "finish" && this.command.type !== "wait"; steps++) {
      must(steps < 2000, "a run comes to its end");
      this.step();
    }
    if (this.command.type === "finish") this.checkEnd();
    return this;
  }

  // Activities.

  perform(
    command: Exclude<Command, { type: "call-tools" | "wait" | "rotate" | "finish" }>,
    reached: Reached = "stored",
  ): Happening {
    switch (command.type) {
      case "open-loop":
        return { type: "loop-opened", digest: this.#openLoop(command, reached) };
      case "call-model":
        return { type: "model-replied", digest: this.#callModel(command, reached) };
      case "compact":
        return { type: "compacted", digest: this.#compact(command, reached) };
      case "filter-input":
        return { type: "input-filtered", digest: this.#filterInput(command, reached) };
      case "close-loop": {
        const { branch, result } = this.#write(command, command.loopId, reached, () => {
          const loop = this.transcript.loops.find(({ loopId }) => loopId === command.loopId);
          if (loop !== undefined) loop.outcome = command.outcome;
          const { answer } = command;
          const entry =
            answer === undefined ? undefined : this.transcript.entryAt(command.branch, answer)?.message;
          return entry === undefined ? {} : { text: textOf(entry), position: answer };
        });
        return { type: "loop-closed", digest: { ...(result as object), branch } };
      }
      case "move-definition":
        return { type: "definition-moved", digest: this.#move(command, reached) };
      case "run-hook":
        return { type: "hooks-answered", digest: this.#runHook(command, reached) };
      case "record": {
        const { branch } = this.#write(command, command.loopId ?? "", reached, () => {
          this.transcript.putInbox(command.inbox);
          return {};
        });
        return { type: "recorded", digest: { branch } };
      }
    }
  }

  performTool(
    command: CallToolCommand,
    isError: boolean,
    reached: Reached = "stored",
    asks?: QuestionRef,
  ): Happening {
    const finished = (digest: ToolDigest): Happening => ({
      type: "tool-finished",
      call: command.call,
      digest,
    });
    const lost: ToolDigest = { branch: command.branch, isError, tokens: 0, preview: "" };
    if (reached === "nothing") return finished(lost);
    const key = { run: this.run, number: command.number, call: command.call };
    const claimed = this.transcript.claim(key, command.generation, command, command.outbox);
    if ("result" in claimed) return finished({ ...(claimed.result as ToolDigest), branch: claimed.branch });
    this.executed.push(command);
    if (reached === "claimed") return finished(lost);
    const text = `${command.toolName} ${isError ? "failed" : "ok"}`;
    const request = this.#requestOf(command);
    const message: AgentMessage = {
      role: "toolResult",
      toolCallId: command.toolCallId,
      toolName: command.toolName,
      content: [{ type: "text", text: this.#long(text) }],
      isError,
      timestamp: this.now,
    };
    const digest: ToolDigest = {
      branch: "",
      isError,
      tokens: estimateMessage(message),
      preview: text,
      ...(request === undefined ? {} : { request }),
    };
    const { fork: _, ...rest } = command;
    const place = { ...rest, branch: claimed.branch };
    const entry = { position: command.position, origin: "tool" as const, message };
    const made = asks === undefined ? digest : { ...digest, tokens: 0, preview: "", asks };
    const entries = asks === undefined ? [entry] : [];
    const stored = this.transcript.store(key, command.generation, place, EMPTY_OUTBOX, entries, made);
    return finished({ ...(stored.result as ToolDigest), branch: stored.branch });
  }

  /** What a call wants of the view that it was given, as the activity decides it. */
  #requestOf({ view, branch, answer, call }: CallToolCommand): ViewRequest | undefined {
    if (view === undefined) return undefined;
    const entries = this.transcript.entries(branch).slice(0, answer);
    const message = this.transcript.entryAt(branch, answer)?.message;
    const calls =
      message?.role === "assistant" ? message.content.filter(({ type }) => type === "toolCall") : [];
    const given = (calls[call] as { arguments: { tokens?: number; memo?: string; step?: string } }).arguments;
    if (given.step !== undefined) {
      const asked = { category: "failure" as const, step: given.step, summary: "a lesson" };
      return chooseRevert(view, entries, answer, asked);
    }
    const memoTokens = given.memo === undefined ? undefined : 10;
    const chosen = choosePrune(view, entries, answer, given.tokens ?? 0, memoTokens);
    return chosen.type === "pruned" ? chosen.request : undefined;
  }

  get changesViews(): boolean {
    return Object.values(this.setting.tools ?? {}).some(({ view }) => view === true);
  }

  #openLoop(command: OpenLoopCommand, reached: Reached): LoopDigest {
    const step = this.#stepOf(command);
    const stored = this.transcript.steps.get(step)?.stored;
    if (stored !== undefined) return stored.result as LoopDigest;
    const { transcript } = this;
    const loopId = `${command.session}.test.${transcript.loops.length + 1}`;
    const kind = command.continuation?.kind ??
      this.setting.kind ?? {
        type: transcript.loops.length === 0 ? ("initial" as const) : ("default" as const),
      };
    const before = transcript.entries(transcript.head);
    const pinned = { ...this.#pinned(command.definitionHash), warnings: [] };
    if (reached !== "stored") {
      return { ...pinned, loopId, kind, branch: "main", from: 0, tokensBefore: 0, entries: [] };
    }
    const { rejected, refused, warnings } = this.#opinion(command);
    const seen = new Set<string>();
    const waiting = transcript.inbox.map((message) => ({ ...message, origin: "inbox" as const }));
    const all = [...waiting, ...command.prompts];
    const wanted = (rejected === undefined ? all : all.filter(({ id }) => id === refused)).filter(
      ({ id }) => {
        const fresh = !seen.has(id) && !transcript.isEntered(transcript.head, id);
        seen.add(id);
        return fresh;
      },
    );
    const from = before.length;
    const entries = wanted.map(({ id, text, ref, atMs, origin }, index) => ({
      position: from + index,
      origin,
      messageId: id,
      message:
        rejected === undefined
          ? userMessage(text ?? `text of ${ref}`, atMs, warnings.get(id))
          : buildRejectedMessage(text ?? `text of ${ref}`, rejected, atMs),
    }));
    if (rejected !== undefined) for (const { position } of entries) this.#unseen.add(position);
    transcript.openLoop(loopId, kind);
    const place = { loopId, branch: transcript.head, base: from };
    const branch = transcript.write(this.run, place, EMPTY_OUTBOX, entries);
    transcript.inbox = rejected === undefined ? [] : transcript.inbox.filter(({ id }) => id !== refused);
    const parentLoopId = transcript.loops.at(-2)?.loopId;
    const digest: LoopDigest = {
      ...pinned,
      loopId,
      ...(parentLoopId === undefined ? {} : { parentLoopId }),
      kind,
      branch,
      from,
      tokensBefore: before.reduce((sum, { tokens }) => sum + tokens, 0),
      entries: entries.map(({ origin, messageId, message }) => ({
        origin,
        messageId,
        tokens: estimateMessage(message),
        ...(rejected === undefined ? {} : { refused: true as const }),
      })),
      ...(rejected === undefined ? {} : { rejected }),
      ...(rejected === undefined || this.setting.rejectedBy === undefined
        ? {}
        : { rejectedBy: this.setting.rejectedBy }),
    };
    transcript.steps.set(step, { generation: command.generation, stored: { branch, result: digest } });
    return digest;
  }

  /** What is pinned of a definition: of the run's own, and of one that it is moved to. */
  #pinned(hash = ""): PinnedDigest {
    const {
      strategy,
      limits,
      steeringMode,
      followUpMode,
      maxRetries,
      tools,
      definitions = {},
    } = this.setting;
    const other = definitions[hash];
    return {
      definitionHash: other === undefined ? "hash" : hash,
      agentName: "tester",
      model: "model-1",
      limits: { ...NO_LIMITS, ...limits },
      toolStrategy: strategy ?? { type: "parallel" as const },
      steeringMode: steeringMode ?? "one-at-a-time",
      followUpMode: followUpMode ?? "one-at-a-time",
      maxRetries: maxRetries ?? 3,
      tools: tools ?? TOOLS,
      ...(this.setting.delegation === undefined ? {} : { delegation: this.setting.delegation }),
      permissions: { ...ALLOW_ALL, ...this.setting.permissions },
      approvals: {
        timeoutMs: this.setting.approvalTimeoutMs ?? null,
        countsAsDuration: this.setting.waitingCounts ?? false,
      },
      ...(this.setting.compactAbove === undefined
        ? {}
        : { context: { compactAbove: this.setting.compactAbove } }),
      ...(this.setting.nudges === undefined ? {} : { nudges: this.setting.nudges }),
      ...(this.setting.repeats === undefined ? {} : { repeats: this.setting.repeats }),
      ...(this.setting.hooks === undefined ? {} : { hooks: this.setting.hooks }),
      ...(this.setting.judges === undefined ? {} : { filters: true as const }),
      ...(other === undefined || "refused" in other ? {} : other),
    };
  }

  #move(command: UpdateDefinitionCommand, reached: Reached): DefinitionUpdateDigest {
    const { to, limits, loopId } = command;
    const { branch, result } = this.#write(command, loopId, reached, (): object => {
      const other = this.setting.definitions?.[to];
      if (other !== undefined && "refused" in other) return { type: "refused", reason: other.refused };
      const pinned = this.#pinned(to);
      const names = Object.keys(limits) as (keyof Limits)[];
      const changed = names.filter(
        (name) => other?.limits !== undefined && limits[name] !== other.limits[name],
      );
      return {
        type: "moved",
        pinned,
        limits: Object.fromEntries(changed.map((name) => [name, pinned.limits[name]])),
        changes: [],
        warnings: [],
        terms: `terms of ${to}`,
      };
    });
    return { ...(result as DefinitionUpdateDigest), branch };
  }

  #runHook(command: RunHookCommand, reached: Reached): HookDigest {
    const lost: HookDigest = { branch: command.branch, words: [] };
    if (reached === "nothing") return lost;
    const key = { run: this.run, number: command.number, call: 0 };
    const claimed = this.transcript.claim(key, command.generation, command, command.outbox);
    if ("result" in claimed) return { ...(claimed.result as HookDigest), branch: claimed.branch };
    const { loopId, ask } = command;
    const behind = this.transcript.eventsOf(loopId).length;
    this.hooked.push({ loopId, behind, line: hookLine(command) });
    if (reached === "claimed") return lost;
    const asked = "calls" in ask ? ask.calls : [ask];
    const words = this.setting.words?.(command) ?? asked.map((): HookResult => ({ type: "yes" }));
    const { fork: _, ...rest } = command;
    const place = { ...rest, branch: claimed.branch };
    const stored = this.transcript.store(key, command.generation, place, EMPTY_OUTBOX, [], { words });
    return { ...(stored.result as HookDigest), branch: stored.branch };
  }

  /** The prompts first, then what waited. */
  #opinion({ prompts }: OpenLoopCommand) {
    const { rejects, judges } = this.setting;
    const warnings = new Map<string, string>();
    const bad = prompts.some(
      ({ origin, text }) => rejects !== undefined && origin === "prompt" && text?.includes(rejects),
    );
    if (bad) return { rejected: `not "${rejects}"`, warnings };
    const waiting = [...this.transcript.inbox, ...prompts.filter(({ origin }) => origin !== "prompt")];
    for (const message of judges === undefined ? [] : waiting) {
      const verdict = verdictOn(message, judges);
      if (verdict.type === "reject") return { rejected: verdict.reason, refused: message.id, warnings };
      if (verdict.type === "warn") warnings.set(message.id, verdict.text);
    }
    return { warnings };
  }

  #callModel(command: CallModelCommand, reached: Reached): ModelDigest {
    const key = { run: this.run, number: command.number, call: 0 };
    const empty: ModelDigest = {
      branch: command.branch,
      stopReason: "stop",
      usage: usageOf(0, 0),
      costUsd: 0,
      tokens: 0,
      calls: [],
      preview: "",
      attempts: 1,
    };
    if (reached === "nothing") return empty;
    const claimed = this.transcript.claim(key, command.generation, command, command.outbox);
    if ("result" in claimed) return { ...(claimed.result as ModelDigest), branch: claimed.branch };
    this.asked.push(command);
    this.#checkRequest(command, claimed.branch);
    if (reached === "claimed") return empty;
    const { reply, ordinal } = this.#replyFor(command);
    const scripts = reply.calls ?? [];
    const text = reply.text ?? (scripts.length === 0 ? "" : "calling");
    const message: AssistantMessage = {
      role: "assistant",
      content: [
        { type: "text", text: this.#long(text) },
        ...scripts.map(({ name, arguments: given }, index) => ({
          type: "toolCall" as const,
          id: `c${ordinal}.${index}`,
          name,
          arguments: given ?? { text: SECRET_OF_TEXT },
        })),
      ],
      stopReason: reply.stopReason ?? (scripts.length === 0 ? "stop" : "toolUse"),
      model: "model-1",
      provider: "test",
      usage: reply.usage ?? usageOf(10, 5),
      timestamp: this.now,
    };
    const digest: ModelDigest = {
      branch: "",
      stopReason: message.stopReason,
      usage: message.usage,
      costUsd: reply.costUsd === undefined ? 0 : reply.costUsd,
      tokens: estimateMessage(message),
      calls: scripts.map(({ name, invalid, summary, facts, final }, index) => ({
        id: `c${ordinal}.${index}`,
        name,
        summary: summary ?? "",
        ...(invalid === undefined ? {} : { invalid }),
        ...(facts === undefined ? {} : { facts }),
        ...(final === true ? { final } : {}),
      })),
      ...(reply.overflow === true ? { overflow: true } : {}),
      ...(reply.output === undefined ? {} : { output: reply.output }),
      ...(reply.announces === true ? { announces: true } : {}),
      preview: truncateForPreview(text, 256),
      attempts: 1,
    };
    const { fork: _, ...rest } = command;
    const place = { ...rest, branch: claimed.branch };
    const entry = { position: command.position, origin: "model" as const, message };
    const stored = this.transcript.store(key, command.generation, place, EMPTY_OUTBOX, [entry], digest);
    return { ...(stored.result as ModelDigest), branch: stored.branch };
  }

  /**
   * All but the newest two spans give way to a text; where there are not more, nothing changes, but that words of a
   * context which was refused are cut.
   */
  #compact(command: CompactCommand, reached: Reached): CompactDigest {
    const unchanged: CompactDigest = {
      branch: command.branch,
      messagesBefore: 0,
      messagesAfter: 0,
      tokensBefore: 0,
      tokensAfter: 0,
      loopsCompacted: 0,
    };
    if (reached === "nothing") return unchanged;
    const key = { run: this.run, number: command.number, call: 0 };
    const claimed = this.transcript.claim(key, command.generation, command, command.outbox);
    if ("result" in claimed) return { ...(claimed.result as CompactDigest), branch: claimed.branch };
    if (reached === "claimed") return unchanged;
    const { spans } = this.state.view;
    const old = spans.slice(0, -2);
    const first = old[0];
    const last = old.at(-1);
    const data = { sections: [{ text: "what was said before" }] };
    const message = { role: "extension" as const, kind: COMPACTION_KIND, data, timestamp: this.now };
    const turns = old.reduce((sum, span) => sum + span.turns, 0);
    const instead = { position: command.position, section: 0 };
    const halves = spans.map((span) => ({ ...span, wordChars: 400, tokens: Math.floor(span.tokens / 2) }));
    const digest: CompactDigest =
      first === undefined || last === undefined
        ? { ...unchanged, ...(command.why.type === "overflow" ? { spans: halves } : {}) }
        : {
            ...unchanged,
            spans: [{ from: first.from, to: last.to, turns, tokens: 10, instead }, ...spans.slice(-2)],
            messagesBefore: countEntries(this.state.view),
            messagesAfter: 3,
            tokensBefore: command.tokens,
            tokensAfter: 10 + spans.slice(-2).reduce((sum, { tokens }) => sum + tokens, 0),
            loopsCompacted: 1,
          };
    const { fork: _, ...rest } = command;
    const place = { ...rest, branch: claimed.branch };
    const entries =
      digest.spans === undefined ? [] : [{ position: command.position, origin: "machine" as const, message }];
    const stored = this.transcript.store(key, command.generation, place, EMPTY_OUTBOX, entries, digest);
    return { ...(stored.result as CompactDigest), branch: stored.branch };
  }

  /** As far as the first that is refused. */
  #filterInput(command: FilterInputCommand, reached: Reached): FilterDigest {
    const nothing: FilterDigest = { branch: command.branch, verdicts: [] };
    if (reached === "nothing") return nothing;
    const key = { run: this.run, number: command.number, call: 0 };
    const claimed = this.transcript.claim(key, command.generation, command, command.outbox);
    if ("result" in claimed) return { ...(claimed.result as FilterDigest), branch: claimed.branch };
    const verdicts: InputVerdict[] = [];
    for (const message of command.messages) {
      this.judged.push(message.text ?? "");
      const verdict = verdictOn(message, this.setting.judges);
      verdicts.push(verdict);
      if (verdict.type === "reject") break;
    }
    if (reached === "claimed") return nothing;
    const { fork: _, ...rest } = command;
    const place = { ...rest, branch: claimed.branch };
    const digest = { branch: "", verdicts };
    const stored = this.transcript.store(key, command.generation, place, EMPTY_OUTBOX, [], digest);
    return { ...(stored.result as FilterDigest), branch: stored.branch };
  }

  #replyFor(command: CallModelCommand): { reply: Reply; ordinal: number } {
    const key = `${this.run}/${command.number}`;
    const ordinal = this.#modelCalls.get(key) ?? this.#modelCalls.size;
    this.#modelCalls.set(key, ordinal);
    return { reply: this.setting.replies?.[ordinal] ?? says("done"), ordinal };
  }

  /** What a vendor would refuse: nothing new, an orphan; and a view that does not cover the conversation. */
  #checkRequest(command: CallModelCommand, branch: string): void {
    if (this.setting.light === true) return;
    const entries = this.transcript.entries(branch);
    must(command.view.branch === command.branch, "the view is of the branch that is written to");
    if (this.changesViews) this.#checkChangedView(command, branch);
    else if (
      this.#unseen.size === 0 &&
      this.setting.compactAbove === undefined &&
      !this.commands.some(({ type }) => type === "compact")
    ) {
      same(command.view.ranges, [{ from: 0, to: command.position }], "the model sees everything");
    }
    this.#checkView(command.view.ranges, entries);
    must(entries.length >= command.position, "the outbox is written before the model is asked");
    const elsewhere = (one: string, position: number) => this.transcript.entryAt(one, position)?.message;
    const messages = materialise({ ...command.view, branch }, entries, { readMessage: elsewhere });
    must(/user|toolResult/.test(messages.at(-1)?.role ?? ""), "the model is asked behind something new");
    expectNoOrphans(messages);
  }

  /** Words of people stay, and events say the same as the view. */
  #checkChangedView({ view }: CallModelCommand, branch: string): void {
    const elsewhere = (one: string, position: number) => this.transcript.entryAt(one, position)?.message;
    const entries = this.transcript.entries(branch);
    const messages = materialise({ ...view, branch }, entries, { readMessage: elsewhere });
    const spoken = entries.filter(({ origin, message }) => message.role === "user" && origin !== "machine");
    for (const { message } of spoken) {
      must(messages.includes(message as (typeof messages)[number]), "words of people stay in the view");
    }
    const events = this.transcript.loops.flatMap(({ loopId }) => this.transcript.eventsOf(loopId));
    const replayed = replayPruned(
      events.map(({ body }) => body),
      this.left,
    );
    const { pruned, memos } = toPrunedState(this.state.view.spans);
    same({ pruned, memos }, { pruned: replayed.pruned, memos: replayed.memos }, "events replay to the view");
  }

  /** In order, without overlaps, and nothing is missing but what compactions have written for themselves. */
  #checkView(ranges: CallModelCommand["view"]["ranges"], entries: readonly Entry[]): void {
    let at = 0;
    for (const { from, to } of ranges) {
      must(from >= at && to > from, "ranges are in order");
      const skipped = entries.filter(({ position }) => position >= at && position < from);
      must(
        skipped.every(({ message }) => message.role === "extension"),
        "a view leaves out no message",
      );
      at = to;
    }
  }

  #write(
    command: CloseLoopCommand | RecordCommand | UpdateDefinitionCommand,
    loopId: string,
    reached: Reached,
    also: () => object,
  ): { branch: string; result: unknown } {
    if (reached !== "stored") return { branch: command.branch, result: {} };
    const key = { run: this.run, number: command.number, call: 0 };
    const claimed = this.transcript.claim(key, command.generation, { ...command, loopId }, command.outbox);
    if ("result" in claimed) return claimed;
    return this.transcript.store(key, command.generation, { ...command, loopId }, EMPTY_OUTBOX, [], also());
  }

  #stepOf({ number }: { number: number }): string {
    return `${this.run}/${number}/0`;
  }

  /** Long enough that no preview shows its end. */
  #long(text: string): string {
    return this.setting.light === true ? text : `${text}${" ".repeat(300)}${SECRET_OF_TEXT}`;
  }

  #message(text: string, id = `${this.setting.run ?? ""}m${++this.#ids}`): InboundMessage {
    return { id, text, atMs: this.now };
  }

  // Checks.

  tell(happening: Happening): this {
    this.now += 1;
    const event = { ...happening, atMs: this.now } as RunEvent;
    const before = this.state;
    this.#note(before, event);
    const after = apply(before, event);
    this.moves.add(`${before.phase.type} ${event.type} ${after.phase.type}`);
    if (after.fork !== undefined && before.fork === undefined) this.left.push(after.branch);
    if (this.setting.light !== true) {
      const json = JSON.stringify(after);
      // One that is read back after every event is such a state itself.
      const twin = this.setting.throughJson === true ? json : JSON.stringify(apply(this.#copy(), event));
      this.#json = json;
      this.#read = undefined;
      if (twin !== json) {
        same(JSON.parse(twin), JSON.parse(json), `a state read back takes ${event.type} alike`);
      }
    } else if (this.now % 10 === 0) this.#json = JSON.stringify(after);
    this.state = this.setting.throughJson === true ? throughJson(after) : deepFreeze(after);
    for (const { position, body } of after.outbox.entries)
      if (body.type === "refused") this.#unseen.add(position);
    // One that the machine never heard of stands where the answer that there is none was to stand.
    if (event.type === "compacted" && event.digest.spans !== undefined) this.#unseen.add(before.length);
    if (event.type === "model-replied" && !/error|aborted/.test(event.digest.stopReason)) {
      for (const { id } of event.digest.calls) this.#heard.add(id);
      this.#answers.push({ position: before.length, calls: event.digest.calls });
    }
    this.check();
    return this;
  }

  #note(before: State, event: RunEvent): void {
    if (event.type === "child-finished" || event.type === "child-lost") this.#noteEnd(before, event);
    if (event.type === "steered" || event.type === "followed-up" || event.type === "prompted") {
      const { id } = event.message;
      const queue =
        event.type === "steered" ? "steering" : event.type === "prompted" ? "prompt" : "follow-up";
      const taken = event.type === "prompted" || hasRoom(before, event.message);
      if (taken && !this.accepted.some((known) => known.id === id)) this.accepted.push({ id, queue });
    }
    if (event.type === "queues-cleared") {
      const { steering, followUps } = before.queues;
      if (event.queue !== "follow-up") for (const { id } of steering) this.forgotten.add(id);
      if (event.queue !== "steering") for (const { id } of followUps) this.forgotten.add(id);
    }
    const refused =
      event.type === "open-set-back"
        ? event.setback.type === "failed"
        : event.type === "loop-opened" && event.digest.rejected !== undefined;
    if (refused && before.phase.type === "opening") {
      for (const { id, origin } of before.phase.prompts) if (origin === "prompt") this.forgotten.add(id);
    }
  }

  /** A second word of a sub-agent that is over counts for nothing. */
  #noteEnd(
    { phase, loop }: State,
    { call, report }: Extract<RunEvent, { type: "child-finished" | "child-lost" }>,
  ): void {
    const status = phase.type === "calling-tools" ? phase.calls[call]?.status : undefined;
    if (loop === undefined || status?.type !== "running") return;
    const { loopId, turn } = loop;
    this.settled.push({ loopId, turn, used: addAmounts(report?.used ?? NO_AMOUNTS, ONE_MORE) });
  }

  /** I1 to I6, after every event. */
  check(): void {
    const { state } = this;
    this.largestState = Math.max(this.largestState, Buffer.byteLength(this.#json));
    this.checkView();
    if (this.setting.light === true) return;
    void this.command;
    this.#checkMessages();
    this.#checkAnswers();
    this.#checkEvents();
    this.#checkShares();
    if (this.#json.includes(SECRET_OF_TEXT)) {
      const { last: _, ...rest } = state;
      const clean = !JSON.stringify(rest).includes(SECRET_OF_TEXT);
      must(clean, "I5: no text of the conversation is in the state");
    }
  }

  checkView(): void {
    const { view, branch, length, phase } = this.state;
    must(view.branch === branch, "the view is of the branch that is written to");
    let at = this.#behindUnseen(0);
    for (const { from, to } of view.spans) {
      must(from === at && to > from, "spans touch and do not overlap");
      at = this.#behindUnseen(to);
    }
    const inbox = phase.type === "recording" && phase.inbox.length > 0;
    must(this.state.loop === undefined || inbox || at === length, "the view covers every entry");
  }

  /** Entries of compactions are in no view, nor are words that were refused. */
  #behindUnseen(position: number): number {
    let at = position;
    while (this.#unseen.has(at) && at < this.state.length) at++;
    return at;
  }

  /** I2. */
  #checkMessages(): void {
    const { queues, phase, outbox, branch } = this.state;
    const queued = [...queues.steering, ...queues.followUps].map(({ id }) => id);
    const inFlight =
      phase.type === "opening" || phase.type === "starting"
        ? phase.prompts.map(({ id }) => id)
        : phase.type === "recording"
          ? phase.inbox.map(({ id }) => id)
          : [];
    const waiting = outbox.entries.flatMap(({ body }) =>
      body.type === "person" || body.type === "refused" ? [body.message.id] : [],
    );
    const within = [...queued, ...inFlight, ...waiting];
    const written = this.written(branch);
    for (const { id } of this.accepted) {
      if (this.forgotten.has(id)) continue;
      const inState = within.filter((one) => one === id).length;
      const outside = written.filter((one) => one === id).length;
      must(inState <= 1, `I2: ${id} is in one place of the state, not in ${inState}`);
      must(outside <= 1, `I2: ${id} is written once, not ${outside} times`);
      must(inState + outside >= 1, `I2: ${id} is somewhere`);
      must(outside === 0 || !queued.includes(id), `I2: ${id} is queued and not written`);
    }
  }

  /** Ids of messages in the conversation, in order, then those in the inbox. */
  written(branch = this.state.branch): string[] {
    const { transcript } = this;
    const branchId = this.state.loop === undefined && branch === "main" ? transcript.head : branch;
    const entered = transcript.entries(branchId).flatMap(({ messageId }) => messageId ?? []);
    return [...entered, ...transcript.inbox.map(({ id }) => id)];
  }

  /** Ids of messages that filters have refused: kept in the record, where no model sees them. */
  refusedIds(): string[] {
    return this.transcript
      .entries(this.transcript.head)
      .flatMap(({ message, messageId }) =>
        message.role === "extension" && message.kind === REJECTED_KIND ? (messageId ?? []) : [],
      );
  }

  /** I3, for answers whose calls are over. */
  #checkAnswers(): void {
    const { outbox, branch } = this.state;
    const calling = callingOf(this.state);
    const over = this.#answers.filter(({ position }) => calling?.position !== position);
    this.#answers = this.#answers.filter((answer) => !over.includes(answer));
    for (const { position, calls } of over) {
      calls.forEach((call, index) => {
        const at = position + 1 + index;
        const written = this.transcript.entryAt(branch, at)?.message;
        const here = outbox.entries.filter((entry) => entry.position === at);
        // Who goes back leaves them behind, and others wait for the same places on the new branch.
        const left = here.filter((entry) => entry.left);
        const waits = left.length > 0 ? left : here;
        const there =
          waits[0]?.body.type === "result" || waits[0]?.body.type === "report"
            ? waits[0].body.toolCallId
            : written?.role === "toolResult"
              ? written.toolCallId
              : "nothing";
        must(there === call.id, `I3: call ${call.id} has its result at ${at}, not ${there}`);
        must(waits.length <= 1, `I3: call ${call.id} has one result`);
      });
    }
  }

  /** I4: what is written and what waits are numbered from 0 without a gap. */
  #checkEvents(): void {
    const { loop, outbox } = this.state;
    if (loop === undefined) return;
    const known = new Map<number, OutboxEvent>();
    for (const event of [...this.transcript.eventsOf(loop.loopId), ...outbox.events]) {
      const there = known.get(event.sequence);
      if (there !== undefined) same(event, there, "I4: a number means one event");
      known.set(event.sequence, event);
    }
    must(known.size === loop.events, `I4: ${known.size} events are known, ${loop.events} were numbered`);
    must(Math.max(-1, ...known.keys()) === loop.events - 1, "I4: events are numbered without a gap");
  }

  /** I6: open are the shares of those at work, nothing is set aside twice, and what is over counts as it was used. */
  #checkShares(): void {
    const { loop } = this.state;
    if (loop === undefined) return;
    const { account, turn, loopId } = loop;
    const atWork = (callingOf(this.state)?.calls ?? []).flatMap(({ status }, index) =>
      status.type === "running" && status.child !== undefined ? [`${turn}.${index}`] : [],
    );
    same(Object.keys(account?.open ?? {}).sort(), atWork.sort(), "I6: shares are open for those at work");
    const over = this.settled.filter((one) => one.loopId === loopId);
    const sum = over.map((one) => one.used).reduce(addAmounts, NO_AMOUNTS);
    same(account?.settled ?? NO_AMOUNTS, sum, "I6: what is over counts as it was used");
    const begins = atWork.length > this.#atWork;
    this.#atWork = atWork.length;
    this.sideBySide = Math.max(this.sideBySide, atWork.length);
    if (account === undefined || !begins) return;
    const spent = { ...computeSpent(loop, this.now), turns: turn + 1 };
    const whole = addAmounts(sumUsed(account, spent), sumReserved(account));
    const most = getAllowance(account);
    for (const part of ["turns", "tokens", "nanoUsd", "children"] as const) {
      const limit = most[part];
      must(limit === null || (whole[part] ?? 0) <= limit, `I6: no more ${part} are set aside than there are`);
    }
  }

  /** What must be true when a run is over. */
  checkEnd(): void {
    expect(this.state.outbox).toEqual(EMPTY_OUTBOX);
    for (const { loopId } of this.transcript.loops) expectWholeLoop(this.transcript.eventsOf(loopId));
    const entries = this.transcript.entries(this.transcript.head);
    expectNoOrphans(entries.map(({ message }) => message).filter((message) => this.#isHeard(message)));
    const written = this.written();
    for (const queue of ["prompt", "steering", "follow-up"] as const) {
      const ids = this.accepted.filter((one) => one.queue === queue && !this.forgotten.has(one.id));
      expect(ids.map(({ id }) => written.indexOf(id))).not.toContain(-1);
      // What was refused is put down at once; what came before it goes on waiting.
      const heard = ids.filter(({ id }) => !this.refusedIds().includes(id));
      const order = heard.map(({ id }) => written.indexOf(id));
      expect(order, `${queue}: nothing lost, in order`).toEqual([...order].sort((a, b) => a - b));
    }
    expect(new Set(written).size, "nothing twice").toBe(written.length);
  }

  /** A model call that was stopped may have stored an answer that the machine never heard of. */
  #isHeard(message: AgentMessage): boolean {
    if (message.role !== "assistant") return true;
    return message.content.every((part) => part.type !== "toolCall" || this.#heard.has(part.id));
  }

  // What a test looks at.

  /** The conversation, a line for each message. */
  get lines(): string[] {
    return this.transcript.entries(this.transcript.head).map(lineOf);
  }

  /** The events of a loop, a line each. */
  eventLines(loopId = this.transcript.loops.at(-1)?.loopId ?? ""): string[] {
    return this.transcript.eventsOf(loopId).map(eventLine);
  }

  /** Events and askings of hooks, as one story of a loop. */
  story(loopId = this.transcript.loops.at(-1)?.loopId ?? ""): string[] {
    const lines = this.eventLines(loopId);
    const told = this.hooked.filter((one) => one.loopId === loopId);
    const at = (behind: number) => told.filter((one) => one.behind === behind).map(({ line }) => line);
    return [...lines.flatMap((line, index) => [...at(index), line]), ...at(lines.length)];
  }

  get inboxTexts(): (string | undefined)[] {
    return this.transcript.inbox.map(({ text }) => text);
  }
}

/** Calls that are under way, also while hooks are asked about them. */
function callingOf({ phase }: State): CallingTools | undefined {
  if (phase.type === "hooking") return "calling" in phase.question ? phase.question.calling : undefined;
  return phase.type === "calling-tools" ? phase : undefined;
}

/** Cheaper than `expect`, which is called a million times otherwise. */
function must(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

function same(actual: unknown, wanted: unknown, message: string): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual, message).toEqual(wanted);
}

export function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

export function userMessage(text: string, timestamp: number, warning?: string): AgentMessage {
  return { role: "user", content: [...buildUserContent(text, warning)], timestamp };
}

export function textOf(message: AgentMessage): string {
  if (message.role === "extension") return message.kind;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function lineOf({ origin, message }: Entry): string {
  const text = textOf(message).replace(SECRET_OF_TEXT, "").trim();
  switch (message.role) {
    case "user":
      return `${origin}: ${text}`;
    case "assistant": {
      if (message.errorMessage !== undefined) return `${message.stopReason}: ${message.errorMessage}`;
      const names = message.content.flatMap((part) => (part.type === "toolCall" ? [part.name] : []));
      return `model: ${[text, ...names].join(" +")}`;
    }
    case "toolResult":
      return `${message.toolName}${message.isError ? "!" : ""}: ${text}`;
    case "extension":
      return message.kind === REJECTED_KIND
        ? `refused ${origin}: ${(message.data as { text: string }).text}`
        : `extension: ${text}`;
  }
}

function eventLine({ body }: OutboxEvent): string {
  switch (body.type) {
    case "AgentStart":
      return `AgentStart ${body.kind.type}`;
    case "AgentEnd":
      return `AgentEnd ${body.outcome.type} ${body.from}..${body.to}`;
    case "TurnStart":
      return `TurnStart ${body.turn} ${body.trigger}`;
    case "TurnEnd":
      return `TurnEnd ${body.turn} at ${body.position} with ${body.results}`;
    case "MessageStart":
    case "MessageEnd":
      return `${body.type} ${body.position}`;
    case "ToolExecutionStart":
      return `ToolExecutionStart ${body.toolName}`;
    case "ToolExecutionEnd":
      return `ToolExecutionEnd ${body.toolName} ${body.isError ? "error" : "ok"}`;
    default:
      return body.type;
  }
}

function hookLine({ ask, turn }: RunHookCommand): string {
  if ("calls" in ask) return `${ask.point} ${ask.calls.map(({ toolName }) => toolName).join(" ")}`;
  return ask.point === "after-turn" || ask.point === "before-turn" ? `${ask.point} ${turn}` : ask.point;
}

/** Every call has one result behind its answer, in order, and no result is without its call. */
export function expectNoOrphans(messages: readonly AgentMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      must(open.includes(message.toolCallId), `the result of ${message.toolCallId} answers an open call`);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    must(open.length === 0, `every call has its result: ${open}`);
    if (message.role !== "assistant") continue;
    open = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
  }
  must(open.length === 0, `every call has its result: ${open}`);
}

/** EVT-12: numbered from 0, AgentStart first, AgentEnd once and last, turns and messages in pairs. */
export function expectWholeLoop(events: readonly OutboxEvent[]): void {
  const types = events.map(({ body }) => body.type);
  must(
    events.every(({ sequence }, index) => sequence === index),
    "events are numbered from 0",
  );
  const [first] = events;
  const end = first?.body.type === "AgentEnd" ? first.body.outcome : undefined;
  if (end?.type === "rejected" && end.by !== undefined) {
    must(events.length === 1, "a loop that a hook refused never began");
    return;
  }
  must(types.lastIndexOf("AgentStart") === 0, `AgentStart is first, and once: ${types}`);
  must(types.indexOf("AgentEnd") === types.length - 1, `AgentEnd is last, and once: ${types}`);
  let turn: number | undefined;
  let turns = 0;
  let message: number | undefined;
  const started = new Set<string>();
  for (const { body } of events) {
    if (message !== undefined)
      same(body, { type: "MessageEnd", position: message }, "a message that starts ends");
    message = undefined;
    switch (body.type) {
      case "TurnStart":
        must(turn === undefined && body.turn === turns, `turn ${body.turn} starts behind ${turns} others`);
        turn = body.turn;
        turns++;
        break;
      case "TurnEnd":
        must(body.turn === turn, `turn ${body.turn} ends in turn ${turn}`);
        turn = undefined;
        break;
      case "MessageStart":
        message = body.position;
        break;
      case "ToolExecutionStart":
        must(turn !== undefined, "tools run in a turn");
        started.add(`${turn}/${body.toolCallId}`);
        break;
      case "ToolExecutionEnd":
        must(turn !== undefined, "tools run in a turn");
        started.delete(`${turn}/${body.toolCallId}`);
        break;
      case "AgentEnd":
        must(turn === undefined, "the last turn has ended");
        break;
    }
  }
  must(started.size === 0, `a tool that starts ends: ${[...started]}`);
}
