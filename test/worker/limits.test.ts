import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readWorkerLimits } from "../../src/worker/limits.ts";

test("limits are given as an option, or in the file that HOLDFAST_LIMITS names", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-limits-"));
  const path = join(folder, "limits.toml");
  const env = { HOLDFAST_LIMITS: path };
  await writeFile(
    path,
    "[anthropic]\nconcurrent = 20\nrequests_per_minute = 1_000\n[default]\nconcurrent = 4\n",
  );
  const read = { anthropic: { concurrent: 20, requestsPerMinute: 1000 }, default: { concurrent: 4 } };
  expect(readWorkerLimits(undefined, env)).toEqual(read);
  expect(readWorkerLimits({ openai: { concurrent: 1 } }, env)).toEqual({ openai: { concurrent: 1 } });
  expect(readWorkerLimits(undefined, {})).toEqual({});
  await writeFile(path, "[anthropic]\nconcurent = 20\n[openai]\nconcurrent = 0\n");
  expect(() => readWorkerLimits(undefined, env)).toThrow(
    /limits\.toml.*anthropic\.concurent.*openai\.concurrent/s,
  );
  expect(() => readWorkerLimits({ a: { concurrent: 0.5 } }, {})).toThrow("a.concurrent");
  await rm(folder, { recursive: true });
});
