import { readCall } from "../../activities/read-call.ts";
import { announcesUnmadeCall } from "../../activities/unmade-call.ts";
import { apply } from "../../core/apply.ts";
import { assertNever } from "../../core/assert-never.ts";
import type { CallModelCommand, CallToolCommand, Command, OpenLoopCommand } from "../../core/command.ts";
import type { CallDigest, LoopDigest, ModelDigest, ToolFacts } from "../../core/digest.ts";
import { estimateMessage } from "../../core/estimate.ts";
import { loopSegment } from "../../core/loop-segment.ts";
import { next } from "../../core/next.ts";
import { truncateForPreview } from "../../core/preview.ts";
import type { RunEvent } from "../../core/run-event.ts";
import { start } from "../../core/start.ts";
import type { PersonMessage, State } from "../../core/state.ts";
import { costOf } from "../../core/usage.ts";
import { materialise } from "../../core/view.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { AgentDefinition, type RetryConfig } from "../../schema/definition.ts";
import type { AgentMessage, AssistantMessage, ToolCallContent } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import { Arrivals, type Moment } from "./arrivals.ts";
import { definitionInput } from "./definition.ts";
import { scenarioEvents, timelessValue } from "./events.ts";
import { MemoryTranscript } from "./memory-transcript.ts";
import type { Played, ScheduleStep, Sent, SentRequest } from "./played.ts";
import { ScenarioError } from "./scenario-error.ts";
import type { Deed, Scenario } from "./schema.ts";
import { sentMessages } from "./sent.ts";
import { toolOf } from "./tools.ts";
import { answerOf, requestBody } from "./vendor.ts";

// Drives the machine through a scenario without a server: asks `next`, plays the world's part, tells `apply`. A new
// kind of command is one more case of `#carryOut`.

export type PlainPlay = { readonly played: Played; readonly schedule: readonly ScheduleStep[] };

/** Throws a `ScenarioError` when the scenario asks for what cannot happen. */
export function playPlain(scenario: Scenario): PlainPlay {
  return new PlainDriver(scenario).play();
}

/** Commands that one scenario may take: more is a loop without an end. */
const MAX_COMMANDS = 5_000;

/** STEER-12. */
const BUSY = "Agent is already streaming. Use steer() or follow_up().";

/** Faults that the same request may overcome (RTY-03). */
const RETRIED: ReadonlySet<string> = new Set(["rate-limited", "network"]);

const MAX_FAILURE_BYTES = 1024;
const PREVIEW_BYTES = 256;
const INLINE_BYTES = 32 * 1024;

type Happening = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

