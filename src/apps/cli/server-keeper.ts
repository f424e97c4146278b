import { setTimeout as delay } from "node:timers/promises";
import { type DevServer, type DevServerOptions, startDevServer } from "../../devserver/start-server.ts";
import { restartDelayMs } from "./worker-keeper.ts";

export type ServerEvent =
  | { readonly type: "server-ended"; readonly how: string; readonly restartInMs: number }
  | { readonly type: "server-not-started"; readonly reason: string; readonly restartInMs: number }
  | { readonly type: "server-restarted"; readonly address: string };

export type KeptServerOptions = Extract<DevServerOptions, { readonly dataDir: string }>;

/** A server that served for this long is started again at once when it ends. */
const HEALTHY_MS = 10_000;

/** Keeps a Temporal dev server at one address: when it ends by itself, another one is started on its data. */
export class ServerKeeper {
  readonly #options: KeptServerOptions;
  readonly #tell: (event: ServerEvent) => void;
  readonly #start: (options: KeptServerOptions) => Promise<DevServer>;
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>;
  #server: DevServer;

  private constructor(
    server: DevServer,
    options: KeptServerOptions,
    tell: (event: ServerEvent) => void,
    start: (options: KeptServerOptions) => Promise<DevServer>,
  ) {
    this.#server = server;
    this.#options = options;
    this.#tell = tell;
    this.#start = start;
    this.#kept = this.#keep();
  }

  /** Starts a server, or joins one, and keeps it from then on. Rejects when the first one does not come up. */
  static async start(
    options: KeptServerOptions,
    tell: (event: ServerEvent) => void,
    start: (options: KeptServerOptions) => Promise<DevServer> = startDevServer,
  ): Promise<ServerKeeper> {
    return new ServerKeeper(await start(options), options, tell, start);
  }

  /** The one that runs now. Its address stays. */
  get server(): DevServer {
    return this.#server;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#kept;
    await this.#server.stop();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping;
    let shortLives = 0;
    for (;;) {
      const startedAt = performance.now();
      const how = await this.#server.untilEnded(signal);
      if (signal.aborted || how === undefined) return;
      shortLives = performance.now() - startedAt >= HEALTHY_MS ? 0 : shortLives + 1;
      const restartInMs = restartDelayMs(Math.max(0, shortLives - 1));
      this.#tell({ type: "server-ended", how, restartInMs });
      const next = await this.#startAgain(restartInMs, signal);
      if (next === undefined) return;
      this.#server = next;
      this.#tell({ type: "server-restarted", address: next.address });
    }
  }

  async #startAgain(firstDelayMs: number, signal: AbortSignal): Promise<DevServer | undefined> {
    let delayMs = firstDelayMs;
    let said = "";
    for (let failures = 1; ; failures += 1) {
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        return await this.#start({ ...this.#options, ...portsOf(this.#server), samePorts: true });
      } catch (error) {
        delayMs = restartDelayMs(failures + 1);
        const reason = (error as Error).message;
        // The same again is no news.
        if (reason !== said) this.#tell({ type: "server-not-started", reason, restartInMs: delayMs });
        said = reason;
      }
    }
  }
}

export function describeServerEvent(event: ServerEvent): string {
  switch (event.type) {
    case "server-ended":
      return `the Temporal server ended ${event.how}; starting another ${when(event.restartInMs)}; runs go on when it is there`;
    case "server-not-started":
      return `${event.reason}\ntrying again ${when(event.restartInMs)}, and then every few seconds`;
    case "server-restarted":
      return `the Temporal server is there again, at ${event.address}`;
  }
}

function when(ms: number): string {
  return ms === 0 ? "at once" : `in ${ms / 1000} s`;
}

function portsOf({ address, uiUrl }: DevServer): { readonly port: number; readonly uiPort?: number } {
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  return uiUrl === undefined ? { port } : { port, uiPort: Number(new URL(uiUrl).port) };
}
