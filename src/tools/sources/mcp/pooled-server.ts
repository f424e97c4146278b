import type { McpServer } from "../../../schema/mcp.ts";
import { BackOff } from "./back-off.ts";
import { Deadline } from "./deadline.ts";
import type { ConnectionEvents, McpConnection, Progress, RequestOptions } from "./mcp-connection.ts";
import { findErrorReason, McpError } from "./mcp-error.ts";
import type { PooledServerOptions, ServerListing } from "./pooled-server-options.ts";
import { raceAbort, runWithDeadline } from "./run-with-deadline.ts";
import { Semaphore } from "./semaphore.ts";
import { type PendingCall as Asked, ServerRequests } from "./server-requests.ts";
import type { ToolCallOptions, ToolCallResult } from "./tool-call.ts";

// Invariants
//   K1. There is one connection to a server at most; it is made when it is first needed and ended when it was idle.
//   K2. After it has failed, it is tried again no sooner than its back-off says.
//   K3. A request that a server may have carried out is never sent again.

/** Of several changes in a row only the last is looked at. */
const DEBOUNCE_MS = 200;

/** A result waits no longer for what its server offers by now. */
const REFRESH_TIMEOUT_MS = 2000;

const DEFAULT_MAX_TIMEOUT_MS = 600_000;

export type { PooledServerOptions, ServerListing } from "./pooled-server-options.ts";
export type { ToolCallOptions, ToolCallResult } from "./tool-call.ts";

type LiveConnection = { readonly connection: McpConnection; listing: ServerListing; stale: boolean };

/** One server, as its definition says, kept for all who use it. */
export class PooledServer {
  readonly #server: McpServer;
  readonly #options: PooledServerOptions;
  readonly #semaphore: Semaphore;
  readonly #serverRequests = new ServerRequests();
  readonly #backOff = new BackOff();
  #live: Promise<LiveConnection> | undefined;
  #lastListing: ServerListing | undefined;
  #activeRequests = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #debounceTimer: NodeJS.Timeout | undefined;
  #lastProtocolError = "";
  #isClosed = false;

  constructor(server: McpServer, options: PooledServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#semaphore = new Semaphore(server.concurrency);
  }

  /** What it offered when it was last asked, without asking it. */
  get lastListing(): ServerListing | undefined {
    return this.#lastListing;
  }

  /** A text of the server without what it was given as a secret. */
  mask(text: string): string {
    return this.#options.mask(text);
  }

