import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { thoroughTest } from "./support/test-depth.ts";

const SCRIPT = resolve(import.meta.dirname, "../scripts/check-names.mjs");

/** Runs the check of names over one file with this source. */
async function check(source: string): Promise<{ code: number; problems: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-names-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "planted.ts"), source);
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, folder], (error, _, printed) =>
      done({
        code: error === null ? 0 : Number(error.code),
        problems: [...printed.matchAll(/planted\.ts:(\d+: \S+)/g)].map(([, at = ""]) => at),
      }),
    );
  });
}

thoroughTest("functions named by verbs, and types and fields of standard words, pass", async () => {
  const source = `
    export function embedText() {}
    export const readOutput = () => 1;
    const exceeded = 3;
    export type Outbox = { readonly told: boolean; readonly edited: { readonly position: number } };
    export type PrunApplied = { readonly spotted: number };
    export class Reader { #cache = 1; listNames() {} }
  `;
  expect(await check(source)).toEqual({ code: 0, problems: [] });
});

thoroughTest(
  "a function named by a participle or a particle is refused, however it is declared",
  async () => {
    const source = `export function stored() {}
    export const behindValue = () => 1;
    const told = function () {};
    function keptMessages() {}`;
    expect(await check(source)).toEqual({
      code: 1,
      problems: ["1: stored", "2: behindValue", "3: told", "4: keptMessages"],
    });
  },
);

test("a private word is refused in functions, types, classes and fields at any depth", async () => {
  const source = `export function readSetback() {}
    export type SessionFormation = string;
    export class Vault {}
    export type State = {
      readonly inner: { readonly patienceMs: number };
    };
    export interface Known { bequeath_to: string }
    export class Reader { #heirs = []; weighAll() {} }`;
  expect(await check(source)).toEqual({
    code: 1,
    problems: [
      "1: readSetback",
      "2: SessionFormation",
      "3: Vault",
      "5: patienceMs",
      "7: bequeath_to",
      "8: #heirs",
      "8: weighAll",
    ],
  });
});
