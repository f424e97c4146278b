import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../client/index.ts";
import { databaseUrl } from "../../config/database.ts";
import { type Home, homeAt } from "../../config/home.ts";
import { type Check, checkHome, checkLive, checkNode, checkRoom, HOME_ADVICE } from "./checks.ts";
import type { Context } from "./context.ts";

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
  mustPass(checkNode());
  const home = homeAt(folder);
  try {
    makeFolder(home.folder);
  } catch (error) {
    const reason = (error as Error).message;
    const found = `${home.folder} cannot be made: ${reason}`;
    throw refused({ name: "home", verdict: "fail", found, advice: HOME_ADVICE });
  }
  mustPass(await checkHome(folder));
  for (const check of [await checkRoom(folder), await checkLive(folder, database)]) {
    mustPass(check);
    if (check.verdict === "warn") context.tell(context.err.yellow(described(check)));
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
  if (databaseUrl(context.options.database) === undefined) await prepareHome(context);
  else mustPass(checkNode());
}

function mustPass(check: Check): void {
  if (check.verdict === "fail") throw refused(check);
}

function refused(check: Check): HoldfastError {
  const code = check.name === "room" ? "store-failed" : "configuration-invalid";
  return new HoldfastError(code, `Nothing was started. ${described(check)}`);
}

function described({ name, found, advice }: Check): string {
  return `${name}: ${found}${advice === undefined ? "" : `; ${advice}`}. \`holdfast doctor\` checks the rest.`;
}
