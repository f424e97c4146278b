import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { SpawnedGroup } from "../../tool.ts";
import { openServer } from "./open-server.ts";
import { PooledServer, type PooledServerOptions, type ServerListing } from "./pooled-server.ts";
import { listReferences, SecretMasker, type SecretSource } from "./secret-references.ts";

export type McpPoolOptions = {
  readonly secrets: SecretSource;
  /** The version of this program, as reported to servers. */
  readonly version: string;
  readonly log: PooledServerOptions["log"];
  /** Called when a server has listed its tools. */
  readonly onListed?: () => void;
  /** Awaited before the process of a server starts. */
  readonly onSpawned?: (group: SpawnedGroup) => Promise<void>;
};

/** The most lines of one server's standard error that are logged. */
const MAX_STDERR_LINES = 1000;

/** The servers of a worker: one for each definition, shared by all its users. */
export class McpPool {
  readonly #options: McpPoolOptions;
  readonly #servers = new Map<string, PooledServer>();
  #closed = false;

  constructor(options: McpPoolOptions) {
    this.#options = options;
  }

  /** Returns the server. Call this for each use: an idle server is dropped. */
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

  /** Returns the server's last listing. Returns nothing for a server that is not in the pool, and does not start it. */
  getLastListing(server: McpServer): ServerListing | undefined {
    return this.#servers.get(createServerKey(server, this.#options.secrets))?.lastListing;
  }

  /** Stops all servers. */
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
      const more = lineCount === MAX_STDERR_LINES ? " (further lines are omitted)" : "";
      log.debug({ server: server.name, words: mask(line) }, `An MCP server writes to standard error${more}`);
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

/** Returns the same key for definitions with the same process or session. The selection of tools does not matter. */
function createServerKey(server: McpServer, secrets: SecretSource): string {
  const { include: _, exclude, replay, confirm, trusted, prefix, resources, required, ...same } = server;
  const values = listReferences(server).map((name) => [name, secrets(name) ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([same, values]))
    .digest("hex");
}
