import {
  isVisible,
  type MaterialiseOptions,
  materialise,
  materialiseAll,
} from "../../conversation/materialise.ts";
import { type Attachment, isAttachment } from "../../core/view/attachment.ts";
import { parseDataReference } from "../../core/view/data-reference.ts";
import { findViewEnd, listForeignTexts, type ViewRanges } from "../../core/view/view-ranges.ts";
import { countCharacters } from "../../models/assert-request-size.ts";
import type { AgentMessage, Content, Message } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

/** The most characters of conversations that a worker caches, about twice as many bytes of memory. */
const MAX_CACHED_CHARACTERS = 64 * 1024 * 1024;

type CachedBranch = {
  readonly entries: Entry[];
  characters: number;
  /** The run that wrote the last of them. */
  writer: string | undefined;
};

/** The most characters of images and files in base64 that a worker caches, which are as many bytes of memory. */
const MAX_CACHED_DATA = 64 * 1024 * 1024;

/**
 * Caches the conversations that this worker has read, so that a turn reads only new entries. Written entries never
 * change. But a session may be deleted and its name reused: the writer of the last entry tells the two apart.
 *
 * Messages have references in place of the data of images and files: `loadData` reads the data of those that are needed.
 */
export class Conversations {
  readonly #transcript: Transcript;
  /** By branch; the least recently used come first. */
  readonly #cache = new Map<string, CachedBranch>();
  #characters = 0;
  /** Base64 by hash; the least recently used come first. */
  readonly #data = new Map<string, string>();
  #dataCharacters = 0;

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  /** Reads the messages that the model sees. */
  async readMessages(
    session: string,
    view: ViewRanges,
    options: Pick<MaterialiseOptions, "labels"> = {},
  ): Promise<readonly Message[]> {
    const { entries, ...more } = await this.#readMaterials(session, view, options);
    return materialise(view, entries, more);
  }

  /** Reads the same messages with an application's own ones, as a copy that may be changed. */
  async copyMessages(
    session: string,
    view: ViewRanges,
    options: Pick<MaterialiseOptions, "labels"> = {},
  ): Promise<readonly AgentMessage[]> {
    const { entries, ...more } = await this.#readMaterials(session, view, options);
    return structuredClone(materialiseAll(view, entries, more));
  }

  async #readMaterials(
    session: string,
    view: ViewRanges,
    options: Pick<MaterialiseOptions, "labels">,
  ): Promise<MaterialiseOptions & { readonly entries: readonly Entry[] }> {
    const entries = await this.#readUpTo(session, view.branch, findViewEnd(view));
    const texts = listForeignTexts(view);
    if (texts.length === 0) return { ...options, entries };
    const found = new Map<string, AgentMessage | undefined>();
    for (const { branch, position } of texts) {
      found.set(buildKey(branch, String(position)), await this.readMessage(session, branch, position));
    }
    return {
      ...options,
      entries,
      readMessage: (branch, position) => found.get(buildKey(branch, String(position))),
    };
  }

  /** Returns the messages with the data of their images and files. */
  async loadData<Loaded extends AgentMessage>(messages: readonly Loaded[]): Promise<readonly Loaded[]> {
    const loaded: Loaded[] = [];
    for (const message of messages) {
      if (message.role === "extension") loaded.push(message);
      else loaded.push({ ...message, content: await this.#loadParts(message.content) });
    }
    return loaded;
  }

  async #loadParts(content: readonly Content[]): Promise<Content[]> {
    const parts: Content[] = [];
    for (const part of content) {
      const reference = isAttachment(part) ? parseDataReference(part.data) : undefined;
      if (reference === undefined) parts.push(part);
      else parts.push({ ...(part as Attachment), data: await this.#readData(reference.hash) });
    }
    return parts;
  }

  async #readData(hash: string): Promise<string> {
    const data = this.#data.get(hash) ?? (await this.#transcript.readData(hash));
    if (!this.#data.delete(hash)) this.#dataCharacters += data.length;
    this.#data.set(hash, data);
    for (const [oldest, { length }] of this.#data) {
      if (this.#dataCharacters <= MAX_CACHED_DATA || oldest === hash) break;
      this.#data.delete(oldest);
      this.#dataCharacters -= length;
    }
    return data;
  }

  /** Reads the entries that a view covers, including those that a text replaces, but not those that were pruned. */
  async readEntries(session: string, view: ViewRanges): Promise<readonly Entry[]> {
    const all = await this.#readUpTo(session, view.branch, findViewEnd(view));
    return all.filter((entry) =>
      view.ranges.some(
        (range) =>
          entry.position >= range.from &&
          entry.position < range.to &&
          isVisible(range, entry, view.fadedBefore),
      ),
    );
  }

  /** Reads all entries of a branch before this position. */
  async readEntriesBefore(session: string, branch: string, position: number): Promise<readonly Entry[]> {
    const entries = await this.#readUpTo(session, branch, position);
    return entries.slice(0, position);
  }

  async readMessage(session: string, branch: string, position: number): Promise<AgentMessage | undefined> {
    if (this.#cache.has(buildKey(session, branch))) {
      return (await this.#update(session, branch, position + 1)).entries[position]?.message;
    }
    const [entry] = await this.#transcript.readEntries(session, branch, position, position + 1, "reference");
    return entry?.message;
  }

  async #readUpTo(session: string, branch: string, to: number): Promise<readonly Entry[]> {
    const { entries } = await this.#update(session, branch, to);
    if (entries.length < to) {
      const found = `branch ${branch} of session ${session} has ${entries.length} of the ${to} entries`;
      throw new StoreError("behind", `The transcript is behind: ${found} that the run expects.`);
    }
    return entries;
  }

  /** Reads what the cache does not have of a branch before `to`. */
  async #update(session: string, branch: string, to: number): Promise<CachedBranch> {
    const name = buildKey(session, branch);
    const kept = this.#cache.get(name);
    const known = { count: kept?.entries.length ?? 0, writer: kept?.writer };
    const { follows, entries, writer } = await this.#transcript.readContinuation(session, branch, known, to);
    const isValid = kept !== undefined && follows;
    const cached: CachedBranch = isValid ? kept : { entries: [], characters: 0, writer: undefined };
    this.#evict(name);
    // Another turn may have read the same entries meanwhile.
    const added = entries.slice(cached.entries.length - (isValid ? known.count : 0));
    cached.characters += added.reduce((sum, entry) => sum + countCharacters(entry.message), 0);
    cached.entries.push(...added);
    if (added.length > 0) cached.writer = writer;
    this.#cache.set(name, cached);
    this.#characters += cached.characters;
    this.#evictOldest(name);
    return cached;
  }

  #evictOldest(newest: string): void {
    for (const name of this.#cache.keys()) {
      if (this.#characters <= MAX_CACHED_CHARACTERS || name === newest) return;
      this.#evict(name);
    }
  }

  #evict(name: string): void {
    this.#characters -= this.#cache.get(name)?.characters ?? 0;
    this.#cache.delete(name);
  }
}

function buildKey(session: string, branch: string): string {
  return `${session}\u0000${branch}`;
}
