import type { McpServer } from "../../../schema/mcp.ts";
import { BackOff } from "./back-off.ts";
import type { Called, CallOptions } from "./call.ts";
import type { ConnectionEvents, McpConnection, Progress, RequestOptions } from "./connection.ts";
import { McpError, reasonOf } from "./error.ts";
import type { KeptOptions, Listing } from "./kept-options.ts";
import { Patience } from "./patience.ts";
import { type Question as Asked, Questions } from "./questions.ts";
import { Turns } from "./turns.ts";
import { unlessAborted, within } from "./within.ts";

// Invariants
//   K1. There is one connection to a server at most; it is made when it is first needed and ended when it was idle.
//   K2. After it has failed, it is tried again no sooner than its back-off says.
//   K3. A request that a server may have carried out is never sent again.

/** Of several changes in a row only the last is looked at. */
const SETTLE_MS = 200;

/** A result waits no longer for what its server offers by now. */
const LOOK_MS = 2000;

const MAX_BREATH_MS = 600_000;

export type { Called, CallOptions } from "./call.ts";
export type { KeptOptions, Listing } from "./kept-options.ts";

type Live = { readonly connection: McpConnection; listing: Listing; stale: boolean };

/** One server, as its definition says, kept for all who use it. */
export class KeptServer {
  readonly #server: McpServer;
  readonly #options: KeptOptions;
  readonly #turns: Turns;
  readonly #questions = new Questions();
  readonly #backOff = new BackOff();
  #live: Promise<Live> | undefined;
  #known: Listing | undefined;
  #using = 0;
  #idle: NodeJS.Timeout | undefined;
  #settle: NodeJS.Timeout | undefined;
  #lastOdd = "";
  #closed = false;

  constructor(server: McpServer, options: KeptOptions) {
    this.#server = server;
    this.#options = options;
    this.#turns = new Turns(server.concurrency);
  }

  /** What it offered when it was last asked, without asking it. */
  get known(): Listing | undefined {
    return this.#known;
  }

  /** A text of the server without what it was given as a secret. */
  hide(text: string): string {
    return this.#options.mask(text);
  }

