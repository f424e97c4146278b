import type { BranchPosition } from "./fork.ts";

// The content of a workspace at a position of the conversation.

export type NewSnapshot = {
  readonly session: string;
  readonly at: BranchPosition;
  readonly atMs: number;
  readonly workspace: string;
  /** The commit of the snapshot, and the hidden reference that retains the commit. */
  readonly commit?: string | undefined;
  readonly ref?: string | undefined;
  /** Why there is no snapshot. */
  readonly problem?: string | undefined;
};

export type WorkspaceSnapshot = Omit<NewSnapshot, "session">;
