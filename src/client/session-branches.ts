import type { ClientLink } from "./connection/client-link.ts";
import type { PositionOptions } from "./read/branch-position.ts";
import type { BranchTree } from "./read/branch-tree.ts";
import type { RerunOptions } from "./runs/continue-session.ts";
import type { Exploration, ExploredBranch, ExploreOptions } from "./runs/explore-session.ts";
import type { Session } from "./session.ts";
import type { BranchOptions } from "./sessions/branch-session.ts";
import type { ForkedBranch, ForkOptions } from "./sessions/fork-session.ts";
import type { RewindResult } from "./sessions/rewind-session.ts";

/** The branches of a session's conversation: `session.branches`. Files remain unchanged by all of them. */
export class SessionBranches<Output = unknown> {
  readonly #link: ClientLink;
  readonly #id: string;
  readonly #getRun: (runId: string) => Session<Output>;

  /** @param getRun - Returns a handle of the session for one of its runs. */
  constructor(link: ClientLink, id: string, getRun: (runId: string) => Session<Output>) {
    this.#link = link;
    this.#id = id;
    this.#getRun = getRun;
  }

  /** Lists the branches: where they begin, which loops are on them, and which one is the head. */
  async list(): Promise<BranchTree> {
    const { readBranchTree } = await import("./read/branch-tree.ts");
    return readBranchTree(this.#link, this.#id);
  }

  /** Begins a branch at a position, by reference. Nothing else changes; pass its name to start, prompt or continue. */
  async fork(options?: ForkOptions): Promise<ForkedBranch> {
    const { forkSession } = await import("./sessions/fork-session.ts");
    return forkSession(this.#link, this.#id, options);
  }

  /** Starts a run on a new branch at a past position, optionally with another prompt, model or definition. */
  async start(options?: BranchOptions): Promise<Session<Output>> {
    const { branchSession } = await import("./sessions/branch-session.ts");
    const { runId } = await branchSession(this.#link, this.#id, options);
    return this.#getRun(runId);
  }

  /** Starts several branches side by side at one position, each with its own prompt or definition. Retains all of them. */
  async explore(branches: readonly ExploredBranch[], options?: ExploreOptions): Promise<Exploration> {
    const { exploreSession } = await import("./runs/explore-session.ts");
    return exploreSession(this.#link, this.#id, branches, options);
  }

  /** Moves the head of the idle session to a position, backward or forward. The record remains unchanged. */
  async rewind({
    to,
  }: {
    /** The position that the head moves to. */
    readonly to: PositionOptions;
  }): Promise<RewindResult> {
    const { rewindSession } = await import("./sessions/rewind-session.ts");
    return rewindSession(this.#link, this.#id, to);
  }

  /** Answers the prompts of a loop again, on a new branch. */
  async rerun(options?: RerunOptions): Promise<Session<Output>> {
    const { rerunLoop } = await import("./runs/continue-session.ts");
    const { runId } = await rerunLoop(this.#link, this.#id, options);
    return this.#getRun(runId);
  }
}
