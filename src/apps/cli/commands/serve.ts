import type { Command } from "commander";
import type { Holdfast } from "../../../client/index.ts";
import { EncryptionCodec } from "../../../platform/encryption/encryption-codec.ts";
import { resolveEncryption } from "../../../platform/encryption/resolve-encryption.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { redact } from "../../../platform/text/redact.ts";
import { buildOpenApi } from "../../server/openapi/document.ts";
import { type Server, serve } from "../../server/server.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { handleInterrupts } from "../interrupts.ts";
import { readPackageVersion } from "../package-version.ts";
import { parseWholeNumber } from "../parse-number.ts";
import { loadAgents } from "../serve-agents.ts";
import { resolveToken, type TokenFlags } from "../serve-token.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { readTrust, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type Flags = TokenFlags &
  UntrustedFlag & {
    readonly port: string;
    readonly host: string;
    readonly agent?: readonly string[];
    readonly allowHost?: readonly string[];
    readonly allowOrigin?: readonly string[];
    readonly maxStreams: string;
    readonly openapi?: boolean;
  };

export function configureServeCommand(command: Command, runAction: RunAction): void {
  command
    .option("--port <n>", "the port; 0 selects a free one", "8787")
    .option(
      "--host <address>",
      "the address to listen on; any other than a loopback address needs your own token",
      "127.0.0.1",
    )
    .option("--token-env <name>", "the environment variable with the token that requests must send")
    .option("--token-file <file>", "the file with that token (default: a new token, printed once)")
    .option(
      "-a, --agent <file...>",
      "agents that requests may start by name; requests may then start no others",
    )
    .option(...UNTRUSTED)
    .option(
      "--allow-origin <url...>",
      "origins of pages that may send requests, such as http://localhost:8233 (default: none)",
    )
    .option(
      "--allow-host <name...>",
      "further host names of the server, for example those of a proxy in front of it",
    )
    .option("--max-streams <n>", "the maximum number of open streams", "256")
    .option("--openapi", "print the OpenAPI 3.1 document of the server and exit")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast serve
  $ holdfast serve --agent agents.toml --allow-origin http://localhost:3000
  $ holdfast serve --openapi > openapi.json
  $ HOLDFAST_TOKEN=… holdfast serve --host 0.0.0.0 --token-env HOLDFAST_TOKEN --allow-host agents.example.com
  $ curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8787/v1/sessions
  $ curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8787/v1/sessions/5f0c…/events

The server speaks plain HTTP; on an untrusted network, put a TLS proxy in front of it. Ctrl-C ends the streams so that
readers reconnect, and completes the requests in flight; a second Ctrl-C exits. If HOLDFAST_ENCRYPTION_KEYS is set, the
server is also a codec server for the Temporal UI.`,
    )
    .action(async (flags: Flags) => runAction((context) => runServer(context, flags)));
}

async function runServer(context: Context, flags: Flags): Promise<number> {
  if (flags.openapi === true) {
    context.print(JSON.stringify(buildOpenApi(readPackageVersion()), undefined, 2));
    return EXIT.ok;
  }
  const { env } = context.streams;
  const { token, isNew, warning } = resolveToken(flags, flags.host, env);
  const agents = loadAgents(flags.agent ?? [], readTrust(context, flags));
  const port = flags.port === "0" ? 0 : parseWholeNumber("--port", flags.port);
  const maxStreams = parseWholeNumber("--max-streams", flags.maxStreams);
  showTrustNotice(context, flags);
  if (warning !== undefined) context.report(context.err.yellow(warning));
  return withHoldfast(context, async (holdfast) => {
    const options = {
      ...{ holdfast, token, agents, port, host: flags.host, version: readPackageVersion() },
      allowHosts: flags.allowHost ?? [],
      allowOrigins: flags.allowOrigin ?? [],
      codec: createCodec(env),
      limits: { maxStreams },
      reportError: (error: unknown) => context.report(formatServerError(error, env)),
    };
    const server = await serve(options).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `The server cannot listen at ${flags.host}:${port}: ${error.message}. Choose another address with --port or --host.`,
      );
    });
    reportReady(context, holdfast, server, isNew ? token : undefined);
    return serveUntilInterrupted(context, server);
  });
}

/** Reports the server's address, and the token only when this command created it. */
function reportReady(context: Context, holdfast: Holdfast, server: Server, token: string | undefined): void {
  const { url, codecUrl } = server;
  const { address, namespace } = holdfast;
  if (context.json) {
    const made = omitUndefined({ token });
    const codec = omitUndefined({ codecUrl });
    context.printJson({ type: "ready", url, ...made, ...codec, address, namespace });
    return;
  }
  context.print(`serving ${url}, namespace ${namespace} at ${address}`);
  if (token !== undefined) context.print(`token ${token}`);
  if (codecUrl !== undefined) context.print(`codec for the Temporal UI ${codecUrl}`);
}

function serveUntilInterrupted(context: Context, server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    const off = handleInterrupts(
      context.streams.signals,
      () => {
        server
          .close()
          .then(() => resolve(EXIT.ok), reject)
          .finally(off);
      },
      () => resolve(EXIT.interrupted),
    );
  });
}

function createCodec(env: NodeJS.ProcessEnv): EncryptionCodec | undefined {
  const encryption = resolveEncryption(undefined, env);
  return encryption.ring === undefined ? undefined : new EncryptionCodec(encryption);
}

function formatServerError(error: unknown, env: NodeJS.ProcessEnv): string {
  const known = error instanceof Error ? error : new Error(String(error));
  return redact(`serve: ${env["HOLDFAST_DEBUG"] === "1" ? known.stack : known.message}`);
}
