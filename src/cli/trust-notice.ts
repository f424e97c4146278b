import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeAt } from "../config/home.ts";
import type { Context } from "./context.ts";
import type { UntrustedFlag } from "./untrusted-flag.ts";

/** Is there once the notice has been given on this home. */
const MARK = "agent-file-notice";

const NOTICE =
  "Note: an agent file is trusted like a Makefile: it chooses which files and variables are read and where they are " +
  "sent. Read a stranger's file first, or use it with --untrusted. (Said once.)";

/** Says once on each home what it means to use an agent file. */
export function noticeOfTrust(
  context: Context,
  { agent, untrusted }: UntrustedFlag & { readonly agent?: string | readonly string[] | undefined },
): void {
  if (agent === undefined || untrusted === true || context.json) return;
  const { folder } = homeAt(context.options.home ?? context.streams.env["HOLDFAST_HOME"]);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, MARK), "", { flag: "wx", mode: 0o600 });
  } catch {
    // It has been given, or nothing can be kept here; then it is not worth an error.
    return;
  }
  context.tell(context.err.dim(NOTICE));
}
