import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";

const SCRIPT = `
const { shutdownOnSignals } = await import(process.argv[1]);
shutdownOnSignals({ shutdown: () => console.log("asked") });
setInterval(() => {}, 1000);
console.log("ready");
`;

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("the third %s kills a worker that does not end", async (signal, code) => {
  const file = pathToFileURL(resolveBuiltFile("worker/shutdown-on-signals.js")).href;
  const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "exit");
  expect((await lines.next()).value).toBe("ready");
  for (const _ of ["drain", "hurry"]) {
    child.kill(signal);
    expect((await lines.next()).value).toBe("asked");
  }
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
});
