import type { BranchPosition } from "./fork.ts";

// What a workspace held when the conversation stood at a place.

export type NewSnapshot = {
  readonly session: string;
  readonly at: BranchPosition;
  readonly atMs: number;
  readonly workspace: string;
  /** The commit that holds it, and the hidden reference that keeps the commit. */
  readonly commit?: string | undefined;
  readonly ref?: string | undefined;
  /** Why there is none. */
  readonly problem?: string | undefined;
};

export type WorkspaceSnapshot = Omit<NewSnapshot, "session">;
