import { isDeepStrictEqual } from "node:util";
import { buildOutboxMessage } from "../../core/machine/outbox.ts";
import { buildRejectedMessage, buildUserContent } from "../../core/machine/rejected-message.ts";
import type { CallModelCommand, CloseLoopCommand } from "../../core/machine/state/activity-command.ts";
import type { LoopDigest, OpenedDigest } from "../../core/machine/state/digest.ts";
import type { InboundMessage } from "../../core/machine/state/inbound-message.ts";
import type { NewBranch, OutboxEntry, OutboxEvent } from "../../core/machine/state/outbox.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Entry, Outcome } from "../../schema/record.ts";
import { findLeftBranches, REVERT_PREFIX } from "../../store/transcript/find-left-branches.ts";
import type { LoopOpening } from "../../store/transcript/loop.ts";
import type { BranchRecord, NewMessage } from "../../store/transcript/session.ts";
import type { NewEntry } from "../../store/transcript/store-write.ts";
import type { LoopTrace } from "./events.ts";
import { MAIN_BRANCH, MemoryBranches } from "./memory-branches.ts";

type Opening = Pick<
  LoopOpening,
  "segment" | "spawn" | "kind" | "at" | "inbox" | "prompts" | "rejected" | "rejectedMessages" | "rejectedBy"
>;

/** The outbox of a command, and its write target. */
type MemoryWrite = Pick<CallModelCommand, "outbox" | "branch" | "base" | "newBranch"> & {
  readonly loopId?: string;
};

type Loop = {
  readonly loopId: string;
  branch: string;
  readonly from: number;
  readonly events: OutboxEvent[];
  outcome?: Outcome;
};

type ReadText = (place: {
  readonly session: string;
  readonly branch: string;
  readonly position: number;
}) => string | undefined;

/** One session in memory: the plain driver's own writes, and entries of another run at the end of a branch. */
export class MemoryTranscript {
  readonly #branches = new MemoryBranches();
  readonly #loops: Loop[] = [];
  readonly #session: string;
  readonly #readText: ReadText;
  #grants: LoopDigest["grants"];
  inbox: InboundMessage[] = [];

  /** @param wordsAt - Reads the text of a sub-agent's answer in the sub-agent's own session. */
  constructor(session: string, wordsAt: ReadText = () => undefined) {
    this.#session = session;
    this.#readText = wordsAt;
  }

