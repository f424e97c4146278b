import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../client/index.ts";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { type Home, resolveHome } from "../../config/home.ts";
import type { Context } from "./context.ts";
import { type Check, checkFreeSpace, checkHome, checkLive, checkNode, HOME_ADVICE } from "./doctor-checks.ts";

/**
 * What `holdfast doctor` would find wrong with this machine, before anything is started on it.
 *
 * @throws HoldfastError when nothing could work; what only disturbs is told.
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
    const found = `${home.folder} cannot be made: ${reason}`;
    throw createCheckError({ name: "home", verdict: "fail", found, advice: HOME_ADVICE });
  }
  assertPassed(await checkHome(folder));
  for (const check of [await checkFreeSpace(folder), await checkLive(folder, database)]) {
    assertPassed(check);
    if (check.verdict === "warn") context.report(context.err.yellow(formatCheck(check)));
  }
  return home;
}

/** For its owner alone. One by one: Node's `recursive` never returns where a folder is there and takes none, as /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Somebody else may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** For a worker that keeps everything in a database, the home matters as little as its disk. */
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

function formatCheck({ name, found, advice }: Check): string {
  return `${name}: ${found}${advice === undefined ? "" : `; ${advice}`}. \`holdfast doctor\` checks the rest.`;
}
