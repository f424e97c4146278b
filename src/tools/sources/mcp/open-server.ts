import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ProcessStarter } from "../../../platform/process/process-starter.ts";
import type { McpServer } from "../../../schema/mcp.ts";
import { SandboxUnavailableError } from "../../sandbox/sandboxes.ts";
import type { SpawnedGroup } from "../../tool.ts";
import type { ConnectionEvents, McpConnection, RequestOptions } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";
import {
  resolveEachReference,
  resolveHeaderReferences,
  resolveReferences,
  type SecretSource,
} from "./secret-references.ts";
import type { ServerPlace } from "./server-place.ts";

export type OpenServerOptions = {
  readonly place: ServerPlace;
  /** Returns what starts the process of a server. Rejects with a `SandboxUnavailableError`. */
  readonly openSandbox: () => Promise<ProcessStarter>;
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
  { place, openSandbox, secrets, version, onStderrLine, onSpawned, onToken }: OpenServerOptions,
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
  const start = await openSandbox().catch((error: unknown) => {
    if (!(error instanceof SandboxUnavailableError)) throw error;
    throw new McpError("io", `cannot be started: ${error.message}`, { cause: error });
  });
  const command = {
    start,
    command: transport.command,
    args: transport.args.map((one) => resolveReferences(one, secrets)),
    env: resolveEachReference(transport.env, secrets),
    cwd: resolveFolder(transport.cwd, place),
  };
  return await openStdio({ command, process: { onStderrLine, onSpawned } }, options, request);
}

/** A sandbox does not contain the worker's own folder. */
function resolveFolder(cwd: string | undefined, { sandbox, workspace }: ServerPlace): string {
  if (cwd === undefined) return sandbox.mode === "off" ? process.cwd() : resolve(workspace);
  return resolve(cwd.replace(/^~(?=\/|$)/, homedir()));
}