  get loops(): readonly LoopTrace[] {
    return this.#loops.map(({ loopId, branch, events }) => ({
      loopId,
      ...this.#traceOf(branch, events),
    }));
  }

  #traceOf(branch: string, events: readonly OutboxEvent[]): Pick<LoopTrace, "events" | "parts"> {
    const bodies = events.map(({ body }) => body);
    const parts = [...findLeftBranches(this.branches, branch, bodies), branch];
    return { events: bodies, parts: parts.map((part) => this.listEntries(part)) };
  }

  get records(): readonly Pick<Loop, "loopId" | "branch" | "from" | "outcome">[] {
    return this.#loops;
  }

  get branches(): readonly BranchRecord[] {
    return this.#branches.records;
  }

  listEvents(loopId: string): readonly OutboxEvent[] {
    return this.#loops.find((loop) => loop.loopId === loopId)?.events ?? [];
  }

  /** Counts the events of all loops so far. */
  get eventCount(): number {
    return this.#loops.reduce((sum, { events }) => sum + events.length, 0);
  }

  /** Returns the branch of this loop, by default of the newest; undefined for an unknown loop. */
  getBranch(loop = this.#loops.length - 1): string | undefined {
    return this.#loops[loop]?.branch;
  }

  listEntries(branch: string): readonly Entry[] {
    return this.#branches.listEntries(branch);
  }

  getMessage(branch: string, position: number): AgentMessage | undefined {
    return this.#branches.getMessage(branch, position);
  }

  /** Stores the result of a step. */
  store(branch: string, entry: NewEntry): void {
    this.#branches.store(branch, entry);
  }

  /** Writes an entry of another run at the end of a branch, as a run before a reset may. */
  intrude(branch: string): void {
    this.#branches.intrude(branch);
  }

  /** Writes the messages of a loop's start, each id once: first the inbox, which is emptied, then the prompts. */
  openLoop(opening: Opening): OpenedDigest {
    const { segment, kind, at, rejected, rejectedBy, spawn } = opening;
    const number = this.#loops.length;
    const loopId = `${this.#session}.${segment}.${number + 1}`;
    const head = at?.branch ?? this.getBranch() ?? MAIN_BRANCH;
    const all = this.listEntries(head);
    const from = at?.position ?? all.length;
    const before = at === undefined || kind.type !== "branch" ? undefined : all[from - 1]?.message;
    const branchLoopId =
      before === undefined || before.role === "extension" ? undefined : before.turnId?.loopId;
    const parentLoopId = branchLoopId ?? this.#loops.at(-1)?.loopId ?? spawn?.loopId;
    const branch = from < all.length ? `${head}/${number}` : head;
    if (branch !== head) this.#branches.create(branch, head, from);
    const view = this.#branches.getView(branch, all.slice(0, from));
    const entries =
      rejected === undefined
        ? this.#storePrompts(branch, loopId, opening)
        : this.#storeRejected(branch, opening);
    this.#loops.push({ loopId, branch, from, events: [] });
    return {
      loopId,
      ...omitUndefined({ parentLoopId }),
      kind,
      branch,
      from,
      tokensBefore: all.slice(0, from).reduce((sum, { tokens }) => sum + tokens, 0),
      ...omitUndefined({ view, grants: this.#grants }),
      entries,
      ...omitUndefined({ rejected, rejectedBy }),
    };
  }

  /** The inbox, as a loop's opening takes it. */
  get waiting(): readonly NewMessage[] {
    return this.inbox.map(({ text = "", parts: _, ...rest }) => ({ ...rest, text }));
  }

  #storeRejected(branch: string, { rejectedMessages = [], rejected = "" }: Opening): OpenedDigest["entries"] {
    this.inbox = this.inbox.filter((message) => !rejectedMessages.some(({ id }) => id === message.id));
    return rejectedMessages.map(({ id, text, atMs, origin = "inbox" }) => {
      const message = buildRejectedMessage(text, rejected, atMs);
      this.#branches.put(branch, {
        position: this.listEntries(branch).length,
        origin,
        message,
        messageId: id,
      });
      return { origin, messageId: id, tokens: estimateMessage(message), isRejected: true as const };
    });
  }

  #storePrompts(branch: string, loopId: string, { kind, inbox, prompts }: Opening): OpenedDigest["entries"] {
    if (kind.type === "compaction") return [];
    const waiting = (inbox ?? this.waiting).map((message) => ({ ...message, origin: "inbox" as const }));
    this.inbox = [];
    return [...waiting, ...prompts].flatMap(({ id, text, warning, atMs, metadata, origin = "prompt" }) => {
      if (this.#branches.hasMessage(id)) return [];
      const message: AgentMessage = {
        role: "user",
        content: [...buildUserContent(text, warning)],
        timestamp: atMs,
        ...omitUndefined({ metadata }),
        turnId: { loopId, turnIndex: 0 },
      };
      this.#branches.put(branch, {
        position: this.listEntries(branch).length,
        origin,
        message,
        messageId: id,
      });
      return [{ origin, messageId: id, tokens: estimateMessage(message) }];
    });
  }

  /** Returns the messages with which the next loop begins. */
  closeLoop({
    loopId,
    branch,
    view,
    grants,
    outcome,
  }: Pick<CloseLoopCommand, "loopId" | "branch" | "view" | "grants" | "outcome">): void {
    const loop = this.#loops.find((one) => one.loopId === loopId);
    if (loop !== undefined) loop.outcome = outcome;
    this.#branches.setView(branch, view);
    if (grants !== undefined) this.#grants = grants;
  }

  /** Writes the machine's outbox, and returns the branch of the command. */
  write({ outbox, branch: named, base, newBranch, loopId = "" }: MemoryWrite): string {
    const { entries } = outbox;
    const start = newBranch === undefined ? named : this.#forkBranch(named, newBranch, loopId, entries);
    const branch = this.#branches.getOwn(start, base);
    for (const entry of entries) {
      if (newBranch === undefined || entry.left !== true) this.#putEntry(branch, entry, loopId);
    }
    const loop = this.#loops.find((one) => one.loopId === loopId);
    if (loop !== undefined) loop.branch = branch;
    for (const event of outbox.events) {
      const { sequence, body } = event;
      const recorded = loop?.events[sequence];
      if (loop === undefined || (recorded === undefined && sequence !== loop.events.length)) {
        throw new Error(`Event ${sequence} (${body.type}) follows ${loop?.events.length ?? "no loop"}`);
      }
      if (recorded === undefined) loop.events.push(event);
      else if (!isDeepStrictEqual(recorded, event))
        throw new Error(`Event ${sequence} changes to ${body.type}`);
    }
    return branch;
  }

  /** Forks the branch for a revert by the model; first writes the entries of the old branch. */
  #forkBranch(
    parent: string,
    { at, by }: NewBranch,
    loopId: string,
    entries: readonly OutboxEntry[],
  ): string {
    for (const entry of entries) if (entry.left === true) this.#putEntry(parent, entry, loopId);
    const id = `${REVERT_PREFIX}${parent}-${at}-${by}`;
    this.#branches.create(id, parent, at);
    return id;
  }

  #putEntry(branch: string, entry: OutboxEntry, loopId: string): void {
    const { position, origin, body } = entry;
    const messageId = body.type === "user" || body.type === "rejected" ? body.message.id : undefined;
    const text = body.type === "report" && body.from !== undefined ? this.#readText(body.from) : undefined;
    this.#branches.put(branch, {
      position,
      origin,
      message: buildOutboxMessage(entry, loopId, text),
      messageId,
    });
  }

  putInbox(messages: readonly InboundMessage[]): void {
    for (const message of messages) {
      const known = this.inbox.some(({ id }) => id === message.id) || this.#branches.hasMessage(message.id);
      if (!known) this.inbox.push(message);
    }
  }
}
