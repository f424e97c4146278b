import { access, constants, open, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { findProgram } from "../platform/process/find-program.ts";
import { buildFailure, type HookFailure } from "./verdict.ts";

export type Runnable = {
  readonly type: "runnable";
  readonly program: string;
  readonly args: readonly string[];
};

/** The interpreters of scripts that do not name one themselves, by the ending of the file name (PHI-11). */
const INTERPRETERS: Readonly<Record<string, string>> = {
  ".sh": "sh",
  ".bash": "bash",
  ".py": "python3",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
};

const TYPESCRIPT = [".ts", ".mts", ".cts"];

/**
 * Finds what to start for these words.
 *
 * A first word with a slash is a file, relative to the folder; any other is a program on PATH. An executable file that
 * names its interpreter (`#!`), or is a binary, is started directly.
 */
export async function findRunnable(
  words: readonly string[],
  folder: string,
  path: string,
): Promise<Runnable | HookFailure> {
  const [first = "", ...args] = words;
  if (!first.includes("/")) {
    const program = await findProgram(first, path);
    if (program !== undefined) return { type: "runnable", program, args };
    return buildFailure(
      "not-found",
      `There is no program ${first} on PATH; a file in the workspace is ./${first}`,
    );
  }
  const file = resolve(folder, first);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return buildFailure("not-found", `There is no file ${file}`);

  const ending = extname(file).toLowerCase();
  const needsReader = ending in INTERPRETERS || TYPESCRIPT.includes(ending);
  if ((await isExecutable(file)) && (!needsReader || (await hasInterpreter(file)))) {
    return { type: "runnable", program: file, args };
  }
  if (TYPESCRIPT.includes(ending)) {
    return buildFailure(
      "not-runnable",
      `${file} is TypeScript, which cannot run directly: compile it to JavaScript and name that file`,
    );
  }
  const interpreter = INTERPRETERS[ending];
  if (interpreter === undefined) {
    const known = Object.keys(INTERPRETERS).join(", ");
    return buildFailure(
      "not-runnable",
      `${file} is not executable, and its name does not end in one of ${known}`,
    );
  }
  // A worker can always use the Node that runs it.
  const program =
    (await findProgram(interpreter, path)) ?? (interpreter === "node" ? process.execPath : undefined);
  if (program === undefined)
    return buildFailure("not-found", `${file} needs ${interpreter}, which is not on PATH`);
  return { type: "runnable", program, args: [file, ...args] };
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function hasInterpreter(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.toString("latin1") === "#!";
  } finally {
    await handle.close();
  }
}
