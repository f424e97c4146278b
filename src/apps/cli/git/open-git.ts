import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveHome } from "../../../config/home.ts";
import {
  findGitFolder,
  type GitSettings,
  RepositoryError,
  readGitSettings,
  TrustStore,
  toVisibleName,
} from "../../git/index.ts";
import { askYesNo, canAsk } from "../accept-import.ts";
import { Context } from "../context.ts";
import { type LocalStack, openStack } from "../local-stack.ts";
import { UsageError } from "../usage-error.ts";
import type { GitFlags } from "./git-flags.ts";

/** Workers of other queues may lack the git tools. */
const TASK_QUEUE = "holdfast-git";

/** Where a git command works, and what the user allows there. */
export type GitSite = {
  /** With the task queue of git work. */
  readonly context: Context;
  /** The root of the work tree. */
  readonly repository: string;
  readonly home: string;
  readonly isTrusted: boolean;
  /** Another index than the repository's own, which git gives to a hook. */
  readonly index: string | undefined;
  readonly settings: GitSettings;
};

/** Finds the repository of a command, and whether the user trusts it. At a terminal a user is asked once. */
export async function openSite(context: Context, flags: Pick<GitFlags, "repo" | "trust">): Promise<GitSite> {
  const { env } = context.streams;
  const home = resolveHome(context.options.home).folder;
  const folder = resolve(flags.repo ?? ".");
  const { top: repository, gitFolder } = await findGitFolder(folder).catch(rethrowAsUsage);
  const isTrusted = await resolveTrust(context, new TrustStore(home), repository, flags.trust === true);
  const given = env["GIT_INDEX_FILE"];
  const named = given === undefined || given === "" ? undefined : resolve(repository, given);
  const index = named === join(gitFolder, "index") ? undefined : named;
  return {
    context: useGitQueue(context, index),
    ...{ repository, home, isTrusted, index },
    settings: readGitSettings(home, isTrusted ? repository : undefined),
  };
}

async function resolveTrust(
  context: Context,
  store: TrustStore,
  repository: string,
  isGiven: boolean,
): Promise<boolean> {
  if (isGiven) await store.store(repository, true);
  else if (canAsk(context)) {
    return await store.resolve(repository, async (path) => {
      context.report(
        `Do you trust the repository ${toVisibleName(path)}? If you do, its linters may run and its own capabilities and settings apply.`,
      );
      return await askYesNo(context, "Trust it? y/N ");
    });
  }
  return (await store.read(repository)) === "trusted";
}

/** A worker reads one index: the commands of a hook have a queue, and a worker, of their own. */
function useGitQueue({ streams, options }: Context, index: string | undefined): Context {
  const suffix =
    index === undefined ? "" : `-${createHash("sha256").update(index).digest("hex").slice(0, 8)}`;
  const env = index === undefined ? streams.env : { ...streams.env, HOLDFAST_GIT_INDEX: index };
  return new Context(
    { ...streams, env },
    { ...options, taskQueue: options.taskQueue ?? `${TASK_QUEUE}${suffix}` },
  );
}

/** Uses the running server, and a worker that has the git tools. */
export async function openGitStack(context: Context): Promise<LocalStack> {
  const tools = [fileURLToPath(new URL("../../git/worker-tools.js", import.meta.url))];
  // The agents of git work have no tool that runs commands.
  return await openStack(context, { tools, agents: [] });
}

const USER_FAULTS = ["not-a-repository", "unsupported", "unsafe", "unknown-revision", "unknown-path"];

/** What a user has named wrongly is a wrong use of the command. */
export function rethrowAsUsage(error: unknown): never {
  if (error instanceof RepositoryError && USER_FAULTS.includes(error.fault))
    throw new UsageError(`${error.message}.`.replace(/\.\.$/, "."), { cause: error });
  throw error;
}
