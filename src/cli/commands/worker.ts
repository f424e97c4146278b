import { resolve } from "node:path";
import type { Command } from "commander";
import { localServer, namedAddress } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { spawnWorker } from "../worker-child.ts";

type Flags = { readonly tools?: readonly string[]; readonly recognition: boolean };

export function workerCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("worker")
    .description("Run a worker, until Ctrl-C: it drains, then ends")
    .option("--tools <file...>", "modules whose default export is a tool or a list of tools")
    .option("--no-recognition", "leave dead workers of this host to their heartbeats")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast worker
  $ holdfast worker --address temporal.example.com:7233 --namespace agents --task-queue builds
  $ holdfast worker --tools ./tools.js`,
    )
    .action(async (flags: Flags) => act((context) => work(context, flags)));
}

async function work(context: Context, flags: Flags): Promise<number> {
  const { options, streams } = context;
  const address = namedAddress(context) ?? (await localServer(context));
  const child = spawnWorker(
    {
      ...options,
      address,
      tools: flags.tools?.map((file) => resolve(file)),
      recognition: flags.recognition,
    },
    { env: streams.env },
  );
  const drain = (): void => {
    child.process.kill("SIGTERM");
  };
  streams.signals.on("SIGINT", drain);
  streams.signals.on("SIGTERM", drain);
  try {
    const ready = await child.ready;
    if (ready !== undefined) {
      if (context.json) context.printJson(ready);
      else context.print(`worker ready, pid ${ready.pid}, task queue ${ready.taskQueue} at ${ready.address}`);
    }
    const { code } = await child.ended;
    return code ?? EXIT.failed;
  } finally {
    streams.signals.off("SIGINT", drain);
    streams.signals.off("SIGTERM", drain);
  }
}
