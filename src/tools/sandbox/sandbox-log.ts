import type { DeniedPath } from "../../platform/sandbox/denied-paths.ts";
import type { ConnectionReport } from "../../platform/sandbox/network-proxy.ts";
import type { SelfTestResult } from "../../platform/sandbox/self-test.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { SandboxConnection, SandboxMode, SandboxReport } from "../../schema/sandbox.ts";

/** The most connections that a report lists. */
const MAX_CONNECTIONS = 100;

/** Collects what happens in the sandbox of one piece of work. */
export class SandboxLog {
  readonly #place: Pick<SandboxReport, "mode" | "isReadOnly">;
  readonly #connections: SandboxConnection[] = [];
  readonly #moved: DeniedPath[] = [];
  #more = 0;
  #selfTest: SandboxReport["selfTest"];

  constructor({ mode, isReadOnly }: { readonly mode: SandboxMode; readonly isReadOnly: boolean }) {
    this.#place = isReadOnly ? { mode, isReadOnly } : { mode };
  }

  addConnection(report: ConnectionReport): void {
    if (this.#connections.length < MAX_CONNECTIONS) this.#connections.push(report);
    else this.#more += 1;
  }

  /** Adds the result of the self-test that was made for this work. */
  addSelfTest({ acts }: SelfTestResult): void {
    const prevented = acts.filter(({ outcome }) => outcome === "prevented").length;
    this.#selfTest = { prevented, of: acts.length };
  }

  addMoved(moved: readonly DeniedPath[]): void {
    this.#moved.push(...moved);
  }

  /** Returns what happened so far. */
  getReport(): SandboxReport {
    return {
      ...this.#place,
      ...omitUndefined({ selfTest: this.#selfTest }),
      ...(this.#connections.length === 0 ? {} : { connections: [...this.#connections] }),
      ...(this.#more === 0 ? {} : { moreConnections: this.#more }),
      ...(this.#moved.length === 0 ? {} : { moved: [...this.#moved] }),
    };
  }
}
