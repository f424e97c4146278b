import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect } from "vitest";
import type { ModelScript } from "../../../src/testing/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PLAYER = fileURLToPath(new URL("play-programs.mjs", import.meta.url));

/** A program of a page. */
export type DocProgram = { readonly name: string; readonly code: string };

export type PlayedProgram = { readonly name: string; readonly output: string; readonly error?: string };

export function readPage(name: string): string {
  return readFileSync(join(ROOT, "docs", `${name}.md`), "utf8");
}

export function listBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, block = ""]) => block,
  );
}

/** The recipes of the cookbook, with what each prints. */
export function readRecipes(): (DocProgram & { readonly printed: string })[] {
  return readPage("cookbook")
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [, title = ""] = /^\d+\. (.+)\n/.exec(section) ?? [];
      const [code = ""] = listBlocks(section, "ts");
      const [printed = ""] = listBlocks(section, "text");
      const name = title
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, "")
        .replaceAll(" ", "-");
      return { name, code, printed };
    });
}

/** The modules that programs of the documents may import. */
export function findForeignImports(code: string): string[] {
  const imported = [...code.matchAll(/\bfrom "([^"]+)"/g)].map(([, module = ""]) => module);
  return imported.filter(
    (module) => !/^(?:node:|zod$|holdfast(?:\/(?:worker|testing|workflows|plugin))?$)/.test(module),
  );
}

/** Runs programs, each with a scripted model. They import the built package by its name. */
export async function playPrograms(
  page: string,
  programs: readonly DocProgram[],
  scripts: Readonly<Record<string, ModelScript>>,
): Promise<ReadonlyMap<string, PlayedProgram>> {
  const folder = writePrograms(page, programs, "mjs", removeTypes);
  const input = programs.map(({ name, code }) => ({
    name,
    file: join(folder, `${name}.mjs`),
    hasWorker: code.includes("createWorker("),
    script: scripts[name] ?? {},
  }));
  const stdout = await runNode(PLAYER, JSON.stringify({ programs: input }));
  const played = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as PlayedProgram);
  return new Map(played.map((one) => [one.name, one]));
}

/** Runs a program that brings its own server and model, and returns what it prints. */
export async function runProgram(page: string, program: DocProgram): Promise<string> {
  const folder = writePrograms(page, [program], "mjs", removeTypes);
  return runNode(join(folder, `${program.name}.mjs`), "");
}

/** Checks the types of programs against the declarations of the built package. */
export function expectNoTypeErrors(programs: readonly DocProgram[]): void {
  const folder = writePrograms("types", programs, "mts", (code) => code);
  const program = ts.createProgram(
    programs.map(({ name }) => join(folder, `${name}.mts`)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
    },
  );
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return `${file?.fileName.slice(folder.length + 1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
  expect(problems).toEqual([]);
}

/** Writes programs below the package, so that they find it by its name. */
function writePrograms(
  page: string,
  programs: readonly DocProgram[],
  extension: string,
  convert: (code: string) => string,
): string {
  const folder = join(ROOT, ".holdfast/docs-programs", page);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, code } of programs) writeFileSync(join(folder, `${name}.${extension}`), convert(code));
  return folder;
}

function removeTypes(code: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

/** Runs a file in a process of its own. Fails with its output if its exit code is not 0. */
function runNode(file: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [file], { cwd: ROOT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
    });
    child.stdin?.end(input);
  });
}
