import type { Output } from "./context.ts";
import { print } from "./output.ts";

export type StandardOutput = {
  /** Returns the error that lost printed output; undefined if none is lost. */
  getError(): Error | undefined;
};

/**
 * Keeps a command running when its output cannot be written, for example on a full disk, because its other work matters
 * more. The loss is reported once on standard error, and changes the exit code.
 *
 * @param onReaderLeft - Called when the reader closes the pipe, as in `holdfast show … | head`, which is no error.
 */
export function guardOutput(stdout: Output, stderr: Output, onReaderLeft: () => void): StandardOutput {
  let lost: Error | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return onReaderLeft();
    if (lost !== undefined) return;
    lost = error;
    const what = "standard output cannot be written, so printed output is lost";
    print(stderr, `holdfast: ${what}: ${error.message}\n`);
  });
  // A failure of standard error cannot be reported anywhere.
  stderr.on("error", () => undefined);
  return { getError: () => lost };
}
