import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, MessageExtraInfo } from "@modelcontextprotocol/sdk/types.js";
import { asNumber, asObject, asText } from "../json.ts";
import type { McpFault } from "../mcp-error.ts";

// Invariants
//   T1. Requests on the wire are numbered from 1 upward (MCP-02); the library counts from 0, which some servers take
//       for no id at all.
//   T2. A request whose answer can no longer come is failed at once, not by its time-out.
//   T3. What a server says before an answer is heard before it: the library takes an answer at once, and what was said
//       before it a moment later.

/** Marks an error as made here. */
export const LOCAL_FAULT_KEY = "holdfast/fault";

/** The code of an error that is not the server's. */
const LOCAL_ERROR_CODE = -32000;

/** Stands between the library and what carries its messages. Ids are those on the wire. */
export class RequestTrackingTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void) | undefined;
  readonly #inner: Transport;
  readonly #pending = new Set<number>();
  #protocolVersion = "";

  constructor(inner: Transport) {
    this.#inner = inner;
    inner.onclose = () => setImmediate(() => this.onclose?.());
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => this.#receive(message, extra);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** As agreed on. */
  get protocolVersion(): string {
    return this.#protocolVersion;
  }

  setProtocolVersion = (version: string): void => {
    this.#protocolVersion = version;
    this.#inner.setProtocolVersion?.(version);
  };

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const { id, method } = message as { id?: unknown; method?: unknown };
    const number = asNumber(id);
    if (method === undefined || number === undefined)
      return await this.#inner.send(toWireIds(message), options);
    this.#pending.add(number + 1);
    try {
      await this.#inner.send({ ...toWireIds(message), id: number + 1 } as JSONRPCMessage, options);
    } catch (error) {
      this.#pending.delete(number + 1);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  isPending(id: number): boolean {
    return this.#pending.has(id);
  }

  /** Answers a request in the server's stead. */
  fail(id: number, fault: McpFault, message: string): void {
    if (!this.#pending.delete(id)) return;
    const error = { code: LOCAL_ERROR_CODE, message, data: { [LOCAL_FAULT_KEY]: fault } };
    this.onmessage?.({ jsonrpc: "2.0", id: id - 1, error });
  }

  /** Of several requests nobody can say which one it was about. @returns Whether it was one. */
  failOnly(fault: McpFault, message: string): boolean {
    const [id, ...others] = this.#pending;
    if (id === undefined || others.length > 0) return false;
    this.fail(id, fault, message);
    return true;
  }

  failAll(fault: McpFault, message: string): void {
    for (const id of [...this.#pending]) this.fail(id, fault, message);
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (method === undefined) {
      const number = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : asNumber(id);
      // Unknown ids go on as they are: the library says that nobody awaits them.
      const known = number !== undefined && this.#pending.delete(number);
      const answer = { ...message, id: known ? number - 1 : -1 } as JSONRPCMessage;
      setImmediate(() => this.onmessage?.(answer, extra));
      return;
    }
    const token =
      method === "notifications/progress" ? asNumber(asObject(params)?.["progressToken"]) : undefined;
    this.onmessage?.(
      token === undefined
        ? message
        : ({ ...message, params: { ...asObject(params), progressToken: token - 1 } } as JSONRPCMessage),
      extra,
    );
  }
}

/** Where a message of ours names one of our requests, by the number that it has on the wire. */
function toWireIds(message: JSONRPCMessage): JSONRPCMessage {
  const { method, params } = message as { method?: unknown; params?: unknown };
  const fields = asObject(params);
  if (asText(method) === undefined || fields === undefined) return message;
  const request = method === "notifications/cancelled" ? asNumber(fields["requestId"]) : undefined;
  if (request !== undefined) {
    return { ...message, params: { ...fields, requestId: request + 1 } } as JSONRPCMessage;
  }
  const meta = asObject(fields["_meta"]);
  const token = asNumber(meta?.["progressToken"]);
  if (token === undefined) return message;
  return {
    ...message,
    params: { ...fields, _meta: { ...meta, progressToken: token + 1 } },
  } as JSONRPCMessage;
}
