import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, MessageExtraInfo } from "@modelcontextprotocol/sdk/types.js";
import { asNumber, asObject, asText } from "../../../../platform/text/json.ts";
import type { McpFault } from "../mcp-error.ts";

// Invariants
//   T1. Requests on the wire are numbered from 1 upward (MCP-02). The library counts from 0, which some servers treat
//       as a missing id.
//   T2. A request whose answer can no longer arrive fails at once, not at its timeout.
//   T3. Messages that a server sends before an answer are handled before it: the library handles an answer at once, and
//       earlier messages a moment later.

/** Marks an error as created by Holdfast. */
export const LOCAL_FAULT_KEY = "holdfast/fault";

/** The code of an error that Holdfast creates, not the server. */
const LOCAL_ERROR_CODE = -32000;

/** Wraps the transport of the library's messages. Ids here are those on the wire. */
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

  /** The negotiated version. */
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

  /** Answers a request in place of the server. */
  fail(id: number, fault: McpFault, message: string): void {
    if (!this.#pending.delete(id)) return;
    const error = { code: LOCAL_ERROR_CODE, message, data: { [LOCAL_FAULT_KEY]: fault } };
    this.onmessage?.({ jsonrpc: "2.0", id: id - 1, error });
  }

  /** Fails the only pending request. With several pending, the cause is ambiguous. @returns Whether there was only one. */
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
      // Unknown ids pass unchanged: the library reports that no request awaits them.
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

/** Replaces the library's request ids in an outgoing message with those on the wire. */
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
