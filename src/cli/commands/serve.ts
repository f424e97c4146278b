import type { Command } from "commander";
import type { Holdfast } from "../../client/index.ts";
import { encryptionOf } from "../../codec/encryption.ts";
import { SealingCodec } from "../../codec/sealing-codec.ts";
import { redact } from "../../core/redact.ts";
import { type Server, serve } from "../../server/server.ts";
import { wholeNumber } from "../agent-flags.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { onInterrupts } from "../interrupts.ts";
import { agentsFrom } from "../serve-agents.ts";
import { type TokenFlags, tokenFrom } from "../serve-token.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { surroundingsOf, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type Flags = TokenFlags &
  UntrustedFlag & {
    readonly port: string;
    readonly host: string;
    readonly agent?: readonly string[];
    readonly allowHost?: readonly string[];
    readonly allowOrigin?: readonly string[];
    readonly maxStreams: string;
  };

export function serveCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("serve")
    .description("Serve sessions over HTTP: JSON, event streams, chats of the AI SDK; until Ctrl-C")
    .option("--port <n>", "0 takes any that is free", "8787")
    .option("--host <address>", "another than a loopback one needs a token of yours", "127.0.0.1")
    .option("--token-env <name>", "the variable that holds the token that requests must bring")
    .option("--token-file <file>", "the file that holds it (default: one is made, and printed once)")
    .option("-a, --agent <file...>", "agents that requests may start by name; no others then")
    .option(...UNTRUSTED)
    .option("--allow-origin <url...>", "pages that may ask, as http://localhost:8233; none unless said")
    .option("--allow-host <name...>", "further names of the server, where it stands behind another")
    .option("--max-streams <n>", "streams that may be open at the same time", "256")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast serve
  $ holdfast serve --agent agents.toml --allow-origin http://localhost:3000
  $ HOLDFAST_TOKEN=… holdfast serve --host 0.0.0.0 --token-env HOLDFAST_TOKEN --allow-host agents.example.com
  $ curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8787/v1/sessions
  $ curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8787/v1/sessions/5f0c…/events

It speaks HTTP; put a proxy with TLS before it where others can listen. Ctrl-C ends the streams so that readers come
back, and lets requests that are under way end; a second one leaves. Where HOLDFAST_ENCRYPTION_KEYS is set, it is a codec
server for the Temporal UI as well.`,
    )
    .action(async (flags: Flags) => act((context) => run(context, flags)));
}

async function run(context: Context, flags: Flags): Promise<number> {
  const { env } = context.streams;
  const { token, isNew, warning } = tokenFrom(flags, flags.host, env);
  const agents = agentsFrom(flags.agent ?? [], surroundingsOf(context, flags));
  const port = flags.port === "0" ? 0 : wholeNumber("--port", flags.port);
  const maxStreams = wholeNumber("--max-streams", flags.maxStreams);
  noticeOfTrust(context, flags);
  if (warning !== undefined) context.tell(context.err.yellow(warning));
  return withHoldfast(context, async (holdfast) => {
    const options = {
      ...{ holdfast, token, agents, port, host: flags.host },
      allowHosts: flags.allowHost ?? [],
      allowOrigins: flags.allowOrigin ?? [],
      codec: codecOf(env),
      limits: { maxStreams },
      tell: (error: unknown) => context.tell(wordsOf(error, env)),
    };
    const server = await serve(options).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `The server cannot listen at ${flags.host}:${port}: ${error.message}. Take another with --port or --host.`,
      );
    });
    tellReady(context, holdfast, server, isNew ? token : undefined);
    return untilInterrupted(context, server);
  });
}

/** The token is shown where it was made, and nowhere else. */
function tellReady(context: Context, holdfast: Holdfast, server: Server, token: string | undefined): void {
  const { url, codecUrl } = server;
  const { address, namespace } = holdfast;
  if (context.json) {
    const made = token === undefined ? {} : { token };
    const codec = codecUrl === undefined ? {} : { codecUrl };
    context.printJson({ type: "ready", url, ...made, ...codec, address, namespace });
    return;
  }
  context.print(`serving ${url}, namespace ${namespace} at ${address}`);
  if (token !== undefined) context.print(`token ${token}`);
  if (codecUrl !== undefined) context.print(`codec for the Temporal UI ${codecUrl}`);
}

function untilInterrupted(context: Context, server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    const off = onInterrupts(
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

function codecOf(env: NodeJS.ProcessEnv): SealingCodec | undefined {
  const encryption = encryptionOf(undefined, env);
  return encryption.ring === undefined ? undefined : new SealingCodec(encryption);
}

function wordsOf(error: unknown, env: NodeJS.ProcessEnv): string {
  const known = error instanceof Error ? error : new Error(String(error));
  return redact(`serve: ${env["HOLDFAST_DEBUG"] === "1" ? known.stack : known.message}`);
}
