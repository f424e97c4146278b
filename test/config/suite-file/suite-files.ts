import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { formatProblem } from "../../../src/config/problem.ts";
import { type ReadSuiteOptions, readSuite } from "../../../src/config/suite-file/load-suite.ts";
import type { LoadedSuite } from "../../../src/config/suite-file/loaded-suite.ts";
import type { SuiteCase } from "../../../src/schema/suite.ts";

export const AGENT = '[provider]\nmodel = "claude-sonnet-4-5"\napi_key = "${KEY}"\n';

/** Writes files into a new folder, which is deleted after the test. */
export function writeFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-suite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Reads `suite.toml` of a folder with these files, or another file of it. */
export async function read(
  files: Readonly<Record<string, string>>,
  { file = "suite.toml", ...options }: ReadSuiteOptions & { readonly file?: string } = {},
) {
  const cwd = writeFolder(files);
  const { suite, problems } = await readSuite(file, { cwd, env: { KEY: "k" }, ...options });
  return { suite, problems: problems.map(formatProblem), cwd };
}

/** Reads a suite without problems. */
export async function readSound(
  files: Readonly<Record<string, string>>,
  options?: ReadSuiteOptions & { readonly file?: string },
): Promise<LoadedSuite> {
  const { suite, problems } = await read(files, options);
  if (suite === undefined || problems.length > 0) throw new Error(problems.join("\n"));
  return suite;
}

export async function listCases(suite: LoadedSuite): Promise<readonly SuiteCase[]> {
  const cases: SuiteCase[] = [];
  for await (const one of suite.cases()) cases.push(one);
  return cases;
}
