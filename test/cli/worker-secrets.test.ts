import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { NO_PROC, testIf } from "../support/skipping.ts";

const KEY = Buffer.alloc(32, 5).toString("base64");

type WorkerChildModule = typeof import("../../src/apps/cli/worker-child.ts");

testIf(existsSync("/proc/self/environ"), NO_PROC)(
  "a worker receives its secrets through a pipe: /proc never exposes them",
  async () => {
    const url = pathToFileURL(resolveBuiltFile("apps/cli/worker-child.js")).href;
    const { spawnWorker } = (await import(url)) as WorkerChildModule;
    let said = "";
    const child = spawnWorker(
      { address: "127.0.0.1:1" },
      {
        env: {
          PATH: process.env["PATH"],
          RING_A: KEY,
          HOLDFAST_ENCRYPTION_KEYS: "a=env:RING_A,b=env:RING_B",
        },
        onLog: (chunk) => {
          said += chunk.toString();
        },
      },
    );
    const shown = readFileSync(`/proc/${child.process.pid}/environ`, "latin1");
    expect(await child.ready).toBeUndefined();
    expect(shown).not.toContain(KEY);
    // It has found the first key and misses the second.
    expect(said).toContain('Key "b": RING_B is not set');
  },
);
