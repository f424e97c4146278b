import { isDeepStrictEqual } from "node:util";
import type { LoopDigest } from "../../core/machine/state/digest.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Entry, EntryOrigin } from "../../schema/record.ts";
import type { BranchRecord } from "../../store/transcript/session.ts";
import type { NewEntry } from "../../store/transcript/store-write.ts";

/** The view that a closed loop left of its branch up to `to`; without a view, all messages. */
type LoopEnd = { readonly to: number; readonly view?: LoopDigest["view"] };

export const MAIN_BRANCH = "main";

/** The branches of one session in memory, each with its own copy of the entries before its fork. */
export class MemoryBranches {
  readonly #entries = new Map<string, Entry[]>([[MAIN_BRANCH, []]]);
  readonly #parents = new Map<string, BranchRecord["parent"]>([[MAIN_BRANCH, undefined]]);
  readonly #loopEnds = new Map<string, readonly LoopEnd[]>();
  readonly #messageIds = new Set<string>();
  /** The cached results of `listEntries`, until the next write to the branch. */
  readonly #shown = new Map<string, readonly Entry[]>();
  /** Entries of other runs. */
  readonly #foreign = new Set<Entry>();
  /** Entries that steps stored. A machine without their results may use their positions for other messages. */
  readonly #stored = new Set<Entry>();

  get records(): readonly BranchRecord[] {
    return [...this.#parents].map(([id, parent]) => ({ id, parent }));
  }

  listEntries(branch: string): readonly Entry[] {
    const known = this.#shown.get(branch);
    if (known !== undefined) return known;
    const entries = (this.#entries.get(branch) ?? []).filter((entry) => entry !== undefined);
    this.#shown.set(branch, entries);
    return entries;
  }

  getMessage(branch: string, position: number): AgentMessage | undefined {
    return this.#entries.get(branch)?.[position]?.message;
  }

  hasMessage(id: string): boolean {
    return this.#messageIds.has(id);
  }

  /** Creates a branch that leaves another one at this position, unless it exists. */
  create(id: string, parent: string, position: number): void {
    if (this.#entries.has(id)) return;
    this.#entries.set(id, this.listEntries(parent).slice(0, position));
    this.#parents.set(id, { branch: parent, position });
    const ends = this.#loopEnds.get(parent) ?? [];
    this.#loopEnds.set(
      id,
      ends.filter(({ to }) => to <= position),
    );
  }

  /** Returns the branch, or a fork of it if another run's entries are at the write position. */
  getOwn(branch: string, base: number): string {
    if (this.#foreign.size === 0) return branch;
    const after = this.#entries.get(branch)?.slice(base) ?? [];
    if (!after.some((entry) => this.#foreign.has(entry))) return branch;
    const id = `${branch}~${base}`;
    if (!this.#entries.has(id)) {
      this.create(id, branch, base);
      const own = after.filter((entry) => entry !== undefined && !this.#foreign.has(entry));
      for (const entry of own) {
        if (this.#stored.has(entry)) this.store(id, entry);
        else this.put(id, entry);
      }
    }
    return this.getOwn(id, base);
  }

  /** A failed command leaves its entries in the outbox; when they are written again, they must be equal. */
  put(branch: string, { position, origin, message, messageId }: NewEntry): void {
    const entries = this.#entries.get(branch);
    if (entries === undefined) throw new Error(`Branch ${branch} does not exist`);
    const existing = entries[position];
    if (existing !== undefined) {
      if (!this.#stored.has(existing) && !isDeepStrictEqual(existing.message, message))
        throw new Error(`Position ${position} changes`);
      return;
    }
    if (messageId !== undefined) this.#messageIds.add(messageId);
    this.#shown.delete(branch);
    entries[position] = {
      position,
      origin: origin as EntryOrigin,
      message,
      tokens: estimateMessage(message),
      ...omitUndefined({ messageId }),
    };
  }

  /** Stores the result of a step. */
  store(branch: string, entry: NewEntry): void {
    this.put(branch, entry);
    const stored = this.#entries.get(branch)?.[entry.position];
    if (stored !== undefined) this.#stored.add(stored);
  }

  /** Writes an entry of another run at the end of a branch, as a run before a reset may. */
  intrude(branch: string): void {
    const position = this.#entries.get(branch)?.length ?? 0;
    const content = [{ type: "text" as const, text: "of another run" }];
    this.put(branch, { position, origin: "machine", message: { role: "user", content, timestamp: 0 } });
    const entry = this.#entries.get(branch)?.[position];
    if (entry !== undefined) this.#foreign.add(entry);
  }

  /** Notes the view that a loop leaves at the end of the branch. */
  setView(branch: string, view: LoopDigest["view"]): void {
    const end = { to: this.listEntries(branch).length, ...omitUndefined({ view }) };
    this.#loopEnds.set(branch, [...(this.#loopEnds.get(branch) ?? []), end]);
  }

  /** Returns the view with which a loop begins after these entries of the branch. */
  getView(branch: string, before: readonly Entry[]): LoopDigest["view"] {
    const ends = (this.#loopEnds.get(branch) ?? []).filter(({ to }) => to <= before.length);
    return buildViewAfter(ends.at(-1), before);
  }
}

/** Entries after the end are included in full. */
function buildViewAfter(end: LoopEnd | undefined, before: readonly Entry[]): LoopDigest["view"] {
  if (end?.view === undefined) return undefined;
  const after = before.slice(end.to);
  if (after.length === 0) return end.view;
  const tokens = after.reduce((sum, entry) => sum + entry.tokens, 0);
  const span = { from: end.to, to: before.length, turns: 1, tokens };
  return { ...end.view, spans: [...end.view.spans, span] };
}
