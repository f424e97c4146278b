import { findProgram } from "../process/find-program.ts";

/** The programs that make a sandbox. */
export type SandboxPrograms = {
  readonly bwrap: string;
  /** Of util-linux; also in the sandbox, at the same path. */
  readonly setsid: string;
  /** Of util-linux; also in the sandbox, at the same path. */
  readonly prlimit: string;
  /** Of util-linux. Needed only for a sandbox with network rules. */
  readonly nsenter?: string | undefined;
  /** Needed only if this process has inherited descriptors: see inherited-descriptors.ts. */
  readonly bash?: string | undefined;
};

/**
 * The folders of a system's own programs. The worker's PATH does not count: `npx` puts a folder of the workspace first in
 * it, and a program there called `bwrap` would be a sandbox that is none.
 */
export const SYSTEM_PATH =
  "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** Finds the programs, or names the first missing one. */
export async function findSandboxPrograms(
  path: string = SYSTEM_PATH,
): Promise<SandboxPrograms | { readonly missing: "bwrap" | "setsid" | "prlimit" }> {
  const [bwrap, setsid, prlimit, nsenter, bash] = await Promise.all(
    ["bwrap", "setsid", "prlimit", "nsenter", "bash"].map((name) => findProgram(name, path)),
  );
  if (bwrap === undefined) return { missing: "bwrap" };
  if (setsid === undefined) return { missing: "setsid" };
  if (prlimit === undefined) return { missing: "prlimit" };
  return { bwrap, setsid, prlimit, nsenter, bash };
}
