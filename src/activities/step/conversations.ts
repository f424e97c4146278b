import { isLeft, type Materialising, materialise, materialiseAll } from "../../conversation/materialise.ts";
import { textsElsewhere, type ViewRanges, viewEnd } from "../../core/view/view-ranges.ts";
import { charactersIn } from "../../models/room.ts";
import type { AgentMessage, Message } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** Characters of conversations that a worker keeps warm, about twice as many bytes of memory. */
const KEPT_CHARACTERS = 64 * 1024 * 1024;

type Kept = {
  readonly entries: Entry[];
  characters: number;
  /** The run that has written the last of them. */
  writer: string | undefined;
};

/**
 * The conversations that this worker has read, so that a turn reads only what is new. Entries never change once
 * they are written; but a session may be deleted, and another one have its name: who has written the last entry tells.
 */
export class Conversations {
  readonly #transcript: Transcript;
  /** By branch; the ones that were used longest ago come first. */
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  /** What the model sees. */
  async messages(
    session: string,
    view: ViewRanges,
    options: Pick<Materialising, "labels"> = {},
  ): Promise<readonly Message[]> {
    const { entries, ...more } = await this.#materials(session, view, options);
    return materialise(view, entries, more);
  }

  /** The same with an application's own messages, as a copy that may be changed. */
  async copy(
    session: string,
    view: ViewRanges,
    options: Pick<Materialising, "labels"> = {},
  ): Promise<readonly AgentMessage[]> {
    const { entries, ...more } = await this.#materials(session, view, options);
    return structuredClone(materialiseAll(view, entries, more));
  }

  async #materials(
    session: string,
    view: ViewRanges,
    options: Pick<Materialising, "labels">,
  ): Promise<Materialising & { readonly entries: readonly Entry[] }> {
    const entries = await this.#upTo(session, view.branch, viewEnd(view));
    const texts = textsElsewhere(view);
    if (texts.length === 0) return { ...options, entries };
    const found = new Map<string, AgentMessage | undefined>();
    for (const { branch, position } of texts) {
      found.set(key(branch, String(position)), await this.message(session, branch, position));
    }
    return {
      ...options,
      entries,
      elsewhere: (branch, position) => found.get(key(branch, String(position))),
    };
  }

  /** The entries that a view speaks of, also those that a text stands for; not those that were pruned. */
  async entries(session: string, view: ViewRanges): Promise<readonly Entry[]> {
    const all = await this.#upTo(session, view.branch, viewEnd(view));
    return all.filter((entry) =>
      view.ranges.some(
        (range) =>
          entry.position >= range.from && entry.position < range.to && isLeft(range, entry, view.faded),
      ),
    );
  }

  /** All entries of a branch before this position. */
  async before(session: string, branch: string, position: number): Promise<readonly Entry[]> {
    const entries = await this.#upTo(session, branch, position);
    return entries.slice(0, position);
  }

  async message(session: string, branch: string, position: number): Promise<AgentMessage | undefined> {
    const { kept } = await this.#known(session, branch, position + 1);
    const known = kept.entries[position];
    if (known !== undefined) return known.message;
    const [entry] = await this.#transcript.entries(session, branch, position, position + 1);
    return entry?.message;
  }

  async #upTo(session: string, branch: string, to: number): Promise<readonly Entry[]> {
    const name = key(session, branch);
    const { kept, writer } = await this.#known(session, branch, to);
    if (kept.entries.length < to) {
      const found = await this.#transcript.entries(session, branch, kept.entries.length, to);
      // Another turn may have read the same meanwhile.
      const added = found.slice(Math.max(0, kept.entries.length - (found[0]?.position ?? 0)));
      const size = added.reduce((sum, entry) => sum + charactersIn(entry.message), 0);
      kept.entries.push(...added);
      kept.characters += size;
      if (kept.entries.length === to) kept.writer = writer;
      if (this.#kept.get(name) === kept) this.#characters += size;
    }
    if (kept.entries.length < to) {
      const found = `branch ${branch} of session ${session} has ${kept.entries.length} entries of ${to}`;
      throw new StoreError("behind", `The transcript is behind: ${found} that the run counts on.`);
    }
    this.#forget(name);
    this.#kept.set(name, kept);
    this.#characters += kept.characters;
    this.#forgetOldest(name);
    return kept.entries;
  }

  /** What is kept of a branch and still stands there, and who has written the entry before `to`. */
  async #known(
    session: string,
    branch: string,
    to: number,
  ): Promise<{ readonly kept: Kept; readonly writer: string | undefined }> {
    const name = key(session, branch);
    const kept = this.#kept.get(name);
    const { entries, writer: before } = kept ?? { entries: [], writer: undefined };
    const places = [to - 1, entries.length - 1];
    const [writer, now] = await this.#transcript.writers(session, branch, places);
    if (kept !== undefined && now !== undefined && now === before) return { kept, writer };
    if (kept !== undefined && this.#kept.get(name) === kept) this.#forget(name);
    return { kept: { entries: [], characters: 0, writer: undefined }, writer };
  }

  #forgetOldest(newest: string): void {
    for (const name of this.#kept.keys()) {
      if (this.#characters <= KEPT_CHARACTERS || name === newest) return;
      this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.characters ?? 0;
    this.#kept.delete(name);
  }
}

function key(session: string, branch: string): string {
  return `${session}\u0000${branch}`;
}