class PlainDriver {
  readonly #scenario: Scenario;
  readonly #definition: AgentDefinition;
  readonly #registry: ToolRegistry;
  readonly #transcript = new MemoryTranscript();
  readonly #arrivals: Arrivals;
  readonly #schedule: ScheduleStep[] = [];
  readonly #sent: SentRequest[] = [];
  readonly #executed: string[] = [];
  readonly #refused: string[] = [];
  /** Calls of each tool so far. */
  readonly #calls = new Map<string, number>();
  #state!: State;
  #now = 0;
  #requests = 0;
  #outcome: Outcome = { type: "delivered", messages: 0 };

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#definition = AgentDefinition.parse(definitionInput(scenario, "http://127.0.0.1:1"));
    this.#registry = new ToolRegistry(scenario.tools.map((tool) => toolOf(tool, () => "")));
    this.#arrivals = new Arrivals(scenario.arrives);
  }

  play(): PlainPlay {
    const { prompt, promptId = "prompt", mode } = this.#scenario;
    this.#run(prompt === undefined ? undefined : { id: promptId, text: prompt }, mode);
    for (let rest = this.#arrivals.at("end"); rest.sent.length > 0; rest = this.#arrivals.at("end")) {
      for (const sent of rest.sent) {
        if (sent.do === "run") this.#run({ id: sent.messageId, text: sent.text }, mode);
        else this.#run(undefined, "run", sent);
      }
    }
    this.#arrivals.mustBeOver();
    const transcript = this.#transcript;
    return {
      schedule: this.#schedule,
      played: {
        events: scenarioEvents(transcript.loops, transcript.entries),
        hooks: [],
        sent: this.#sent,
        outcome: this.#outcome,
        executed: this.#executed,
        inbox: transcript.inbox.map(({ text = "" }) => text),
        refused: this.#refused,
      },
    };
  }

  /** One run of the session, from its start to its end. */
  #run(
    prompt: { id: string; text: string } | undefined,
    mode: "run" | "interactive",
    withStart?: Sent,
  ): void {
    const first = this.#schedule.length === 0 ? this.#arrivals.at("start").sent[0] : withStart;
    this.#note({
      type: "start",
      mode,
      ...(prompt === undefined ? {} : { prompt: prompt.text, promptId: prompt.id }),
      ...(first === undefined ? {} : { with: first }),
    });
    this.#state = start({
      session: "scenario",
      mode,
      idleTimeoutMs: this.#scenario.idleTimeoutMs ?? null,
      localSteps: true,
      asked: { definition: this.#definition },
      prompts: prompt === undefined ? [] : [{ ...prompt, atMs: this.#now }],
      nowMs: this.#now,
    });
    if (first !== undefined) this.#take(first);
    this.#tell({ type: "begun" });
    for (let commands = 0; ; commands++) {
      if (commands > MAX_COMMANDS) {
        throw new ScenarioError([`model: the run does not come to an end within ${MAX_COMMANDS} commands`]);
      }
      const command = next(this.#state);
      if (command.type === "finish") {
        this.#outcome = timelessValue(command.last.outcome);
        break;
      }
      this.#carryOut(command);
    }
    this.#note({ type: "over" });
  }

  #carryOut(command: Exclude<Command, { type: "finish" }>): void {
    switch (command.type) {
      case "open-loop":
        this.#held("open");
        this.#tell(this.#openLoop(command));
        return;
      case "call-model":
        this.#tell(this.#callModel(command));
        return;
      case "call-tools":
        this.#callTools(command.calls);
        return;
      case "close-loop": {
        this.#transcript.write(command.outbox, command.loopId);
        this.#held("close");
        const digest = { branch: command.branch, ...this.#lastWords(command.answer) };
        this.#tell({ type: "loop-closed", digest });
        return;
      }
      case "record":
        this.#transcript.write(command.outbox, command.loopId ?? "");
        this.#transcript.putInbox(command.inbox);
        this.#tell({ type: "recorded", digest: { branch: command.branch } });
        return;
      case "wait":
        this.#wait(command.untilMs);
        return;
      case "rotate":
        this.#state = JSON.parse(JSON.stringify(this.#state)) as State;
        this.#tell({ type: "begun" });
        return;
      default:
        throw new Error(`The plain driver does not know the command "${(command as Command).type}"`);
    }
  }

  // What people do.

  #take(sent: Sent): void {
    const message = (text: string): PersonMessage => ({ id: sent.messageId, text, atMs: this.#now });
    switch (sent.do) {
      case "steer":
        this.#tell({ type: "steered", message: message(sent.text) });
        return;
      case "followUp":
        this.#tell({ type: "followed-up", message: message(sent.text) });
        return;
      case "prompt":
        if (this.#state.phase.type === "waiting") {
          this.#tell({ type: "prompted", message: message(sent.text) });
          return;
        }
        this.#refused.push(BUSY);
        return;
      case "stop":
        this.#tell({ type: "stop-requested", reason: sent.reason ?? "stop was requested" });
        return;
      case "cancel":
        this.#tell({ type: "stop-requested", reason: "the workflow was cancelled" });
        return;
      case "queueMode":
        this.#tell({ type: "queue-mode-set", queue: sent.queue, mode: sent.mode });
        return;
      case "clearQueues":
        this.#tell({ type: "queues-cleared", queue: sent.queue });
        return;
      case "run":
        throw new ScenarioError(["arrives: a run begins after the end of the one before"]);
      default:
        assertNever(sent);
    }
  }

  #arrive(all: readonly Sent[]): void {
    for (const sent of all) {
      this.#note({ type: "arrives", sent });
      this.#take(sent);
    }
  }

  /** A step of one write: held up only where something arrives meanwhile. */
  #held(step: "open" | "close"): void {
    const { nth, sent } = this.#arrivals.at(step);
    if (sent.length === 0) return;
    this.#note({ type: "held", step, nth });
    this.#arrive(sent);
    this.#note({ type: "let-go", step, nth });
  }

  #wait(untilMs: number | undefined): void {
    const { sent } = this.#arrivals.at("wait");
    this.#note({ type: "waits" });
    this.#arrive(sent);
    if (next(this.#state).type !== "wait") return;
    if (sent.length > 0) return;
    if (untilMs === undefined) {
      this.#arrive([
        { do: "stop", reason: "nothing more arrives", messageId: "", when: { during: "wait", nth: 0 } },
      ]);
      return;
    }
    this.#now = Math.max(this.#now, untilMs);
    this.#tell({ type: "time-passed" });
  }

  // Steps.

  #openLoop(command: OpenLoopCommand): Happening {
    const definition = this.#definition;
    const resolved = this.#registry.resolve(definition.tools, { strict: definition.strict });
    if (!resolved.ok) {
      const failure = { fault: "invalid", message: resolved.errors.join("; ") };
      return { type: "open-set-back", setback: { type: "failed", failure } };
    }
    const transcript = this.#transcript;
    const number = transcript.loops.length;
    const parentLoopId = transcript.loops.at(-1)?.loopId;
    const loopId = `${command.session}.${loopSegment(definition)}.${number + 1}`;
    const before = transcript.entries;
    // As open-loop pins it; without a bound of the context, for the player makes none smaller.
    const digest: LoopDigest = {
      limits: definition.limits,
      toolStrategy: definition.toolStrategy,
      steeringMode: definition.steeringMode,
      followUpMode: definition.followUpMode,
      permissions: definition.permissions,
      approvals: definition.approvals,
      ...(definition.nudges.enabled ? { nudges: definition.nudges.max } : {}),
      loopId,
      ...(parentLoopId === undefined ? {} : { parentLoopId }),
      kind: { type: "initial" },
      branch: "main",
      from: before.length,
      tokensBefore: before.reduce((sum, { tokens }) => sum + tokens, 0),
      entries: transcript.openLoop(loopId, command.prompts),
      definitionHash: "scenario",
      agentName: definition.name,
      model: definition.model.id,
      maxRetries: definition.retry.maxRetries,
      tools: Object.fromEntries(resolved.tools.map((tool) => [tool.name, factsOf(tool)])),
      warnings: resolved.warnings,
    };
    return { type: "loop-opened", digest };
  }

  /** Asks the vendor, again where Temporal would, until there is an answer or none will come. */
  #callModel(command: CallModelCommand): Happening {
    this.#transcript.write(command.outbox, command.loopId);
    const definition = this.#definition;
    const resolved = this.#registry.resolve(definition.tools);
    const messages = materialise(command.view, this.#transcript.entries);
    const body = requestBody(definition, resolved.ok ? resolved.tools : [], messages);
    for (let attempt = 1; ; attempt++) {
      const nth = this.#requests++;
      const loop = this.#transcript.loops.length - 1;
      this.#sent.push({ loop, turn: command.turn, messages: sentMessages(body) });
      this.#note({ type: "asked" });
      if (this.#stoppedDuring("model")) {
        this.#note({ type: "unanswered" });
        return { type: "model-set-back", setback: { type: "cancelled" } };
      }
      const reply = this.#scenario.model[nth] ?? { text: "done" };
      this.#note({ type: "answered", reply, nth });
      this.#now += reply.takesMs ?? 0;
      try {
        const message = answerOf(reply, nth, body, definition, this.#now);
        return { type: "model-replied", digest: this.#storeAnswer(command, message, attempt) };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        const { fault } = error;
        if (!RETRIED.has(fault) || attempt >= command.maxAttempts) {
          const failure = { fault, message: truncateForPreview(error.message, MAX_FAILURE_BYTES) };
          return { type: "model-set-back", setback: { type: "failed", failure } };
        }
        if (this.#stoppedDuring("backoff", attempt)) {
          return { type: "model-set-back", setback: { type: "cancelled" } };
        }
        this.#now += error.retryAfterMs ?? delayMs(definition.retry, attempt);
      }
    }
  }

  #stoppedDuring(moment: Moment, attempt?: number): boolean {
    const { sent } = this.#arrivals.at(moment);
    if (attempt !== undefined && sent.length > 0) this.#note({ type: "backs-off", attempt });
    this.#arrive(sent);
    return this.#state.stop !== undefined;
  }

  #storeAnswer(command: CallModelCommand, answer: AssistantMessage, attempts: number): ModelDigest {
    const message = { ...answer, turnId: { loopId: command.loopId, turnIndex: command.turn } };
    this.#transcript.put(command.position, "model", message);
    return {
      branch: command.branch,
      stopReason: message.stopReason,
      usage: message.usage,
      costUsd: costOf(message.usage, this.#definition.model.cost),
      tokens: estimateMessage(message),
      calls: callsOf(message).map((call) => this.#callDigest(call)),
      ...(announcesUnmadeCall(message, this.#definition, this.#definition.tools.length)
        ? { announces: true }
        : {}),
      preview: truncateForPreview(textOf(message), PREVIEW_BYTES),
      attempts,
    };
  }

  #callDigest(call: ToolCallContent): CallDigest {
    const resolved = this.#registry.resolve(this.#definition.tools);
    return { ...readCall(call, resolved.ok ? resolved.tools : []).digest, summary: "" };
  }

  /** The calls of one unit: they end in the scenario's order, and a stop ends those that are left. */
  #callTools(commands: readonly CallToolCommand[]): void {
    const running = commands.map((command) => ({ command, deed: this.#deedOf(command.toolName) }));
    for (const { command } of running) {
      this.#transcript.write(command.outbox, command.loopId);
      this.#executed.push(command.toolCallId);
    }
    const order = this.#inOrderOfEnd(running);
    const quick = order.filter(({ command }) => command.local);
    this.#noteCalled(quick);
    for (const [at, { command, deed }] of order.entries()) {
      const left = order.length - at - 1;
      const { toolCallId, toolName, call } = command;
      if (at === quick.length) this.#noteCalled(order.slice(at));
      this.#arrive(this.#arrivals.duringCall(toolCallId, toolName));
      if (this.#state.stop !== undefined) {
        this.#note({ type: "cancelled", call: toolCallId, left });
        this.#tell({ type: "tool-set-back", call, setback: { type: "cancelled" } });
        continue;
      }
      this.#note({ type: "ended", call: toolCallId, deed, quick: command.local, left });
      this.#tell(this.#endTool(command, deed));
    }
  }

  /** Temporal schedules the others only when the quick ones, which are local, have ended. */
  #noteCalled(calls: readonly { command: CallToolCommand }[]): void {
    if (calls.length > 0) {
      this.#note({ type: "called", calls: calls.map(({ command }) => command.toolCallId) });
    }
  }

  #deedOf(toolName: string): Deed {
    const nth = this.#calls.get(toolName) ?? 0;
    this.#calls.set(toolName, nth + 1);
    const does = this.#scenario.tools.find(({ name }) => name === toolName)?.does ?? [];
    return does[Math.min(nth, does.length - 1)] ?? { gives: "ok" };
  }

  /** Quick calls end first, those that run into their time-out last; the others in call order. */
  #inOrderOfEnd(running: readonly { command: CallToolCommand; deed: Deed }[]) {
    const rank = ({ command, deed }: (typeof running)[number]) =>
      command.local ? 0 : deed.hangs === true ? 2 + (command.timeoutMs ?? 0) : 1;
    const waiting = [...running].sort((a, b) => rank(a) - rank(b));
    const order: (typeof running)[number][] = [];
    while (waiting.length > 0) {
      const ready = waiting.findIndex(
        ({ command, deed }) =>
          command.local === (waiting[0]?.command.local ?? false) &&
          !waiting.some(({ command }) => command.toolCallId === deed.after),
      );
      if (ready === -1) throw new ScenarioError(["tools: the calls of one unit wait for each other (after)"]);
      order.push(...waiting.splice(ready, 1));
    }
    return order;
  }

  #endTool(command: CallToolCommand, deed: Deed): Happening {
    this.#now += deed.takesMs ?? 0;
    if (deed.hangs === true) this.#now += this.#timeoutOf(command);
    const text = resultText(deed, command.timeoutMs);
    const isError = deed.gives === undefined;
    const message: AgentMessage = {
      role: "toolResult",
      toolCallId: command.toolCallId,
      toolName: command.toolName,
      content: [{ type: "text", text }],
      isError,
      timestamp: this.#now,
      turnId: { loopId: command.loopId, turnIndex: command.turn },
    };
    this.#transcript.put(command.position, "tool", message);
    const digest = {
      branch: command.branch,
      isError,
      tokens: estimateMessage(message),
      preview: truncateForPreview(text, PREVIEW_BYTES),
    };
    return { type: "tool-finished", call: command.call, digest };
  }

  #timeoutOf({ toolName, timeoutMs }: CallToolCommand): number {
    if (timeoutMs !== undefined) return timeoutMs;
    const at = this.#scenario.tools.findIndex(({ name }) => name === toolName);
    throw new ScenarioError([
      `tools.${at}.does: "${toolName}" hangs for ever: it has no timeoutMs, and nothing stops the run`,
    ]);
  }

  #lastWords(position: number | undefined): { text?: string; position?: number } {
    if (position === undefined) return {};
    const message = this.#transcript.entries.find((entry) => entry.position === position)?.message;
    if (message?.role !== "assistant") return {};
    return { text: truncateForPreview(textOf(message), INLINE_BYTES), position };
  }

  // The machine.

  #tell(happening: Happening): void {
    this.#now += 1;
    this.#state = apply(this.#state, { ...happening, atMs: this.#now } as RunEvent);
  }

  #note(step: ScheduleStep): void {
    this.#schedule.push(step);
  }
}

function factsOf({ replay, quick, timeoutMs }: Tool): ToolFacts {
  return { replay, quick, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

function callsOf(message: AssistantMessage): ToolCallContent[] {
  return message.content.filter((part) => part.type === "toolCall");
}

function textOf(message: AssistantMessage): string {
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function resultText(deed: Deed, timeoutMs: number | undefined): string {
  if (deed.hangs === true) return `The tool did not end within ${timeoutMs} ms and was ended`;
  return deed.gives ?? deed.fails ?? deed.throws ?? "";
}

/** RTY-02 without its jitter. */
function delayMs({ initialDelayMs, backoffMultiplier, maxDelayMs }: RetryConfig, attempt: number): number {
  return Math.min(initialDelayMs * backoffMultiplier ** (attempt - 1), maxDelayMs);
}