  /** Connects if need be. */
  async listing(signal: AbortSignal): Promise<Listing> {
    return await this.#request({ signal }, async (live) => {
      if (live.stale) await this.#refresh(live, signal);
      return live.listing;
    });
  }

  /** Looks at what has changed, where the server has said that something has. Never rejects. */
  async lookAgain(signal: AbortSignal): Promise<void> {
    const live = await this.#live?.catch(() => undefined);
    if (live?.stale !== true) return;
    const ending = AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
    await this.#turns.take(ending, async () => await this.#refresh(live, ending)).catch(() => {});
  }

  async call(
    name: string,
    parameters: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<Called> {
    const asked = this.#questions.open(options);
    try {
      const result = await this.#request(
        options,
        async ({ connection }, request) => await connection.callTool(name, parameters, request),
        asked,
      );
      this.#backOff.succeeded();
      return { result, notes: asked.notes };
    } finally {
      this.#questions.close(asked);
    }
  }

  /** Anything else that a connection can be asked. */
  async ask<Result>(
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
    this.#closed = true;
    await this.#end();
  }

  async #request<Result>(
    options: Pick<CallOptions, "signal" | "onProgress">,
    work: (live: Live, request: RequestOptions) => Promise<Result>,
    asked?: Asked,
  ): Promise<Result> {
    clearTimeout(this.#idle);
    this.#using += 1;
    try {
      return await this.#turns.take(options.signal, async () => {
        try {
          return await this.#once(options, work, asked);
        } catch (error) {
          // The server has forgotten the session: nothing was carried out.
          if (!(error instanceof McpError) || error.fault !== "session-lost") throw error;
          await this.#end();
          return await this.#once(options, work, asked);
        }
      });
    } catch (error) {
      throw this.#told(error, options.signal);
    } finally {
      this.#using -= 1;
      if (this.#using === 0 && !this.#closed) this.#rest();
    }
  }

  async #once<Result>(
    { signal, onProgress }: Pick<CallOptions, "signal" | "onProgress">,
    work: (live: Live, request: RequestOptions) => Promise<Result>,
    asked: Asked | undefined,
  ): Promise<Result> {
    const live = await this.#connected(signal);
    const { timeoutMs, maxTimeoutMs = MAX_BREATH_MS } = this.#server;
    return await within(
      signal,
      new Patience(timeoutMs, maxTimeoutMs),
      async (request, patience) => {
        asked?.begin(patience);
        const report = (progress: Progress) => {
          patience.renew();
          onProgress?.(progress);
        };
        return await work(live, onProgress === undefined ? request : { ...request, onProgress: report });
      },
      () => this.#late(`did not answer in ${timeoutMs} ms`),
    );
  }

  #late(what: string): string {
    return this.#lastOdd === "" ? what : `${what}; what came last was ${this.#lastOdd}`;
  }

  async #connected(signal: AbortSignal): Promise<Live> {
    if (this.#closed) throw new McpError("closed", "is not started any more: the worker ends");
    if (this.#live !== undefined) return await unlessAborted(signal, this.#live);
    await this.#backOff.wait(signal);
    // Others may have waited as long.
    this.#live ??= this.#start();
    return await unlessAborted(signal, this.#live);
  }

  #start(): Promise<Live> {
    const { startTimeoutMs = this.#server.timeoutMs } = this.#server;
    const late = `did not say what it offers in ${startTimeoutMs} ms (a server that is slow to start needs a longer \`startTimeoutMs\`)`;
    this.#lastOdd = "";
    // Whoever needed it first may leave: others wait for the same start.
    const starting: Promise<Live> = within(
      new AbortController().signal,
      new Patience(startTimeoutMs, startTimeoutMs),
      async (request) => {
        const connection = await this.#options.open(
          this.#events(() => starting),
          request,
        );
        try {
          const tools = await connection.listTools(request);
          return { connection, listing: this.#listed(connection, tools), stale: false };
        } catch (error) {
          await connection.close();
          throw error;
        }
      },
      () => this.#late(late),
    );
    starting.catch((error: unknown) =>
      this.#failed(starting, error instanceof Error ? error.message : String(error)),
    );
    return starting;
  }

  #events(live: () => Promise<Live>): ConnectionEvents {
    const { log, mask } = this.#options;
    const server = this.#server.name;
    return {
      listChanged: (kind) => {
        log.debug({ server, kind }, "An MCP server has other offers");
        if (kind !== "tools" || this.#live !== live()) return;
        void live().then((one) => {
          one.stale = true;
          this.#refreshSoon(one);
        });
      },
      closed: () => this.#failed(live(), "hung up"),
      said: (text) => log.debug({ server, said: mask(text) }, "An MCP server says"),
      odd: (what) => {
        this.#lastOdd = mask(what);
        log.debug({ server, what: this.#lastOdd }, "An MCP server sends what does not belong here");
      },
      ask: async (question, signal) => await this.#questions.ask(question, signal),
      sample: async (params, signal) => await this.#questions.sample(params, signal),
    };
  }

  /** Looks at what has changed, so that the next who asks knows. */
  #refreshSoon(live: Live): void {
    clearTimeout(this.#settle);
    const look = () => {
      const { signal } = new AbortController();
      void this.#turns.take(signal, async () => await this.#refresh(live, signal)).catch(() => {});
    };
    this.#settle = setTimeout(look, SETTLE_MS).unref();
  }

  async #refresh(live: Live, signal: AbortSignal): Promise<void> {
    if (!live.stale) return;
    const { timeoutMs } = this.#server;
    live.stale = false;
    try {
      const tools = await within(
        signal,
        new Patience(timeoutMs, timeoutMs),
        async (request) => await live.connection.listTools(request),
        () => this.#late(`did not say what it offers in ${timeoutMs} ms`),
      );
      live.listing = this.#listed(live.connection, tools);
    } catch (error) {
      live.stale = true;
      throw error;
    }
  }

  #listed({ facts }: McpConnection, tools: Listing["tools"]): Listing {
    this.#known = { facts, tools };
    this.#options.listed?.();
    return this.#known;
  }

  #failed(live: Promise<Live>, why: string): void {
    if (this.#live !== live) return;
    this.#live = undefined;
    if (this.#closed) return;
    const said = this.#options.mask(why);
    const pauseMs = this.#backOff.failed(said);
    const facts = { server: this.#server.name, failures: this.#backOff.failures, pauseMs, why: said };
    this.#options.log.warn(facts, "An MCP server failed; it is started again when it is needed");
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    clearTimeout(this.#settle);
    const live = this.#live;
    this.#live = undefined;
    const connection = (await live?.catch(() => undefined))?.connection;
    await connection?.close();
  }

  #rest(): void {
    const end = () => {
      if (this.#using > 0) return;
      this.#options.idle?.();
      void this.#end();
    };
    this.#idle = setTimeout(end, this.#server.idleMs).unref();
  }

  #told(error: unknown, signal: AbortSignal): McpError {
    if (signal.aborted) return new McpError("cancelled", "Cancelled", { cause: error });
    const fault =
      error instanceof McpError ? error : new McpError("protocol", reasonOf(error), { cause: error });
    const message = `The MCP server "${this.#server.name}" ${this.#options.mask(fault.message)}`;
    const code = fault.code === undefined ? {} : { code: fault.code };
    return new McpError(fault.fault, message, { cause: error, ...code });
  }
}
