/** What went wrong between us and a server (MCP-06). */
export type McpFault =
  /** It cannot be reached, or answers with an HTTP error. */
  | "transport"
  /** It broke the rules of the protocol. */
  | "protocol"
  /** It refused the request, by the rules. */
  | "json-rpc"
  /** What was to be sent, or came, cannot be written or read. */
  | "serialization"
  /** The system would not start it, or not carry the bytes. */
  | "io"
  /** It has ended, or hung up, before it answered. */
  | "closed"
  | "timed-out"
  | "cancelled"
  /** It wants other credentials. */
  | "auth"
  /** It has forgotten us: a new session may ask again, the request was not carried out. */
  | "session-lost"
  /** The definition asks for what cannot be. */
  | "definition";

/** The message is for people and models: what was tried, on which server, what came back. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly fault: McpFault;
  /** Of a JSON-RPC error or an HTTP answer. */
  readonly code: number | undefined;

  constructor(fault: McpFault, message: string, options: { cause?: unknown; code?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.code = options.code;
  }
}

/** The innermost reason that is worth reading. */
export function findErrorReason(error: unknown): string {
  let reason = error instanceof Error ? error.message : String(error);
  for (
    let current: unknown = error, depth = 0;
    current instanceof Error && depth < 8;
    current = current.cause, depth += 1
  ) {
    if (current.message !== "") reason = current.message;
  }
  return reason;
}
