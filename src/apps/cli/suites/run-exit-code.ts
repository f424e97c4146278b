import type { SuiteRunStatus } from "../../../client/index.ts";
import { EXIT } from "../exit-codes.ts";

/** Returns the exit code of a command that has waited for the end of a run. */
export function getRunExitCode({
  status,
  reason = "",
  failed,
}: Pick<SuiteRunStatus, "status" | "reason" | "failed">): number {
  switch (status) {
    case "ended":
      return failed > 0 ? EXIT.failed : EXIT.ok;
    case "stopped":
      if (reason.includes("budget")) return EXIT.limitReached;
      return reason.includes("cells have failed") ? EXIT.failed : EXIT.stopped;
    case "failed":
      return EXIT.failed;
    case "planning":
    case "running":
    case "paused":
      return EXIT.ok;
  }
}
