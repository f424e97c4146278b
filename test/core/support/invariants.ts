import { getAllowance, sumReserved, sumUsed } from "../../../src/core/budget/account.ts";
import type { Amounts } from "../../../src/core/budget/account-state.ts";
import { addAmounts, NO_AMOUNTS } from "../../../src/core/budget/amounts.ts";
import { computeSpent } from "../../../src/core/budget/limits.ts";
import { apply } from "../../../src/core/machine/apply.ts";
import { next } from "../../../src/core/machine/next.ts";
import { EMPTY_OUTBOX } from "../../../src/core/machine/outbox.ts";
import { hasRoom } from "../../../src/core/machine/queues.ts";
import { REJECTED_KIND } from "../../../src/core/machine/rejected-message.ts";
import type { CallModelCommand } from "../../../src/core/machine/state/activity-command.ts";
import type { CallingTools } from "../../../src/core/machine/state/call-status.ts";
import type { Command } from "../../../src/core/machine/state/command.ts";
import type { CallDigest } from "../../../src/core/machine/state/digest.ts";
import type { InboundMessage } from "../../../src/core/machine/state/inbound-message.ts";
import type { OutboxEvent } from "../../../src/core/machine/state/outbox.ts";
import type { RunEvent } from "../../../src/core/machine/state/run-event.ts";
import type { State } from "../../../src/core/machine/state/state.ts";
import type { MemoryTranscript } from "../../../src/devkit/scenario/memory-transcript.ts";
import type { Happening } from "../../../src/devkit/scenario/plain/machine.ts";
import type { Stage } from "../../../src/devkit/scenario/plain/stage.ts";
import type { AgentMessage, Message } from "../../../src/schema/message.ts";
import { changesViews, checkChangedView, checkRequest, checkWholeView } from "./request-rules.ts";
import { expectNoOrphans, expectWholeLoop, must, same } from "./rules.ts";
import { SECRET_OF_TEXT, type Setting } from "./script.ts";

type Accepted = { readonly id: string; readonly queue: "prompt" | "steering" | "follow-up" };

/** What an agent counts for beside what it uses. */
const ONE_MORE: Amounts = { ...NO_AMOUNTS, children: 1 };

type Seen = { readonly setting: Setting; readonly stage: Stage; readonly commands: readonly Command[] };

/** I1 to I6 of state.ts, and what must be true when a run is over. */
export class Invariants {
  readonly accepted: Accepted[];
  readonly forgotten = new Set<string>();
  /** Phase, event, phase behind it. */
  readonly moves = new Set<string>();
  /** What each sub-agent that is over has used, with itself as one of `children`; and in which turn it was called. */
  readonly settled: { readonly loopId: string; readonly turn: number; readonly used: Amounts }[] = [];
  /** The most sub-agents that were at work at one time. */
  sideBySide = 0;
  largestState = 0;
  /** Branches that the model has gone back from, in order. */
  readonly left: string[] = [];
  /** Of a traced run, every state and command so far, as JSON. */
  readonly trace: string[] = [];
  readonly #run: Seen;
  readonly #transcript: MemoryTranscript;
  /** Positions of entries that no model sees. */
  readonly #unseen = new Set<number>();
  #answers: { position: number; calls: readonly CallDigest[] }[] = [];
  #heard = new Set<string>();
  #checked: { readonly state: State; readonly command: Command } | undefined;
  #json: string;
  #read: State | undefined;
  #atWork = 0;

  constructor(run: Seen, prompts: readonly InboundMessage[]) {
    this.#run = run;
    this.#transcript = run.stage.transcript;
    this.accepted = prompts.map(({ id }) => ({ id, queue: "prompt" }));
    this.#json = JSON.stringify(this.#state);
    for (const { message } of this.#transcript.listEntries(this.#head)) {
      if (message.role !== "assistant") continue;
      for (const part of message.content) if (part.type === "toolCall") this.#heard.add(part.id);
    }
  }

