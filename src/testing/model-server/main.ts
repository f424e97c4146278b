#!/usr/bin/env node
import { openSync, readFileSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { RecordedRequest } from "./ledger.ts";
import { parseScript } from "./script.ts";
import { startModelServer } from "./server.ts";

const USAGE = `Usage: main.js [--script FILE.json] [--port N] [--log FILE.jsonl]

Prints {"url": "http://127.0.0.1:PORT"} as its first line and serves until it receives SIGINT or SIGTERM.
Control: GET /__requests, POST /__release {"name"}, /__hold {"name"}, /__script {...}, /__reset
`;

/** Writes one line for each ended request, immediately, so that no line is lost when this process dies. */
function createLogger(file: string): (request: RecordedRequest) => void {
  const descriptor = openSync(file, "a");
  return ({ body: _body, headers: _headers, ...line }) => {
    writeSync(descriptor, `${JSON.stringify(line)}\n`);
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      script: { type: "string" },
      port: { type: "string", default: "0" },
      log: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const script =
    values.script === undefined ? {} : parseScript(JSON.parse(readFileSync(values.script, "utf8")));
  const server = await startModelServer({
    ...script,
    port: Number(values.port),
    onClosed: values.log === undefined ? undefined : createLogger(values.log),
  });
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.stop());
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
