import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError as SdkError } from "@modelcontextprotocol/sdk/types.js";
import { asObject, asText } from "../../../../platform/text/json.ts";
import { findErrorReason, McpError, type McpFault } from "../mcp-error.ts";
import { LOCAL_FAULT_KEY } from "./request-tracking-transport.ts";

const MAX_QUOTED_CHARS = 500;

/** Converts an error of the library. @param exit - How the server has exited; empty if it runs. */
export function toMcpError(error: unknown, exit: string): McpError {
  if (error instanceof McpError) return error;
  if (error instanceof SdkError) return convertSdkError(error, exit);
  if (error instanceof StreamableHTTPError) return convertHttpError(error);
  if (error instanceof UnauthorizedError) {
    return new McpError("auth", "requires credentials, and the definition has none: add `auth`", {
      cause: error,
    });
  }
  const name = error instanceof Error ? error.name : "";
  if (name === "AbortError") return new McpError("cancelled", "cancelled", { cause: error });
  if (name === "ZodError" || name === "$ZodError") {
    return new McpError("protocol", `sent an answer that violates the protocol: ${formatError(error)}`, {
      cause: error,
    });
  }
  if (error instanceof SyntaxError) {
    return new McpError("serialization", `sent an answer that is not JSON: ${formatError(error)}`, {
      cause: error,
    });
  }
  if (exit !== "") return new McpError("closed", exit, { cause: error });
  return new McpError("protocol", formatError(error), { cause: error });
}

function convertSdkError(error: SdkError, exit: string): McpError {
  const message = error.message.replace(/^(MCP error -?\d+: )+/, "");
  const fault = asText(asObject(error.data)?.[LOCAL_FAULT_KEY]) as McpFault | undefined;
  if (fault !== undefined) return new McpError(fault, message, { cause: error });
  if (error.code === ErrorCode.ConnectionClosed && message === "Connection closed") {
    return new McpError("closed", exit === "" ? "closed the connection before it answered" : exit, {
      cause: error,
    });
  }
  const text = message.length > MAX_QUOTED_CHARS ? `${message.slice(0, MAX_QUOTED_CHARS)}...` : message;
  return new McpError(
    "json-rpc",
    `rejected the request: ${text === "" ? "no reason given" : text} (${error.code})`,
    {
      cause: error,
      code: error.code,
    },
  );
}

function convertHttpError(error: StreamableHTTPError): McpError {
  const code = error.code ?? 0;
  const text = error.message
    .replace(/^Streamable HTTP error: /, "")
    .replace(/^Error POSTing to endpoint: /, "")
    .slice(0, MAX_QUOTED_CHARS);
  const options = { cause: error, code };
  if (code === 404) return new McpError("session-lost", `answered 404: ${text}`, options);
  if (code === 401 || code === 403) return new McpError("auth", `answered ${code}: ${text}`, options);
  return new McpError("transport", code > 0 ? `answered ${code}: ${text}` : text, options);
}

function formatError(error: unknown): string {
  return findErrorReason(error).replace(/\s+/g, " ").slice(0, MAX_QUOTED_CHARS);
}
