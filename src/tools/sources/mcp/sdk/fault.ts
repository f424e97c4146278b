import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError as SdkError } from "@modelcontextprotocol/sdk/types.js";
import { McpError, type McpFault, reasonOf } from "../error.ts";
import { objectOf, textOf } from "../json.ts";
import { OWN_FAULT } from "./careful-transport.ts";

const MAX_SHOWN_CHARS = 500;

/** What the library rejects with, in our words. `how`: how the server has ended, if it has. */
export function faultOf(error: unknown, how: string): McpError {
  if (error instanceof McpError) return error;
  if (error instanceof SdkError) return ofProtocol(error, how);
  if (error instanceof StreamableHTTPError) return ofHttp(error);
  if (error instanceof UnauthorizedError) {
    return new McpError("auth", "asks for credentials, and the definition names none: give it `auth`", {
      cause: error,
    });
  }
  const name = error instanceof Error ? error.name : "";
  if (name === "AbortError") return new McpError("cancelled", "cancelled", { cause: error });
  if (name === "ZodError" || name === "$ZodError") {
    return new McpError("protocol", `answered with what the protocol does not know: ${shown(error)}`, {
      cause: error,
    });
  }
  if (error instanceof SyntaxError) {
    return new McpError("serialization", `answered with what is no JSON: ${shown(error)}`, { cause: error });
  }
  if (how !== "") return new McpError("closed", how, { cause: error });
  return new McpError("protocol", shown(error), { cause: error });
}

function ofProtocol(error: SdkError, how: string): McpError {
  const said = error.message.replace(/^(MCP error -?\d+: )+/, "");
  const fault = textOf(objectOf(error.data)?.[OWN_FAULT]) as McpFault | undefined;
  if (fault !== undefined) return new McpError(fault, said, { cause: error });
  if (error.code === ErrorCode.ConnectionClosed && said === "Connection closed") {
    return new McpError("closed", how === "" ? "hung up before it answered" : how, { cause: error });
  }
  const text = said.length > MAX_SHOWN_CHARS ? `${said.slice(0, MAX_SHOWN_CHARS)}...` : said;
  return new McpError("json-rpc", `refused: ${text === "" ? "without a word" : text} (${error.code})`, {
    cause: error,
    code: error.code,
  });
}

function ofHttp(error: StreamableHTTPError): McpError {
  const code = error.code ?? 0;
  const text = error.message
    .replace(/^Streamable HTTP error: /, "")
    .replace(/^Error POSTing to endpoint: /, "")
    .slice(0, MAX_SHOWN_CHARS);
  const options = { cause: error, code };
  if (code === 404) return new McpError("session-lost", `answered 404: ${text}`, options);
  if (code === 401 || code === 403) return new McpError("auth", `answered ${code}: ${text}`, options);
  return new McpError("transport", code > 0 ? `answered ${code}: ${text}` : text, options);
}

function shown(error: unknown): string {
  return reasonOf(error).replace(/\s+/g, " ").slice(0, MAX_SHOWN_CHARS);
}