  /** Connects if need be. */
  async getListing(signal: AbortSignal): Promise<ServerListing> {
    return await this.#request({ signal }, async (live) => {
      if (live.stale) await this.#refresh(live, signal);
      return live.listing;
    });
  }

  /** Looks at what has changed, where the server has said that something has. Never rejects. */
  async refreshIfStale(signal: AbortSignal): Promise<void> {
    const live = await this.#live?.catch(() => undefined);
    if (live?.stale !== true) return;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(REFRESH_TIMEOUT_MS)]);
    await this.#semaphore.run(deadline, async () => await this.#refresh(live, deadline)).catch(() => {});
  }

  async callTool(
    name: string,
    parameters: Readonly<Record<string, unknown>>,
    options: ToolCallOptions,
  ): Promise<ToolCallResult> {
    const pendingCall = this.#serverRequests.register(options);
    try {
      const result = await this.#request(
        options,
        async ({ connection }, request) => await connection.callTool(name, parameters, request),
        pendingCall,
      );
      this.#backOff.recordSuccess();
      return { result, notes: pendingCall.notes };
    } finally {
      this.#serverRequests.unregister(pendingCall);
    }
  }

  /** Anything else that a connection can be asked. */
  async run<Result>(
    signal: AbortSignal,
    work: (connection: McpConnection, request: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    return await this.#request(
      { signal },
      async ({ connection }, request) => await work(connection, request),
    );
  }

  /** Ends it. Who needs it afterwards is told that the worker ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #request<Result>(
    options: Pick<ToolCallOptions, "signal" | "onProgress">,
    work: (live: LiveConnection, request: RequestOptions) => Promise<Result>,
    pendingCall?: Asked,
  ): Promise<Result> {
    clearTimeout(this.#idleTimer);
    this.#activeRequests += 1;
    try {
      return await this.#semaphore.run(options.signal, async () => {
        try {
          return await this.#attempt(options, work, pendingCall);
        } catch (error) {
          // The server has forgotten the session: nothing was carried out.
          if (!(error instanceof McpError) || error.fault !== "session-lost") throw error;
          await this.#disconnect();
          return await this.#attempt(options, work, pendingCall);
        }
      });
    } catch (error) {
      throw this.#toMcpError(error, options.signal);
    } finally {
      this.#activeRequests -= 1;
      if (this.#activeRequests === 0 && !this.#isClosed) this.#scheduleDisconnect();
    }
  }

  async #attempt<Result>(
    { signal, onProgress }: Pick<ToolCallOptions, "signal" | "onProgress">,
    work: (live: LiveConnection, request: RequestOptions) => Promise<Result>,
    pendingCall: Asked | undefined,
  ): Promise<Result> {
    const live = await this.#connect(signal);
    const { timeoutMs, maxTimeoutMs = DEFAULT_MAX_TIMEOUT_MS } = this.#server;
    return await runWithDeadline(
      signal,
      new Deadline(timeoutMs, maxTimeoutMs),
      async (request, deadline) => {
        pendingCall?.begin(deadline);
        const report = (progress: Progress) => {
          deadline.extend();
          onProgress?.(progress);
        };
        return await work(live, onProgress === undefined ? request : { ...request, onProgress: report });
      },
      () => this.#formatTimeout(`did not answer in ${timeoutMs} ms`),
    );
  }

  #formatTimeout(what: string): string {
    return this.#lastProtocolError === "" ? what : `${what}; what came last was ${this.#lastProtocolError}`;
  }

  async #connect(signal: AbortSignal): Promise<LiveConnection> {
    if (this.#isClosed) throw new McpError("closed", "is not started any more: the worker ends");
    if (this.#live !== undefined) return await raceAbort(signal, this.#live);
    await this.#backOff.wait(signal);
    // Others may have waited as long.
    this.#live ??= this.#start();
    return await raceAbort(signal, this.#live);
  }

  #start(): Promise<LiveConnection> {
    const { startTimeoutMs = this.#server.timeoutMs } = this.#server;
    const timeoutMessage = `did not say what it offers in ${startTimeoutMs} ms (a server that is slow to start needs a longer \`startTimeoutMs\`)`;
    this.#lastProtocolError = "";
    // Whoever needed it first may leave: others wait for the same start.
    const starting: Promise<LiveConnection> = runWithDeadline(
      new AbortController().signal,
      new Deadline(startTimeoutMs, startTimeoutMs),
      async (request) => {
        const connection = await this.#options.open(
          this.#createEvents(() => starting),
          request,
        );
        try {
          const tools = await connection.listTools(request);
          return { connection, listing: this.#recordListing(connection, tools), stale: false };
        } catch (error) {
          await connection.close();
          throw error;
        }
      },
      () => this.#formatTimeout(timeoutMessage),
    );
    starting.catch((error: unknown) =>
      this.#recordFailure(starting, error instanceof Error ? error.message : String(error)),
    );
    return starting;
  }

  #createEvents(live: () => Promise<LiveConnection>): ConnectionEvents {
    const { log, mask } = this.#options;
    const server = this.#server.name;
    return {
      onListChanged: (kind) => {
        log.debug({ server, kind }, "An MCP server has other offers");
        if (kind !== "tools" || this.#live !== live()) return;
        void live().then((one) => {
          one.stale = true;
          this.#refreshSoon(one);
        });
      },
      onClosed: () => this.#recordFailure(live(), "hung up"),
      onLogMessage: (text) => log.debug({ server, said: mask(text) }, "An MCP server says"),
      onProtocolError: (what) => {
        this.#lastProtocolError = mask(what);
        log.debug({ server, what: this.#lastProtocolError }, "An MCP server sends what does not belong here");
      },
      ask: async (question, signal) => await this.#serverRequests.elicit(question, signal),
      sample: async (params, signal) => await this.#serverRequests.sample(params, signal),
    };
  }

  /** Looks at what has changed, so that the next who asks knows. */
  #refreshSoon(live: LiveConnection): void {
    clearTimeout(this.#debounceTimer);
    const refresh = () => {
      const { signal } = new AbortController();
      void this.#semaphore.run(signal, async () => await this.#refresh(live, signal)).catch(() => {});
    };
    this.#debounceTimer = setTimeout(refresh, DEBOUNCE_MS).unref();
  }

  async #refresh(live: LiveConnection, signal: AbortSignal): Promise<void> {
    if (!live.stale) return;
    const { timeoutMs } = this.#server;
    live.stale = false;
    try {
      const tools = await runWithDeadline(
        signal,
        new Deadline(timeoutMs, timeoutMs),
        async (request) => await live.connection.listTools(request),
        () => this.#formatTimeout(`did not say what it offers in ${timeoutMs} ms`),
      );
      live.listing = this.#recordListing(live.connection, tools);
    } catch (error) {
      live.stale = true;
      throw error;
    }
  }

  #recordListing({ facts: serverInfo }: McpConnection, tools: ServerListing["tools"]): ServerListing {
    this.#lastListing = { facts: serverInfo, tools };
    this.#options.onListed?.();
    return this.#lastListing;
  }

  #recordFailure(live: Promise<LiveConnection>, message: string): void {
    if (this.#live !== live) return;
    this.#live = undefined;
    if (this.#isClosed) return;
    const reason = this.#options.mask(message);
    const pauseMs = this.#backOff.recordFailure(reason);
    const facts = { server: this.#server.name, failures: this.#backOff.failures, pauseMs, why: reason };
    this.#options.log.warn(facts, "An MCP server failed; it is started again when it is needed");
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#debounceTimer);
    const live = this.#live;
    this.#live = undefined;
    const connection = (await live?.catch(() => undefined))?.connection;
    await connection?.close();
  }

  #scheduleDisconnect(): void {
    const end = () => {
      if (this.#activeRequests > 0) return;
      this.#options.onIdle?.();
      void this.#disconnect();
    };
    this.#idleTimer = setTimeout(end, this.#server.idleMs).unref();
  }

  #toMcpError(error: unknown, signal: AbortSignal): McpError {
    if (signal.aborted) return new McpError("cancelled", "Cancelled", { cause: error });
    const fault =
      error instanceof McpError ? error : new McpError("protocol", findErrorReason(error), { cause: error });
    const message = `The MCP server "${this.#server.name}" ${this.#options.mask(fault.message)}`;
    const code = fault.code === undefined ? {} : { code: fault.code };
    return new McpError(fault.fault, message, { cause: error, ...code });
  }
}
