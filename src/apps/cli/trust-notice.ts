import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveHome } from "../../config/home.ts";
import type { Context } from "./context.ts";
import type { UntrustedFlag } from "./untrusted-flag.ts";

/** The file that marks a home whose notice was printed. */
const MARK = "agent-file-notice";

const NOTICE =
  "Note: an agent file is trusted like a Makefile: it decides which files and variables are read and where they are " +
  "sent. Read an unfamiliar file first, or use it with --untrusted. (This note appears once.)";

/** Prints, once for each home, a note about trusting agent files. */
export function showTrustNotice(
  context: Context,
  { agent, untrusted }: UntrustedFlag & { readonly agent?: string | readonly string[] | undefined },
): void {
  if (agent === undefined || untrusted === true || context.json) return;
  const { folder } = resolveHome(context.options.home ?? context.streams.env["HOLDFAST_HOME"]);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, MARK), "", { flag: "wx", mode: 0o600 });
  } catch {
    // The note was already printed, or the home cannot be written; neither is an error.
    return;
  }
  context.report(context.err.dim(NOTICE));
}
