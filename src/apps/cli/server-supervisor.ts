import { setTimeout as delay } from "node:timers/promises";
import type { DevServer } from "../../devserver/dev-server.ts";
import { type DevServerOptions, startDevServer } from "../../devserver/start-server.ts";
import { getRestartDelayMs } from "./worker-supervisor.ts";

export type ServerEvent =
  | { readonly type: "server-ended"; readonly reason: string; readonly restartInMs: number }
  | { readonly type: "server-start-failed"; readonly reason: string; readonly restartInMs: number }
  | { readonly type: "server-restarted"; readonly address: string };

export type SupervisedServerOptions = Extract<DevServerOptions, { readonly dataDir: string }>;

/** A server that ran for this long is restarted immediately when it ends. */
const MIN_HEALTHY_MS = 10_000;

/** Supervises a Temporal dev server: when it ends by itself, starts another at the same address on the same data. */
export class ServerSupervisor {
  readonly #options: SupervisedServerOptions;
  readonly #report: (event: ServerEvent) => void;
  readonly #start: (options: SupervisedServerOptions) => Promise<DevServer>;
  readonly #stopping = new AbortController();
  readonly #supervision: Promise<void>;
  #server: DevServer;

  private constructor(
    server: DevServer,
    options: SupervisedServerOptions,
    tell: (event: ServerEvent) => void,
    start: (options: SupervisedServerOptions) => Promise<DevServer>,
  ) {
    this.#server = server;
    this.#options = options;
    this.#report = tell;
    this.#start = start;
    this.#supervision = this.#supervise();
  }

  /** Starts a server or joins a running one, and supervises it. Rejects if the first server does not start. */
  static async start(
    options: SupervisedServerOptions,
    tell: (event: ServerEvent) => void,
    start: (options: SupervisedServerOptions) => Promise<DevServer> = startDevServer,
  ): Promise<ServerSupervisor> {
    return new ServerSupervisor(await start(options), options, tell, start);
  }

  /** The current server. Its address does not change. */
  get server(): DevServer {
    return this.#server;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervision;
    await this.#server.stop();
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopping;
    let shortLives = 0;
    for (;;) {
      const startedAt = performance.now();
      const reason = await this.#server.waitUntilEnded(signal);
      if (signal.aborted || reason === undefined) return;
      shortLives = performance.now() - startedAt >= MIN_HEALTHY_MS ? 0 : shortLives + 1;
      const restartInMs = getRestartDelayMs(Math.max(0, shortLives - 1));
      this.#report({ type: "server-ended", reason, restartInMs });
      const next = await this.#restart(restartInMs, signal);
      if (next === undefined) return;
      this.#server = next;
      this.#report({ type: "server-restarted", address: next.address });
    }
  }

  async #restart(firstDelayMs: number, signal: AbortSignal): Promise<DevServer | undefined> {
    let delayMs = firstDelayMs;
    let reportedReason = "";
    for (let failures = 1; ; failures += 1) {
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        return await this.#start({ ...this.#options, ...getPorts(this.#server), samePorts: true });
      } catch (error) {
        delayMs = getRestartDelayMs(failures + 1);
        const reason = (error as Error).message;
        // A repeated reason is reported once.
        if (reason !== reportedReason)
          this.#report({ type: "server-start-failed", reason, restartInMs: delayMs });
        reportedReason = reason;
      }
    }
  }
}

export function describeServerEvent(event: ServerEvent): string {
  switch (event.type) {
    case "server-ended":
      return `the Temporal server ended ${event.reason}; starting another ${formatDelay(event.restartInMs)}; runs continue when it is ready`;
    case "server-start-failed":
      return `${event.reason}\nretrying ${formatDelay(event.restartInMs)}, then every few seconds`;
    case "server-restarted":
      return `the Temporal server is ready again, at ${event.address}`;
  }
}

function formatDelay(ms: number): string {
  return ms === 0 ? "immediately" : `in ${ms / 1000} s`;
}

function getPorts({ address, uiUrl }: DevServer): { readonly port: number; readonly uiPort?: number } {
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  return uiUrl === undefined ? { port } : { port, uiPort: Number(new URL(uiUrl).port) };
}
