/** What is needed to look into a server that did not come up. */
export interface ServerStartFacts {
  readonly binary: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly logTail: string;
}

/** The Temporal dev server did not come up. */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
  readonly facts: ServerStartFacts;

  constructor(problem: string, facts: ServerStartFacts) {
    const log = facts.logTail === "" ? "(empty)" : facts.logTail;
    super(
      [
        `The Temporal dev server did not start: ${problem}.`,
        ...(facts.binary === "" ? [] : [`Command: ${[facts.binary, ...facts.args].join(" ")}`]),
        `Log (${facts.logFile}), its end:`,
        log,
      ].join("\n"),
    );
    this.facts = facts;
  }
}
