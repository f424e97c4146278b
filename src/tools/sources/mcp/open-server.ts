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
  /** Of this program, as servers are told. */
  readonly version: string;
  /** A line that a process has written for people. */
  readonly onStderrLine: (line: string) => void;
  /** A secret that was given out for those of the definition. */
  readonly onToken: (secret: string) => void;
  /** Awaited before a process of a server starts. */
  readonly onSpawned?: ((group: SpawnedGroup) => Promise<void>) | undefined;
};

/** Connects to the server that a definition names, with its secrets put in. */
export async function openServer(
  server: McpServer,
  { secrets, version, onStderrLine, onSpawned, onToken }: OpenServerOptions,
  events: ConnectionEvents,
  request: RequestOptions,
): Promise<McpConnection> {
  // A program that talks to no server does not load the library.
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
