import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { SpawnedGroup } from "../../tool.ts";
import { openServer } from "./open-server.ts";
import { PooledServer, type PooledServerOptions, type ServerListing } from "./pooled-server.ts";
import { SandboxWatch } from "./sandbox-watch.ts";
import { listReferences, SecretMasker, type SecretSource } from "./secret-references.ts";
import { formatPlace, type ServerPlace } from "./server-place.ts";

export type McpPoolOptions = {
  /** Start the processes of servers. */
  readonly sandboxes: Pick<Sandboxes, "open">;
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

/** The most connections of one server that are logged. */
const MAX_LOGGED_CONNECTIONS = 1000;

/** The servers of a worker: one for each definition and place, shared by all its users. */
export class McpPool {
  readonly #options: McpPoolOptions;
  readonly #servers = new Map<string, PooledServer>();
  #closed = false;

  constructor(options: McpPoolOptions) {
    this.#options = options;
  }

  /** Returns the server. Call this for each use: an idle server is dropped. */
  getServer(server: McpServer, place: ServerPlace): PooledServer {
    const key = createServerKey(server, place, this.#options.secrets);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const pooled = new PooledServer(
      server,
      this.#createServerOptions(server, place, () => this.#servers.delete(key)),
    );
    this.#servers.set(key, pooled);
    if (this.#closed) void pooled.close();
    return pooled;
  }

  /** Returns the server's last listing. Returns nothing for a server that is not in the pool, and does not start it. */
  getLastListing(server: McpServer, place: ServerPlace): ServerListing | undefined {
    return this.#servers.get(createServerKey(server, place, this.#options.secrets))?.lastListing;
  }

  /** Stops all servers. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#servers.values()].map(async (server) => await server.close()));
  }

  #createServerOptions(server: McpServer, place: ServerPlace, idle: () => void): PooledServerOptions {
    const { sandboxes, secrets, version, log, onListed, onSpawned } = this.#options;
    const masking = new SecretMasker(server, secrets);
    const { mask } = masking;
    let lineCount = 0;
    const onStderrLine = (line: string) => {
      lineCount += 1;
      if (lineCount > MAX_STDERR_LINES) return;
      const more = lineCount === MAX_STDERR_LINES ? " (further lines are omitted)" : "";
      log.debug({ server: server.name, words: mask(line) }, `An MCP server writes to standard error${more}`);
    };
    const watch = server.transport.type === "stdio" ? this.#createWatch(server, place, mask) : undefined;
    const openSandbox = async () => {
      const use = { settings: place.sandbox, workspace: place.workspace };
      return (await sandboxes.open(use, watch?.events)).start;
    };
    return {
      log,
      mask,
      sandbox: watch,
      onListed,
      onIdle: idle,
      open: async (events, request) =>
        await openServer(
          server,
          {
            place,
            openSandbox,
            secrets,
            version,
            onStderrLine,
            onSpawned,
            onToken: (secret) => masking.addSecret(secret),
          },
          events,
          request,
        ),
    };
  }

  /** Logs what a server does in its sandbox while nothing calls it. */
  #createWatch({ name }: McpServer, { sandbox }: ServerPlace, mask: (text: string) => string): SandboxWatch {
    const { log } = this.#options;
    let count = 0;
    return new SandboxWatch({
      mode: sandbox.mode,
      onUnassigned: ({ host, ...connection }) => {
        count += 1;
        if (count > MAX_LOGGED_CONNECTIONS) return;
        const more = count === MAX_LOGGED_CONNECTIONS ? " (further connections are omitted)" : "";
        const facts = { server: name, ...(host === undefined ? {} : { host: mask(host) }), ...connection };
        log.info(facts, `An MCP server has connected, or tried to, while no call was in flight${more}`);
      },
      onUnassignedMoves: (moved) =>
        log.warn(
          {
            server: name,
            moved: moved.map(({ path, movedTo }) => ({ path: mask(path), movedTo: mask(movedTo) })),
          },
          "An MCP server has created files that programs outside of its sandbox obey; they were renamed",
        ),
    });
  }
}

/** Returns the same key for definitions with the same process or session. The selection of tools does not matter. */
function createServerKey(server: McpServer, place: ServerPlace, secrets: SecretSource): string {
  const { include: _, exclude, replay, confirm, trusted, prefix, resources, required, ...same } = server;
  const values = listReferences(server).map((name) => [name, secrets(name) ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([same, values, formatPlace(server, place)]))
    .digest("hex");
}