  get #state(): State {
    return this.#run.stage.machine.state;
  }

  get #isLight(): boolean {
    return this.#run.setting.light === true;
  }

  /** One that is read back after every event is a copy itself. */
  get #comparesCopies(): boolean {
    const { light, throughJson, traced } = this.#run.setting;
    return light !== true && throughJson !== true && traced !== true;
  }

  /** Its trace is compared with that of a run that is checked, so that nothing else of it is. */
  get #isTwin(): boolean {
    const { throughJson, traced } = this.#run.setting;
    return throughJson === true && traced === true;
  }

  /** I1: asked twice, and of a copy, the answer is the same. */
  command(): Command {
    const state = this.#state;
    if (this.#checked?.state === state) return this.#checked.command;
    const command = next(state);
    if (!this.#isLight && !this.#isTwin) same(next(state), command, "I1: next asked twice gives the same");
    if (this.#run.setting.traced === true) this.trace.push(JSON.stringify(command));
    if (this.#comparesCopies) {
      const copy = next(this.#copy());
      if (JSON.stringify(copy) !== JSON.stringify(command)) {
        same(throughJson(copy), throughJson(command), "I1: next of a copy gives the same");
      }
    }
    this.#checked = { state, command };
    return command;
  }

  /** The state, read back from JSON: once for each, as nothing may change it. */
  #copy(): State {
    this.#read ??= JSON.parse(this.#json) as State;
    return this.#read;
  }

  /** Around an event. */
  telling(happening: Happening, tell: () => void): void {
    const { machine } = this.#run.stage;
    const { throughJson: readsBack } = this.#run.setting;
    const before = this.#state;
    const event = { ...happening, atMs: machine.nowMs + 1 } as RunEvent;
    this.#note(before, event);
    tell();
    const after = this.#state;
    if (this.#isTwin) {
      const json = JSON.stringify(after);
      this.trace.push(json);
      machine.readBack(json);
      void this.command();
      return;
    }
    this.moves.add(`${before.phase.type} ${event.type} ${after.phase.type}`);
    if (after.newBranch !== undefined && before.newBranch === undefined) this.left.push(after.branch);
    const json = this.#isLight ? undefined : JSON.stringify(after);
    if (json !== undefined) {
      const twin = this.#comparesCopies ? JSON.stringify(apply(this.#copy(), event)) : json;
      if (this.#run.setting.traced === true) this.trace.push(json);
      this.#json = json;
      this.#read = undefined;
      if (twin !== json) {
        same(JSON.parse(twin), JSON.parse(json), `a state read back takes ${event.type} alike`);
      }
    } else if (machine.nowMs % 10 === 0) this.#json = JSON.stringify(after);
    if (readsBack === true) machine.readBack(json);
    else deepFreeze(after);
    this.#look(before, event, after);
    this.#check();
  }

  #look(before: State, event: RunEvent, after: State): void {
    for (const { position, body } of after.outbox.entries)
      if (body.type === "rejected") this.#unseen.add(position);
    if (event.type === "loop-opened") {
      event.digest.entries.forEach(({ isRejected }, index) => {
        if (isRejected === true) this.#unseen.add(event.digest.from + index);
      });
    }
    // One that the machine never heard of stands where the answer that there is none was to stand.
    if (event.type === "compacted" && event.digest.spans !== undefined) this.#unseen.add(before.length);
    if (event.type === "model-replied" && !/error|aborted/.test(event.digest.stopReason)) {
      for (const { id } of event.digest.calls) this.#heard.add(id);
      this.#answers.push({ position: before.length, calls: event.digest.calls });
    }
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
      event.type === "open-failed"
        ? event.failure.type === "failed"
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

  /** After every event. */
  #check(): void {
    this.largestState = Math.max(this.largestState, Buffer.byteLength(this.#json));
    this.#checkView();
    if (this.#isLight) return;
    void this.command();
    this.#checkMessages();
    this.#checkAnswers();
    this.#checkEvents();
    this.#checkShares();
    if (this.#json.includes(SECRET_OF_TEXT)) {
      const { last: _, ...rest } = this.#state;
      const clean = !JSON.stringify(rest).includes(SECRET_OF_TEXT);
      must(clean, "I5: no text of the conversation is in the state");
    }
  }

  #checkView(): void {
    const { view, branch, length, phase, loop } = this.#state;
    must(view.branch === branch, "the view is of the branch that is written to");
    let at = this.#behindUnseen(0);
    for (const { from, to } of view.spans) {
      must(from === at && to > from, "spans touch and do not overlap");
      at = this.#behindUnseen(to);
    }
    const inbox = phase.type === "recording" && phase.inbox.length > 0;
    must(loop === undefined || inbox || at === length, "the view covers every entry");
  }

  /** Entries of compactions are in no view, nor are words that were refused. */
  #behindUnseen(position: number): number {
    let at = position;
    while (this.#unseen.has(at) && at < this.#state.length) at++;
    return at;
  }

  /** I2. */
  #checkMessages(): void {
    const { queues, phase, outbox, branch } = this.#state;
    const queued = [...queues.steering, ...queues.followUps].map(({ id }) => id);
    const inFlight =
      phase.type === "opening" || phase.type === "starting"
        ? phase.prompts.map(({ id }) => id)
        : phase.type === "recording"
          ? phase.inbox.map(({ id }) => id)
          : [];
    const waiting = outbox.entries.flatMap(({ body }) =>
      body.type === "user" || body.type === "rejected" ? [body.message.id] : [],
    );
    const within = [...queued, ...inFlight, ...waiting];
    const written = this.#written(branch);
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

  get #head(): string {
    return this.#transcript.getBranch() ?? "main";
  }

  /** Ids of messages in the conversation, in order, then those in the inbox. */
  #written(branch = this.#state.branch): string[] {
    const at = this.#state.loop === undefined && branch === "main" ? this.#head : branch;
    const entered = this.#transcript.listEntries(at).flatMap(({ messageId }) => messageId ?? []);
    return [...entered, ...this.#transcript.inbox.map(({ id }) => id)];
  }

  /** Ids of messages that filters have refused: kept in the record, where no model sees them. */
  #refusedIds(): string[] {
    return this.#transcript
      .listEntries(this.#head)
      .flatMap(({ message, messageId }) =>
        message.role === "extension" && message.kind === REJECTED_KIND ? (messageId ?? []) : [],
      );
  }

  /** I3, for answers whose calls are over. */
  #checkAnswers(): void {
    const { outbox, branch } = this.#state;
    const calling = callingOf(this.#state);
    const over = this.#answers.filter(({ position }) => calling?.position !== position);
    this.#answers = this.#answers.filter((answer) => !over.includes(answer));
    for (const { position, calls } of over) {
      calls.forEach((call, index) => {
        const at = position + 1 + index;
        const written = this.#transcript.getMessage(branch, at);
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
    const { loop, outbox } = this.#state;
    if (loop === undefined) return;
    const known = new Map<number, OutboxEvent>();
    for (const event of [...this.#transcript.listEvents(loop.loopId), ...outbox.events]) {
      const there = known.get(event.sequence);
      if (there !== undefined) same(event, there, "I4: a number means one event");
      known.set(event.sequence, event);
    }
    must(
      known.size === loop.eventCount,
      `I4: ${known.size} events are known, ${loop.eventCount} were numbered`,
    );
    must(Math.max(-1, ...known.keys()) === loop.eventCount - 1, "I4: events are numbered without a gap");
  }

  /** I6: open are the shares of those at work, nothing is set aside twice, and what is over counts as it was used. */
  #checkShares(): void {
    const { loop } = this.#state;
    if (loop === undefined) return;
    const { account, turn, loopId } = loop;
    const atWork = (callingOf(this.#state)?.calls ?? []).flatMap(({ status }, index) =>
      status.type === "running" && status.child !== undefined ? [`${turn}.${index}`] : [],
    );
    same(Object.keys(account?.reserved ?? {}).sort(), atWork.sort(), "I6: shares are open for those at work");
    const over = this.settled.filter((one) => one.loopId === loopId);
    const sum = over.map((one) => one.used).reduce(addAmounts, NO_AMOUNTS);
    same(account?.settled ?? NO_AMOUNTS, sum, "I6: what is over counts as it was used");
    const begins = atWork.length > this.#atWork;
    this.#atWork = atWork.length;
    this.sideBySide = Math.max(this.sideBySide, atWork.length);
    if (account === undefined || !begins) return;
    const spent = { ...computeSpent(loop, this.#run.stage.machine.nowMs), turns: turn + 1 };
    const whole = addAmounts(sumUsed(account, spent), sumReserved(account));
    const most = getAllowance(account);
    for (const part of ["turns", "tokens", "nanoUsd", "children"] as const) {
      const limit = most[part];
      must(limit === null || (whole[part] ?? 0) <= limit, `I6: no more ${part} are set aside than there are`);
    }
  }

  /** What is asked of a model. */
  request(command: CallModelCommand, messages: readonly Message[]): void {
    if (this.#isLight || this.#isTwin) return;
    const { setting, commands, stage } = this.#run;
    const { spans } = this.#state.view;
    const entries = this.#transcript.listEntries(this.#head);
    const seesAll =
      this.#unseen.size === 0 &&
      setting.compactAbove === undefined &&
      !commands.some(({ type }) => type === "compact");
    checkRequest(command, messages, entries);
    if (changesViews(setting))
      checkChangedView(messages, stage.transcript, { spans, left: this.left, entries });
    else if (seesAll) checkWholeView(command);
  }

  /** What must be true when a run is over. */
  atEnd(): void {
    if (this.#isTwin) return;
    same(this.#state.outbox, EMPTY_OUTBOX, "everything is written");
    const transcript = this.#transcript;
    for (const { loopId } of transcript.records) expectWholeLoop(transcript.listEvents(loopId));
    const entries = transcript.listEntries(this.#head);
    expectNoOrphans(entries.map(({ message }) => message).filter((message) => this.#isHeard(message)));
    const written = this.#written();
    const refused = this.#refusedIds();
    for (const queue of ["prompt", "steering", "follow-up"] as const) {
      const ids = this.accepted.filter((one) => one.queue === queue && !this.forgotten.has(one.id));
      must(!ids.some(({ id }) => !written.includes(id)), `${queue}: nothing lost`);
      // What was refused is put down at once; what came before it goes on waiting.
      const heard = ids.filter(({ id }) => !refused.includes(id));
      const order = heard.map(({ id }) => written.indexOf(id));
      same(
        order,
        order.toSorted((a, b) => a - b),
        `${queue}: in order`,
      );
    }
    must(new Set(written).size === written.length, `nothing twice: ${written}`);
  }

  /** A model call that was stopped may have stored an answer that the machine never heard of. */
  #isHeard(message: AgentMessage): boolean {
    if (message.role !== "assistant") return true;
    return message.content.every((part) => part.type !== "toolCall" || this.#heard.has(part.id));
  }
}

/** Calls that are under way, also while hooks are asked about them. */
function callingOf({ phase }: State): CallingTools | undefined {
  if (phase.type === "running-hooks") return "phase" in phase.question ? phase.question.phase : undefined;
  return phase.type === "calling-tools" ? phase : undefined;
}

export function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
