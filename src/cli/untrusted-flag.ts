import type { Surroundings } from "./agent-file.ts";
import type { Context } from "./context.ts";

/** Of each command that reads agent files. */
export type UntrustedFlag = { readonly untrusted?: boolean };

/** The flag, as commander takes it. */
export const UNTRUSTED = [
  "--untrusted",
  "agent files come from a stranger: they may read no files, and no variables but a vendor's key",
] as const;

/** Where a command line reads its agent files, and how far they are trusted. */
export function surroundingsOf({ streams }: Context, { untrusted }: UntrustedFlag): Surroundings {
  return { cwd: process.cwd(), env: streams.env, untrusted };
}
