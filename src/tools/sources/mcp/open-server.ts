import { homedir } from "node:os";
import { resolve } from "node:path";
import type { McpServer } from "../../../schema/mcp.ts";
import type { SpawnedGroup } from "../../tool.ts";
import type { ConnectionEvents, McpConnection, RequestOptions } from "./mcp-connection.ts";
import {
  resolveEachReference,
  resolveHeaderReferences,
  resolveReferences,
  type SecretSource,
} from "./secret-references.ts";

export type OpenServerOptions = {
  readonly secrets: SecretSource;
  /** The version of this program, as reported to servers. */
  readonly version: string;
  /** Receives a line that the process has written to standard error. */
  readonly onStderrLine: (line: string) => void;
  /** Receives a secret that was issued in exchange for those of the definition. */
  readonly onToken: (secret: string) => void;
  /** Awaited before the process of a server starts. */
  readonly onSpawned?: ((group: SpawnedGroup) => Promise<void>) | undefined;
};

/** Connects to the server that a definition names, with its secrets resolved. */
export async function openServer(
  server: McpServer,
  { secrets, version, onStderrLine, onSpawned, onToken }: OpenServerOptions,
  events: ConnectionEvents,
  request: RequestOptions,
): Promise<McpConnection> {
  // Loaded lazily: a program that uses no server does not load the library.
  const { openHttp, openStdio } = await import("./sdk/open-connection.ts");
  const { transport, sampling, elicitation } = server;
  const options = { version, sampling, elicitation, events };
  if (transport.type === "http") {
    const { url, headers, auth } = transport;
    const target = {
      url: new URL(url),
      headers: resolveHeaderReferences(headers, secrets),
      auth,
      secrets,
      onToken,
    };
    return await openHttp(target, options, request);
  }
  const command = {
    command: transport.command,
    args: transport.args.map((one) => resolveReferences(one, secrets)),
    env: resolveEachReference(transport.env, secrets),
    cwd: resolveFolder(transport.cwd),
  };
  return await openStdio({ command, process: { onStderrLine, onSpawned } }, options, request);
}

function resolveFolder(cwd: string | undefined): string {
  if (cwd === undefined) return process.cwd();
  return resolve(cwd.replace(/^~(?=\/|$)/, homedir()));
}
