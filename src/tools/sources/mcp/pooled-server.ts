import { Deadline, limitSignal } from "../../../platform/async/deadline.ts";
import { raceAbort } from "../../../platform/async/race.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import type { ConnectionEvents, McpConnection, Progress, RequestOptions } from "./mcp-connection.ts";
import { findErrorReason, McpError } from "./mcp-error.ts";
import type { PooledServerOptions, ServerListing } from "./pooled-server-options.ts";
import { requestWithDeadline } from "./request-with-deadline.ts";
import { observeSandbox } from "./sandbox-watch.ts";
import { Semaphore } from "./semaphore.ts";
import { ServerBackOff } from "./server-back-off.ts";
import { type PendingCall as Asked, ServerRequests } from "./server-requests.ts";
import type { ToolCallOptions, ToolCallResult } from "./tool-call.ts";

// Invariants
//   K1. At most one connection to a server exists. It opens when it is first needed and closes after it was idle.
//   K2. After a failure the server is retried no sooner than its back-off allows.
//   K3. A request that a server may have executed is never sent again.

/** Of several changes in quick succession only the last one triggers a refresh. */
const DEBOUNCE_MS = 200;

/** The longest that a result waits for a refresh of the server's listing. */
const REFRESH_TIMEOUT_MS = 2000;

const DEFAULT_MAX_TIMEOUT_MS = 600_000;

export type { PooledServerOptions, ServerListing } from "./pooled-server-options.ts";
export type { ToolCallOptions, ToolCallResult } from "./tool-call.ts";

type LiveConnection = { readonly connection: McpConnection; listing: ServerListing; isStale: boolean };

/** One server of a definition, shared by all its users. */
export class PooledServer {
  readonly #server: McpServer;
  readonly #options: PooledServerOptions;
  readonly #semaphore: Semaphore;
  readonly #serverRequests = new ServerRequests();
  readonly #backOff = new ServerBackOff();
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

  /** The last listing of the server, without a request to it. */
  get lastListing(): ServerListing | undefined {
    return this.#lastListing;
  }

  /** Masks the secrets that the server received in one of its texts. */
  mask(text: string): string {
    return this.#options.mask(text);
  }

  /** Returns the listing. Connects if necessary. */
  async getListing(signal: AbortSignal): Promise<ServerListing> {
    return await this.#request({ signal }, async (live) => {
      if (live.isStale) await this.#refresh(live, signal);
      return live.listing;
    });
  }

  /** Refreshes the listing if the server has announced a change. Never rejects. */
  async refreshIfStale(signal: AbortSignal): Promise<void> {
    const live = await this.#live?.catch(() => undefined);
    if (live?.isStale !== true) return;
    const deadline = limitSignal(signal, REFRESH_TIMEOUT_MS);
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

  /** Runs any other request on the connection. */
  async run<Result>(
    options: Pick<ToolCallOptions, "signal" | "onSandbox">,
    work: (connection: McpConnection, request: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    return await this.#request(options, async ({ connection }, request) => await work(connection, request));
  }

  /** Stops the server. Later requests fail with the message that the worker shuts down. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #request<Result>(
    options: Pick<ToolCallOptions, "signal" | "onProgress" | "onSandbox">,
    work: (live: LiveConnection, request: RequestOptions) => Promise<Result>,
    pendingCall?: Asked,
  ): Promise<Result> {
    clearTimeout(this.#idleTimer);
    this.#activeRequests += 1;
    try {
      const attempt = async () => {
        try {
          return await this.#attempt(options, work, pendingCall);
        } catch (error) {
          // The server has lost the session: nothing was executed.
          if (!(error instanceof McpError) || error.fault !== "session-lost") throw error;
          await this.#disconnect();
          return await this.#attempt(options, work, pendingCall);
        }
      };
      const observed = async () => await observeSandbox(this.#options.sandbox, attempt, options.onSandbox);
      return await this.#semaphore.run(options.signal, observed);
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
    const deadline = new Deadline(timeoutMs, maxTimeoutMs);
    return await requestWithDeadline(
      signal,
      deadline,
      async (request) => {
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
    return this.#lastProtocolError === "" ? what : `${what}; its last message was ${this.#lastProtocolError}`;
  }

  async #connect(signal: AbortSignal): Promise<LiveConnection> {
    if (this.#isClosed) throw new McpError("closed", "is not started: the worker is shutting down");
    if (this.#live !== undefined) return await raceAbort(this.#live, signal);
    await this.#backOff.wait(signal);
    // Other callers may have waited as long.
    this.#live ??= this.#start();
    return await raceAbort(this.#live, signal);
  }

  #start(): Promise<LiveConnection> {
    const { startTimeoutMs = this.#server.timeoutMs } = this.#server;
    const timeoutMessage = `did not list its tools within ${startTimeoutMs} ms (if the server starts slowly, increase \`startTimeoutMs\`)`;
    this.#lastProtocolError = "";
    // The first caller may leave: others wait for the same start.
    const starting: Promise<LiveConnection> = requestWithDeadline(
      new AbortController().signal,
      new Deadline(startTimeoutMs),
      async (request) => {
        const connection = await this.#options.open(
          this.#createEvents(() => starting),
          request,
        );
        try {
          const tools = await connection.listTools(request);
          return { connection, listing: this.#recordListing(connection, tools), isStale: false };
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
        log.debug({ server, kind }, "An MCP server changed a list");
        if (kind !== "tools" || this.#live !== live()) return;
        void live().then((one) => {
          one.isStale = true;
          this.#refreshSoon(one);
        });
      },
      onClosed: () => this.#recordFailure(live(), "hung up"),
      onLogMessage: (text) => log.debug({ server, said: mask(text) }, "An MCP server logs a message"),
      onProtocolError: (what) => {
        this.#lastProtocolError = mask(what);
        log.debug({ server, what: this.#lastProtocolError }, "An MCP server sent something invalid");
      },
      elicit: async (question, signal) => await this.#serverRequests.elicit(question, signal),
      sample: async (params, signal) => await this.#serverRequests.sample(params, signal),
    };
  }

  /** Refreshes the listing in the background, so that the next caller finds it up to date. */
  #refreshSoon(live: LiveConnection): void {
    clearTimeout(this.#debounceTimer);
    const refresh = () => {
      const { signal } = new AbortController();
      void this.#semaphore.run(signal, async () => await this.#refresh(live, signal)).catch(() => {});
    };
    this.#debounceTimer = setTimeout(refresh, DEBOUNCE_MS).unref();
  }

  async #refresh(live: LiveConnection, signal: AbortSignal): Promise<void> {
    if (!live.isStale) return;
    const { timeoutMs } = this.#server;
    live.isStale = false;
    try {
      const tools = await requestWithDeadline(
        signal,
        new Deadline(timeoutMs),
        async (request) => await live.connection.listTools(request),
        () => this.#formatTimeout(`did not list its tools within ${timeoutMs} ms`),
      );
      live.listing = this.#recordListing(live.connection, tools);
    } catch (error) {
      live.isStale = true;
      throw error;
    }
  }

  #recordListing({ serverInfo }: McpConnection, tools: ServerListing["tools"]): ServerListing {
    this.#lastListing = { serverInfo, tools };
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
    this.#options.log.warn(facts, "An MCP server failed; it is restarted when it is next needed");
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
    const code = omitUndefined({ code: fault.code });
    return new McpError(fault.fault, message, { cause: error, ...code });
  }
}
