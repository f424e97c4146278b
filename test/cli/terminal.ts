import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { main } from "../../src/apps/cli/program.ts";

/** Standard streams that record what is written. */
export function createTerminal(options: { readonly env?: NodeJS.ProcessEnv; readonly isTTY?: boolean } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: options.isTTY ?? false });
  const stdout = Object.assign(new PassThrough(), { isTTY: options.isTTY ?? false, columns: 80 });
  const stderr = Object.assign(new PassThrough(), { isTTY: options.isTTY ?? false, columns: 100 });
  const output = { out: "", err: "" };
  stdout.on("data", (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  stderr.on("data", (chunk: Buffer) => {
    output.err += chunk.toString();
  });
  const signals = new EventEmitter();
  return { streams: { stdin, stdout, stderr, env: options.env ?? {}, signals }, said: output, signals };
}

/** Runs one command line to its end. */
export async function runHoldfast(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; out: string; err: string }> {
  const { streams, said: output } = createTerminal({ env });
  const code = await main(args, streams);
  return { code, ...output };
}
