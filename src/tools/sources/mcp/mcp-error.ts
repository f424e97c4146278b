/** The kind of a failure between Holdfast and a server (MCP-06). */
export type McpFault =
  /** The server cannot be reached, or answers with an HTTP error. */
  | "transport"
  /** The server violated the protocol. */
  | "protocol"
  /** The server rejected the request with a JSON-RPC error. */
  | "json-rpc"
  /** A message cannot be serialized or parsed. */
  | "serialization"
  /** The system failed to start the server or to transfer the bytes. */
  | "io"
  /** The server exited or closed the connection before it answered. */
  | "closed"
  | "timed-out"
  | "cancelled"
  /** The server requires other credentials. */
  | "auth"
  /** The server has lost the session. The request was not executed and may be sent in a new session. */
  | "session-lost"
  /** The definition is invalid for this server. */
  | "definition";

/** A failure, described for users and models: what was attempted, on which server, with what result. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly fault: McpFault;
  /** The code of a JSON-RPC error or an HTTP answer. */
  readonly code: number | undefined;

  constructor(fault: McpFault, message: string, options: { cause?: unknown; code?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.code = options.code;
  }
}

/** Finds the innermost informative reason. */
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
