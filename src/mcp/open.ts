import { homedir } from "node:os";
import { resolve } from "node:path";
import type { McpServer } from "../schema/mcp.ts";
import type { SpawnedGroup } from "../tools/tool.ts";
import type { ConnectionEvents, McpConnection, RequestOptions } from "./connection.ts";
import { resolved, resolvedAll, resolvedHeaders, type Secrets } from "./references.ts";

export type Opening = {
  readonly secrets: Secrets;
  /** Of this program, as servers are told. */
  readonly version: string;
  /** A line that a process has written for people. */
  readonly words: (line: string) => void;
  /** A secret that was given out for those of the definition. */
  readonly obtained: (secret: string) => void;
  /** Awaited before a process of a server starts. */
  readonly spawned?: ((group: SpawnedGroup) => Promise<void>) | undefined;
};

/** Connects to the server that a definition names, with its secrets put in. */
export async function openServer(
  server: McpServer,
  { secrets, version, words, spawned, obtained }: Opening,
  events: ConnectionEvents,
  request: RequestOptions,
): Promise<McpConnection> {
  // A program that talks to no server does not load the library.
  const { openHttp, openStdio } = await import("./sdk/open.ts");
  const { transport, sampling, elicitation } = server;
  const options = { version, sampling, elicitation, events };
  if (transport.type === "http") {
    const { url, headers, auth } = transport;
    const place = { url: new URL(url), headers: resolvedHeaders(headers, secrets), auth, secrets, obtained };
    return await openHttp(place, options, request);
  }
  const command = {
    command: transport.command,
    args: transport.args.map((one) => resolved(one, secrets)),
    env: resolvedAll(transport.env, secrets),
    cwd: folderOf(transport.cwd),
  };
  return await openStdio({ command, process: { words, spawned } }, options, request);
}

function folderOf(cwd: string | undefined): string {
  if (cwd === undefined) return process.cwd();
  return resolve(cwd.replace(/^~(?=\/|$)/, homedir()));
}
