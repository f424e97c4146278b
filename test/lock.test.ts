import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");

type Entry = { version: string; integrity?: string; resolved?: string; inBundle?: boolean };
type Lock = { packages: Record<string, Entry> };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-lock-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Checks the lock file as it would be after a change. */
async function checked(change: (entry: Entry, lock: Lock) => void): Promise<{ code: number; said: string }> {
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as Lock;
  change(lock.packages["node_modules/zod"] as Entry, lock);
  const file = join(folder, "package-lock.json");
  await writeFile(file, JSON.stringify(lock));
  return new Promise((done) => {
    execFile(process.execPath, [join(ROOT, "scripts/check-lock.mjs"), file], (error, _, said) =>
      done({ code: error === null ? 0 : Number(error.code), said }),
    );
  });
}

test("the lock file passes its check", async () => {
  expect(await checked(() => undefined)).toEqual({ code: 0, said: "" });
});

test("a package without a checksum fails the check of the lock file, and so does one with a weak checksum", async () => {
  const without = await checked((entry) => delete entry.integrity);
  expect(without.code).toBe(1);
  expect(without.said).toMatch(/1 packages have no sha512 "integrity"; the first is zod@/);
  const weak = await checked((entry) => {
    entry.integrity = "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=";
  });
  expect(weak.said).toContain("zod@");
});

test("a package that names its registry fails the check", async () => {
  const { code, said } = await checked((entry) => {
    entry.resolved = "https://registry.example/zod.tgz";
  });
  expect(code).toBe(1);
  expect(said).toContain("contain a registry");
});

test("a build for another platform needs a checksum like any other package, and a bundled package needs none", async () => {
  const without = await checked((_, { packages }) => {
    delete (packages["node_modules/@swc/core-darwin-arm64"] as Entry).integrity;
  });
  expect(without.code).toBe(1);
  expect(without.said).toContain("the first is @swc/core-darwin-arm64@");
  const bundled = await checked((entry) => {
    delete entry.integrity;
    entry.inBundle = true;
  });
  expect(bundled).toEqual({ code: 0, said: "" });
});
