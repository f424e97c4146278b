import type { AgentFileContext } from "./agent-file.ts";
import type { Context } from "./context.ts";

/** The flag of every command that reads agent files. */
export type UntrustedFlag = { readonly untrusted?: boolean };

/** The arguments of commander's `option` for the flag. */
export const UNTRUSTED = [
  "--untrusted",
  "do not trust the agent files: they may not read files, no variables except a vendor's key, and not choose a sandbox",
] as const;

/** Returns where a command reads its agent files from, and whether it trusts them. */
export function readTrust({ streams }: Context, { untrusted }: UntrustedFlag): AgentFileContext {
  return { cwd: process.cwd(), env: streams.env, untrusted };
}
