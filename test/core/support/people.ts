import { listPendingApprovals } from "../../../src/core/machine/approvals.ts";
import type { InboundMessage } from "../../../src/core/machine/state/inbound-message.ts";
import type { State } from "../../../src/core/machine/state/state.ts";
import type { MemoryTranscript } from "../../../src/devkit/scenario/memory-transcript.ts";
import type { Happening, Machine } from "../../../src/devkit/scenario/plain/machine.ts";
import type { QueueMode } from "../../../src/schema/definition.ts";
import { eventLine, lineOf } from "./lines.ts";

/** What people do to a run, and what its record shows them. */
export abstract class People {
  abstract readonly transcript: MemoryTranscript;
  abstract readonly stage: { readonly machine: Machine };
  /** Each asking of hooks, behind so many events of its loop. */
  readonly hooked: { readonly loopId: string; readonly behind: number; readonly line: string }[] = [];

  /** What was told is applied, and everything is checked. */
  abstract tell(happening: Happening): this;
  protected abstract message(text: string, id?: string): InboundMessage;

  get state(): State {
    return this.stage.machine.state;
  }
  get now(): number {
    return this.stage.machine.nowMs;
  }
  /** The Temporal run, which changes with continue-as-new. */
  get run(): string {
    return this.stage.machine.run;
  }
  get phase(): State["phase"]["type"] {
    return this.state.phase.type;
  }

  steer(text: string, id?: string): this {
    return this.tell({ type: "steered", message: this.message(text, id) });
  }
  followUp(text: string, id?: string): this {
    return this.tell({ type: "followed-up", message: this.message(text, id) });
  }
  prompt(text: string, id?: string): this {
    return this.tell({ type: "prompted", message: this.message(text, id) });
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
    if (asked?.questionRef !== undefined) {
      const said = yes ? { answer: "accept" as const, values: "values-1" } : { answer: "decline" as const };
      return this.tell({
        type: "approval-answered",
        toolCallId,
        answer: { type: "answer", ...said },
        by: "ada",
      });
    }
    const answer = yes ? { type: "approve" as const, always } : { type: "deny" as const, reason: "no" };
    return this.tell({ type: "approval-answered", toolCallId, answer });
  }
  compact(focus?: string): this {
    return this.tell({ type: "compaction-requested", ...(focus === undefined ? {} : { focus }) });
  }
  update(hash: string): this {
    return this.tell({ type: "definition-update-requested", hash });
  }
  rotationDue(): this {
    return this.tell({ type: "rotation-requested" });
  }
  pass(ms: number): this {
    this.stage.machine.pass(ms);
    return this;
  }
  timePassed(): this {
    return this.tell({ type: "timer-fired" });
  }

  /** The branch that is written to. */
  get branch(): string {
    return this.transcript.getBranch() ?? "main";
  }

  /** The conversation, a line for each message. */
  get lines(): string[] {
    return this.transcript.listEntries(this.branch).map(lineOf);
  }

  /** The events of a loop, a line each. */
  eventLines(loopId = this.transcript.records.at(-1)?.loopId ?? ""): string[] {
    return this.transcript.listEvents(loopId).map(eventLine);
  }

  /** Events and askings of hooks, as one story of a loop. */
  story(loopId = this.transcript.records.at(-1)?.loopId ?? ""): string[] {
    const lines = this.eventLines(loopId);
    const told = this.hooked.filter((one) => one.loopId === loopId);
    const at = (behind: number) => told.filter((one) => one.behind === behind).map(({ line }) => line);
    return [...lines.flatMap((line, index) => [...at(index), line]), ...at(lines.length)];
  }

  get inboxTexts(): (string | undefined)[] {
    return this.transcript.inbox.map(({ text }) => text);
  }
}
