import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { SpawnedGroup } from "../../tool.ts";
import { openServer } from "./open-server.ts";
import { PooledServer, type PooledServerOptions, type ServerListing } from "./pooled-server.ts";
import { listReferences, SecretMasker, type SecretSource } from "./secret-references.ts";

export type McpPoolOptions = {
  readonly secrets: SecretSource;
  /** Of this program, as servers are told. */
  readonly version: string;
  readonly log: PooledServerOptions["log"];
  /** One of them has said what it offers. */
  readonly onListed?: () => void;
  /** Awaited before a process of a server starts. */
  readonly onSpawned?: (group: SpawnedGroup) => Promise<void>;
};

/** Lines of one server's standard error that a log is given. */
const MAX_STDERR_LINES = 1000;

/** The servers of a worker: one for each definition, whoever uses it. */
export class McpPool {
  readonly #options: McpPoolOptions;
  readonly #servers = new Map<string, PooledServer>();
  #closed = false;

  constructor(options: McpPoolOptions) {
    this.#options = options;
  }

  /** To be asked for anew at each use: one that was idle is forgotten. */
  getServer(server: McpServer): PooledServer {
    const key = createServerKey(server, this.#options.secrets);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const pooled = new PooledServer(
      server,
      this.#createServerOptions(server, () => this.#servers.delete(key)),
    );
    this.#servers.set(key, pooled);
    if (this.#closed) void pooled.close();
    return pooled;
  }

  /** What it offered when it was last asked. Nothing for one that is not kept: it is not started. */
  getLastListing(server: McpServer): ServerListing | undefined {
    return this.#servers.get(createServerKey(server, this.#options.secrets))?.lastListing;
  }

  /** Ends them all. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#servers.values()].map(async (server) => await server.close()));
  }

  #createServerOptions(server: McpServer, idle: () => void): PooledServerOptions {
    const { secrets, version, log, onListed, onSpawned } = this.#options;
    const masking = new SecretMasker(server, secrets);
    const { mask } = masking;
    let lineCount = 0;
    const onStderrLine = (line: string) => {
      lineCount += 1;
      if (lineCount > MAX_STDERR_LINES) return;
      const more = lineCount === MAX_STDERR_LINES ? " (and more, which is not shown)" : "";
      log.debug({ server: server.name, words: mask(line) }, `An MCP server writes${more}`);
    };
    return {
      log,
      mask,
      onListed,
      onIdle: idle,
      open: async (events, request) =>
        await openServer(
          server,
          { secrets, version, onStderrLine, onSpawned, onToken: (secret) => masking.addSecret(secret) },
          events,
          request,
        ),
    };
  }
}

/** Definitions that mean the same process or session. What they make of its tools does not count. */
function createServerKey(server: McpServer, secrets: SecretSource): string {
  const { include: _, exclude, replay, confirm, trusted, prefix, resources, required, ...same } = server;
  const values = listReferences(server).map((name) => [name, secrets(name) ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([same, values]))
    .digest("hex");
}
