import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import { asObject } from "../../../../platform/text/json.ts";
import type { ProcessEvents, ServerProcess } from "../stdio/server-process.ts";

export type StdioEvents = {
  /** Receives a line that is not a message: servers print things. */
  readonly onProtocolError: (what: string) => void;
  /** Receives a message that has the id of a pending request but is not an answer. */
  readonly onInvalidResponse: (id: number, why: string) => void;
};

const MAX_QUOTED_CHARS = 200;
/** The most messages in one line. */
const MAX_BATCH = 1000;

/** Sends and receives messages as lines of JSON through a child process. */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #open: (events: Pick<ProcessEvents, "onLine" | "onExit">) => Promise<ServerProcess>;
  readonly #events: StdioEvents;
  #process: ServerProcess | undefined;
  #exit = "";

  constructor(
    open: (events: Pick<ProcessEvents, "onLine" | "onExit">) => Promise<ServerProcess>,
    events: StdioEvents,
  ) {
    this.#open = open;
    this.#events = events;
  }

  /** How the process has exited; empty while it runs. */
  get exit(): string {
    return this.#exit;
  }

  async start(): Promise<void> {
    this.#process = await this.#open({
      onLine: (line) => this.#receiveLine(line),
      onExit: (exit) => {
        this.#exit = exit;
        this.onclose?.();
      },
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#process?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#process?.stop();
  }

  #receiveLine(line: string): void {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#events.onProtocolError(`not JSON: ${line.slice(0, MAX_QUOTED_CHARS)}`);
      return;
    }
    const messages = Array.isArray(value) ? value : [value];
    for (const one of messages.slice(0, MAX_BATCH)) this.#receiveMessage(one, line);
    if (messages.length > MAX_BATCH)
      this.#events.onProtocolError(`${messages.length} messages in one line: only ${MAX_BATCH} are read`);
  }

  #receiveMessage(value: unknown, line: string): void {
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) {
      this.onmessage?.(message.data);
      return;
    }
    const fields = asObject(value);
    const quoted = line.slice(0, MAX_QUOTED_CHARS);
    this.#events.onProtocolError(`not a JSON-RPC 2.0 message: ${quoted}`);
    if (fields === undefined || fields["method"] !== undefined) return;
    const empty =
      (fields["result"] ?? undefined) === undefined && (fields["error"] ?? undefined) === undefined;
    const reason = empty ? "Empty result" : `not a JSON-RPC 2.0 answer: ${quoted}`;
    this.#events.onInvalidResponse(Number(fields["id"]), `violated the protocol: ${reason}`);
  }
}
