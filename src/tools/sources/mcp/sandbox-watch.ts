import type { SandboxEvents } from "../../../platform/sandbox/sandbox-starter.ts";
import type { SandboxConnection, SandboxMode, SandboxReport } from "../../../schema/sandbox.ts";
import { SandboxLog } from "../../sandbox/sandbox-log.ts";

// Invariants
//   W1. A connection is in the reports of all calls that were in flight when it was refused or ended, or else is passed to
//       `onUnassigned`: a server that serves several calls does not say for which one it has connected.

export type SandboxWatchOptions = {
  readonly mode: SandboxMode;
  /** Receives what happened while no call was in flight. */
  readonly onUnassigned: (connection: SandboxConnection) => void;
  /** Receives the files that were moved aside when a server ended while no call was in flight. */
  readonly onUnassignedMoves: SandboxEvents["onDenied"];
};

/** Assigns what happens in the sandbox of a server, which outlives its calls, to the calls in flight. */
export class SandboxWatch {
  readonly #options: SandboxWatchOptions;
  readonly #calls = new Set<SandboxLog>();

  constructor(options: SandboxWatchOptions) {
    this.#options = options;
  }

  /** What the sandbox reports to. */
  readonly events: SandboxEvents = {
    onConnection: (connection) => {
      if (this.#calls.size === 0) this.#options.onUnassigned(connection);
      for (const call of this.#calls) call.addConnection(connection);
    },
    onDenied: (moved) => {
      if (this.#calls.size === 0) this.#options.onUnassignedMoves(moved);
      for (const call of this.#calls) call.addMoved(moved);
    },
  };

  /** Runs a call. Reports its sandbox when it begins, and again when it has ended. */
  async observe<Result>(
    work: () => Promise<Result>,
    report: (report: SandboxReport) => void,
  ): Promise<Result> {
    const call = new SandboxLog({ mode: this.#options.mode, isReadOnly: false });
    this.#calls.add(call);
    report(call.getReport());
    try {
      return await work();
    } finally {
      this.#calls.delete(call);
      report(call.getReport());
    }
  }
}

/** Runs a call of a server that may have no sandbox, for a caller that may not ask what happens in it. */
export async function observeSandbox<Result>(
  watch: SandboxWatch | undefined,
  work: () => Promise<Result>,
  report: ((report: SandboxReport) => void) | undefined,
): Promise<Result> {
  return await (watch === undefined || report === undefined ? work() : watch.observe(work, report));
}
