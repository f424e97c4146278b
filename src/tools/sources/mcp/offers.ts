import { createHash } from "node:crypto";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import type { LoopAtWork } from "../source.ts";
import type { Listing } from "./kept-server.ts";
import { offered } from "./offered.ts";

// A loop works with the tools that it was opened with. Where a server offers something else by now, the loop is told, so
// that its model hears of it with its next question, whether or not a tool of that server runs.
//
// Invariants
//   O1. A loop is told the same only once by this worker, unless it could not be reached.
//   O2. What is kept is bounded: loops, and times that one loop is told.

/** Loops that are known; who was silent longest goes first. */
const MAX_LOOPS = 1000;

/** A server that changes its mind all the time is not worth a longer history. */
const MAX_TOLD = 16;

/** Of each kind, that a loop is told. */
const MAX_NAMES = 32;

type Server = { readonly server: McpServer; readonly pinned: readonly PinnedTool[]; told: string };

type Loop = {
  readonly at: LoopAtWork;
  readonly servers: readonly Server[];
  times: number;
  sending: Promise<void>;
};

/** As it was when the loop was opened. */
const AS_PINNED = "";

/** Who works with which servers, and what they were told of them. */
export class Offers {
  readonly #known: (server: McpServer) => Listing | undefined;
  readonly #loops = new Map<string, Loop>();
  readonly #offered = new WeakMap<Listing, Map<string, readonly PinnedTool[]>>();

  /** @param known - What a server offered when it was last asked, without asking it. */
  constructor(known: (server: McpServer) => Listing | undefined) {
    this.#known = known;
  }

  /** Until `unwatch`, until the workflow works on another loop, or until it turns out to be over. */
  watch(at: LoopAtWork, { mcp = [], pinned }: Pick<AgentDefinition, "mcp" | "pinned">): void {
    const before = this.#loops.get(at.loopId);
    this.#loops.delete(at.loopId);
    if (before === undefined) this.#forget(({ workflow }) => workflow === at.workflow);
    // What is told before the run knows of its loop may be lost on it.
    const isSame = before?.at.definitionHash === at.definitionHash && before.at.isOpening !== true;
    const loop = isSame
      ? before
      : {
          at,
          servers: mcp.map((server) => ({ server, pinned: toolsOf(server, pinned?.tools), told: AS_PINNED })),
          times: 0,
          sending: Promise.resolve(),
        };
    this.#loops.set(at.loopId, loop);
    this.#forget((_, index) => index < this.#loops.size - MAX_LOOPS);
    this.#compare(loop);
  }

  unwatch(loopId: string): void {
    this.#loops.delete(loopId);
  }

  /** A server has listed its tools. */
  listed(): void {
    for (const loop of [...this.#loops.values()]) this.#compare(loop);
  }

  /** Whether the loop was told of all that it should know about this server. */
  async isTold(loopId: string, { name }: McpServer): Promise<boolean> {
    const loop = this.#loops.get(loopId);
    await loop?.sending;
    const one = loop?.servers.find(({ server }) => server.name === name);
    if (loop === undefined || one === undefined) return false;
    const now = this.#differs(loop, one);
    return now === undefined || now.hash === one.told;
  }

  #compare(loop: Loop): void {
    for (const one of loop.servers) {
      const change = this.#differs(loop, one);
      if (change === undefined || change.hash === one.told || loop.times >= MAX_TOLD) continue;
      const before = one.told;
      one.told = change.hash;
      loop.times += 1;
      const { hash, names } = change;
      const hashTold = hash === AS_PINNED ? "as-pinned" : hash;
      const send = async () => {
        const { loopId } = loop.at;
        const told = await loop.at.tell({ loopId, server: one.server.name, hash: hashTold, ...names });
        if (told === "over") this.#loops.delete(loopId);
        else if (told === "failed" && one.told === hash) one.told = before;
      };
      loop.sending = loop.sending.then(send);
    }
  }

  #differs({ at }: Loop, { server, pinned }: Server) {
    const listing = this.#known(server);
    if (listing === undefined) return undefined;
    const now = this.#offers(server, listing);
    const [old, fresh] = [byRemote(pinned), byRemote(now)];
    const added = now.filter(({ remote }) => !old.has(remote));
    const removed = pinned.filter(({ remote }) => !fresh.has(remote));
    const changed = pinned.filter(({ remote, hash }) => (fresh.get(remote)?.hash ?? hash) !== hash);
    const facts = [...added, ...removed, ...changed].map(({ remote }) => [
      remote,
      fresh.get(remote)?.hash ?? null,
    ]);
    const names = { added: namesOf(added), removed: namesOf(removed), changed: namesOf(changed) };
    if (facts.length === 0) return { hash: AS_PINNED, names };
    const hash = createHash("sha256").update(JSON.stringify([at.definitionHash, facts.sort()]));
    return { hash: hash.digest("hex"), names };
  }

  #offers(server: McpServer, listing: Listing): readonly PinnedTool[] {
    const known = this.#offered.get(listing) ?? new Map<string, readonly PinnedTool[]>();
    this.#offered.set(listing, known);
    const key = JSON.stringify(server);
    const tools = known.get(key) ?? offered(server, listing.tools).tools;
    known.set(key, tools);
    return tools;
  }

  #forget(isOne: (at: LoopAtWork, index: number) => boolean): void {
    let index = 0;
    for (const [loopId, { at }] of [...this.#loops]) if (isOne(at, index++)) this.#loops.delete(loopId);
  }
}

/** Those that stand for its resources are ours, and never change. */
function toolsOf({ name }: McpServer, tools: readonly PinnedTool[] = []): readonly PinnedTool[] {
  return tools.filter(
    ({ source, from, remote }) => source === "mcp" && from === name && !remote.startsWith("resources/"),
  );
}

function byRemote(tools: readonly PinnedTool[]): ReadonlyMap<string, PinnedTool> {
  return new Map(tools.map((tool) => [tool.remote, tool]));
}

function namesOf(tools: readonly PinnedTool[]): readonly string[] {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = tools.length - names.length;
  return more > 0 ? [...names, `and ${more} others`] : names;
}
