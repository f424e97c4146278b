/** The facts needed to diagnose a server that did not start. */
export interface ServerStartFacts {
  readonly binary: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly logTail: string;
}

/** The Temporal dev server did not start. */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
  readonly facts: ServerStartFacts;
  /** The log says that another program has a port of the server. */
  readonly isPortTaken: boolean;

  constructor(problem: string, facts: ServerStartFacts, isPortTaken = false) {
    const log = facts.logTail === "" ? "(empty)" : facts.logTail;
    super(
      [
        `The Temporal dev server did not start: ${problem}.`,
        ...(facts.binary === "" ? [] : [`Command: ${[facts.binary, ...facts.args].join(" ")}`]),
        `End of the log (${facts.logFile}):`,
        log,
      ].join("\n"),
    );
    this.facts = facts;
    this.isPortTaken = isPortTaken;
  }
}
