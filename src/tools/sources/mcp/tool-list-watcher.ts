import { createHash } from "node:crypto";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ActiveLoop } from "../tool-source.ts";
import { pinTools } from "./pin-tools.ts";
import type { ServerListing } from "./pooled-server.ts";
import type { ServerPlace } from "./server-place.ts";

// A loop works with the tools that were pinned when it opened. If a server changes its list, the loop is notified, so that
// its model learns of the change with its next request, whether or not a tool of that server runs.
//
// Invariants
//   O1. This worker notifies a loop of the same change only once, unless the loop could not be reached.
//   O2. The stored data is bounded: the loops, and the notifications of one loop.

/** The most loops that are watched. The one that was silent longest is dropped first. */
const MAX_LOOPS = 1000;

/** The most notifications of one loop: a server that changes constantly needs no longer history. */
const MAX_NOTIFICATIONS = 16;

/** The most names of each kind in one notification. */
const MAX_NAMES = 32;

type WatchedServer = {
  readonly server: McpServer;
  readonly place: ServerPlace;
  readonly pinned: readonly PinnedTool[];
  notifiedHash: string;
};

type WatchedLoop = {
  readonly active: ActiveLoop;
  readonly servers: readonly WatchedServer[];
  notifications: number;
  sending: Promise<void>;
};

type GetLastListing = (server: McpServer, place: ServerPlace) => ServerListing | undefined;

/** The state when the loop was opened. */
const PINNED_HASH = "";

/** Knows which loops work with which servers, and what they were notified of. */
export class ToolListWatcher {
  readonly #getLastListing: GetLastListing;
  readonly #loops = new Map<string, WatchedLoop>();
  readonly #pinnedTools = new WeakMap<ServerListing, Map<string, readonly PinnedTool[]>>();

  /** @param known - Returns the last listing of a server, without a request to it. */
  constructor(known: GetLastListing) {
    this.#getLastListing = known;
  }

  /** Watches until `unwatch`, until the workflow works on another loop, or until the loop has ended. */
  watch(
    active: ActiveLoop,
    { mcp = [], pinned }: Pick<AgentDefinition, "mcp" | "pinned">,
    getPlace: (server: McpServer) => ServerPlace,
  ): void {
    const before = this.#loops.get(active.loopId);
    this.#loops.delete(active.loopId);
    if (before === undefined) this.#forget(({ workflow }) => workflow === active.workflow);
    // A notification may be lost before the run knows its loop.
    const isSame =
      before?.active.definitionHash === active.definitionHash && before.active.isOpening !== true;
    const watched = isSame
      ? before
      : {
          active,
          servers: mcp.map((server) => ({
            server,
            place: getPlace(server),
            pinned: filterServerTools(server, pinned?.tools),
            notifiedHash: PINNED_HASH,
          })),
          notifications: 0,
          sending: Promise.resolve(),
        };
    this.#loops.set(active.loopId, watched);
    this.#forget((_, index) => index < this.#loops.size - MAX_LOOPS);
    this.#notifyOfChanges(watched);
  }

  unwatch(loopId: string): void {
    this.#loops.delete(loopId);
  }

  /** Compares the listing of a server with what its loops know. */
  compareAll(): void {
    for (const loop of [...this.#loops.values()]) this.#notifyOfChanges(loop);
  }

  /** Returns whether the loop was notified of all changes of this server. */
  async isNotified(loopId: string, { name }: McpServer): Promise<boolean> {
    const loop = this.#loops.get(loopId);
    await loop?.sending;
    const one = loop?.servers.find(({ server }) => server.name === name);
    if (loop === undefined || one === undefined) return false;
    const now = this.#findChange(loop, one);
    return now === undefined || now.hash === one.notifiedHash;
  }

  #notifyOfChanges(loop: WatchedLoop): void {
    for (const one of loop.servers) {
      const change = this.#findChange(loop, one);
      if (change === undefined || change.hash === one.notifiedHash || loop.notifications >= MAX_NOTIFICATIONS)
        continue;
      const before = one.notifiedHash;
      one.notifiedHash = change.hash;
      loop.notifications += 1;
      const { hash, names } = change;
      const reportedHash = hash === PINNED_HASH ? "as-pinned" : hash;
      const send = async () => {
        const { loopId } = loop.active;
        const result = await loop.active.notify({
          loopId,
          server: one.server.name,
          hash: reportedHash,
          ...names,
        });
        if (result === "ended") this.#loops.delete(loopId);
        else if (result === "failed" && one.notifiedHash === hash) one.notifiedHash = before;
      };
      loop.sending = loop.sending.then(send);
    }
  }

  #findChange({ active }: WatchedLoop, { server, place, pinned }: WatchedServer) {
    const listing = this.#getLastListing(server, place);
    if (listing === undefined) return undefined;
    const now = this.#getPinnedTools(server, listing);
    const [oldTools, newTools] = [indexByRemote(pinned), indexByRemote(now)];
    const added = now.filter(({ remote }) => !oldTools.has(remote));
    const removed = pinned.filter(({ remote }) => !newTools.has(remote));
    const changed = pinned.filter(({ remote, hash }) => (newTools.get(remote)?.hash ?? hash) !== hash);
    const facts = [...added, ...removed, ...changed].map(({ remote }) => [
      remote,
      newTools.get(remote)?.hash ?? null,
    ]);
    const names = { added: formatNames(added), removed: formatNames(removed), changed: formatNames(changed) };
    if (facts.length === 0) return { hash: PINNED_HASH, names };
    const hash = createHash("sha256").update(JSON.stringify([active.definitionHash, facts.sort()]));
    return { hash: hash.digest("hex"), names };
  }

  #getPinnedTools(server: McpServer, listing: ServerListing): readonly PinnedTool[] {
    const known = this.#pinnedTools.get(listing) ?? new Map<string, readonly PinnedTool[]>();
    this.#pinnedTools.set(listing, known);
    const key = JSON.stringify(server);
    const tools = known.get(key) ?? pinTools(server, listing.tools).tools;
    known.set(key, tools);
    return tools;
  }

  #forget(isOne: (active: ActiveLoop, index: number) => boolean): void {
    let index = 0;
    for (const [loopId, { active }] of [...this.#loops])
      if (isOne(active, index++)) this.#loops.delete(loopId);
  }
}

/** Filters the tools of one server. Its resource tools are Holdfast's own and never change. */
function filterServerTools({ name }: McpServer, tools: readonly PinnedTool[] = []): readonly PinnedTool[] {
  return tools.filter(
    ({ source, from, remote }) => source === "mcp" && from === name && !remote.startsWith("resources/"),
  );
}

function indexByRemote(tools: readonly PinnedTool[]): ReadonlyMap<string, PinnedTool> {
  return new Map(tools.map((tool) => [tool.remote, tool]));
}

function formatNames(tools: readonly PinnedTool[]): readonly string[] {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = tools.length - names.length;
  return more > 0 ? [...names, `and ${more} others`] : names;
}
