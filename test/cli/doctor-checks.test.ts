import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkHome, checkKeys, checkNode, toHealthChecks } from "../../src/apps/cli/doctor-checks.ts";
import type { Health } from "../../src/client/index.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-checks-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = { address: "a:1", namespace: "n", taskQueue: "q" };
const well: Health = {
  serverVersion: "1.32.0",
  attributes: { missing: [], wrongType: [], registered: [], command: undefined },
  pollers: { workflow: 1, activity: 1 },
  transcript: { path: "/t.db", exists: true, schema: 1 },
};

function verdicts(health: Partial<Health>): Record<string, string> {
  return Object.fromEntries(
    toHealthChecks(at, { ...well, ...health }).map(({ name, verdict }) => [name, verdict]),
  );
}

test("a Node version that is too old fails", () => {
  expect(checkNode("20.18.3")).toMatchObject({ verdict: "fail", advice: expect.stringContaining("20.19") });
  for (const version of ["20.19.0", "22.1.0", "24.0.0"]) expect(checkNode(version).verdict).toBe("ok");
});

test("a missing key is a warning, and an empty key counts as missing", () => {
  expect(checkKeys({ OPENAI_API_KEY: "" }).verdict).toBe("warn");
  expect(checkKeys({ GEMINI_API_KEY: "x" })).toMatchObject({ verdict: "ok", details: "GEMINI_API_KEY" });
  expect(checkKeys({ OPENAI_API_KEY: "x" })).toMatchObject({ verdict: "ok", details: "OPENAI_API_KEY" });
});

test("a home that others can read is a warning, a home that is a file fails", async () => {
  await chmod(folder, 0o700);
  expect((await checkHome(folder)).verdict).toBe("ok");
  expect((await checkHome(join(folder, "later"))).verdict).toBe("ok");
  await chmod(folder, 0o755);
  expect(await checkHome(folder)).toMatchObject({ verdict: "warn", advice: `chmod 700 ${folder}` });
  await writeFile(join(folder, "file"), "");
  expect((await checkHome(join(folder, "file"))).verdict).toBe("fail");
});

test("the server's answers become verdicts", () => {
  expect(new Set(Object.values(verdicts({})))).toEqual(new Set(["ok"]));
  const command = "temporal operator search-attribute create";
  const gaps = { missing: ["HoldfastTurns"], wrongType: [], registered: [], command } as const;
  expect(verdicts({ attributes: gaps })).toMatchObject({ "search attributes": "fail" });
  expect(verdicts({ attributes: { ...gaps, missing: [], wrongType: ["HoldfastTurns"] } })).toMatchObject({
    "search attributes": "fail",
  });
  expect(verdicts({ pollers: { workflow: 0, activity: 0 } })).toMatchObject({ workers: "warn" });
  expect(verdicts({ transcript: { path: "/t.db", error: "damaged" } })).toMatchObject({ transcript: "fail" });
  expect(verdicts({ transcript: { path: "/t.db", exists: false } })).toMatchObject({ transcript: "ok" });
});
