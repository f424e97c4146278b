import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { SpawnedGroup } from "../../tool.ts";
import { type KeptOptions, KeptServer, type Listing } from "./kept-server.ts";
import { openServer } from "./open.ts";
import { Masking, referencesIn, type Secrets } from "./references.ts";

export type PoolOptions = {
  readonly secrets: Secrets;
  /** Of this program, as servers are told. */
  readonly version: string;
  readonly log: KeptOptions["log"];
  /** One of them has said what it offers. */
  readonly listed?: () => void;
  /** Awaited before a process of a server starts. */
  readonly spawned?: (group: SpawnedGroup) => Promise<void>;
};

/** Lines of one server's standard error that a log is given. */
const MAX_WORDS = 1000;

/** The servers of a worker: one for each definition, whoever uses it. */
export class McpPool {
  readonly #options: PoolOptions;
  readonly #servers = new Map<string, KeptServer>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** To be asked for anew at each use: one that was idle is forgotten. */
  server(server: McpServer): KeptServer {
    const key = keyOf(server, this.#options.secrets);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const kept = new KeptServer(
      server,
      this.#kept(server, () => this.#servers.delete(key)),
    );
    this.#servers.set(key, kept);
    if (this.#closed) void kept.close();
    return kept;
  }

  /** What it offered when it was last asked. Nothing for one that is not kept: it is not started. */
  known(server: McpServer): Listing | undefined {
    return this.#servers.get(keyOf(server, this.#options.secrets))?.known;
  }

  /** Ends them all. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#servers.values()].map(async (server) => await server.close()));
  }

  #kept(server: McpServer, idle: () => void): KeptOptions {
    const { secrets, version, log, listed, spawned } = this.#options;
    const masking = new Masking(server, secrets);
    const { mask } = masking;
    let spoken = 0;
    const words = (line: string) => {
      spoken += 1;
      if (spoken > MAX_WORDS) return;
      const more = spoken === MAX_WORDS ? " (and more, which is not shown)" : "";
      log.debug({ server: server.name, words: mask(line) }, `An MCP server writes${more}`);
    };
    return {
      log,
      mask,
      listed,
      idle,
      open: async (events, request) =>
        await openServer(
          server,
          { secrets, version, words, spawned, obtained: (secret) => masking.learn(secret) },
          events,
          request,
        ),
    };
  }
}

/** Definitions that mean the same process or session. What they make of its tools does not count. */
function keyOf(server: McpServer, secrets: Secrets): string {
  const { include: _, exclude, replay, confirm, trusted, prefix, resources, required, ...same } = server;
  const values = referencesIn(server).map((name) => [name, secrets(name) ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([same, values]))
    .digest("hex");
}
