import type { Output } from "./context.ts";
import { print } from "./output.ts";

export type StandardOutput = {
  /** Why something that was printed is lost, if anything is. */
  getError(): Error | undefined;
};

/**
 * Keeps a command alive whose output cannot be written, as on a full disk: it has more to do than to print. What is lost
 * is reported once on standard error, and shows in the exit code.
 *
 * @param readerLeft - A reader that has left, as in `holdfast show … | head`, is no error.
 */
export function guardOutput(stdout: Output, stderr: Output, onReaderLeft: () => void): StandardOutput {
  let lost: Error | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return onReaderLeft();
    if (lost !== undefined) return;
    lost = error;
    const what = "standard output cannot be written, and what is printed is lost";
    print(stderr, `holdfast: ${what}: ${error.message}\n`);
  });
  // There is nobody left to tell.
  stderr.on("error", () => undefined);
  return { getError: () => lost };
}
