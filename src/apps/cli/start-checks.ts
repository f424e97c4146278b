import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../client/holdfast-error.ts";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { type Home, resolveHome } from "../../config/home.ts";
import type { Context } from "./context.ts";
import { type Check, checkFreeSpace, checkHome, checkLive, checkNode, HOME_ADVICE } from "./doctor-checks.ts";

/**
 * Runs the checks of `holdfast doctor` that concern this machine, before anything starts on it, and creates the home.
 *
 * @throws HoldfastError when a check fails; warnings are only reported.
 */
export async function prepareHome(
  context: Context,
  database: string | undefined = context.options.database,
): Promise<Home> {
  const { home: folder } = context.options;
  assertPassed(checkNode());
  const home = resolveHome(folder);
  try {
    makeFolder(home.folder);
  } catch (error) {
    const reason = (error as Error).message;
    const details = `${home.folder} cannot be created: ${reason}`;
    throw createCheckError({ name: "home", verdict: "fail", details, advice: HOME_ADVICE });
  }
  assertPassed(await checkHome(folder));
  for (const check of [await checkFreeSpace(folder), await checkLive(folder, database)]) {
    assertPassed(check);
    if (check.verdict === "warn") context.report(context.err.yellow(formatCheck(check)));
  }
  return home;
}

/**
 * Creates a folder and its parents, accessible only to the owner. Creates them one by one: Node's `recursive` never
 * returns below an existing folder that accepts no folders, such as /proc.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it at the same time.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Runs the checks for a worker. A worker with a database does not use the home, so only Node is checked. */
export async function checkBeforeWorker(context: Context): Promise<void> {
  if (getDatabaseUrl(context.options.database) === undefined) await prepareHome(context);
  else assertPassed(checkNode());
}

function assertPassed(check: Check): void {
  if (check.verdict === "fail") throw createCheckError(check);
}

function createCheckError(check: Check): HoldfastError {
  const code = check.name === "room" ? "store-failed" : "configuration-invalid";
  return new HoldfastError(code, `Nothing was started. ${formatCheck(check)}`);
}

function formatCheck({ name, details, advice }: Check): string {
  return `${name}: ${details}${advice === undefined ? "" : `; ${advice}`}. \`holdfast doctor\` checks the rest.`;
}
