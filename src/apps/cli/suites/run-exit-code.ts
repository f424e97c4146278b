import type { SuiteRunStatus } from "../../../client/index.ts";
import type { SuiteStopCode } from "../../../schema/suite.ts";
import { EXIT } from "../exit-codes.ts";

const EXIT_OF_STOP = {
  user: EXIT.stopped,
  budget: EXIT.limitReached,
  failures: EXIT.failed,
  "no-progress": EXIT.failed,
} satisfies Record<SuiteStopCode, number>;

/** Returns the exit code of a command that has waited for the end of a run. */
export function getRunExitCode({
  status,
  stopCode = "user",
  failed,
}: Pick<SuiteRunStatus, "status" | "stopCode" | "failed">): number {
  switch (status) {
    case "ended":
      return failed > 0 ? EXIT.failed : EXIT.ok;
    case "stopped":
      return EXIT_OF_STOP[stopCode];
    case "failed":
      return EXIT.failed;
    case "planning":
    case "running":
    case "paused":
      return EXIT.ok;
  }
}
