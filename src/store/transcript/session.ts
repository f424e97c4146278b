import type { ViewSnapshot } from "../../core/view/view.ts";
import type { EntryOrigin, LoopStatus, SessionOrigin, SpawnRef } from "../../schema/record.ts";
import type { BranchPosition } from "./fork.ts";

// A session as the transcript has it: its head, its branches, and what waits for it.

/** A message of a person on its way into the conversation. */
export type NewMessage = {
  readonly id: string;
  readonly text: string;
  /** Of an input filter: stands after the text, as a block of its own. */
  readonly warning?: string | undefined;
  readonly atMs: number;
  /** How it stands in the record when it is a prompt of a loop; `prompt` when absent. */
  readonly origin?: EntryOrigin | undefined;
};

export type SessionRecord = {
  readonly id: string;
  /** Of the agent, for life: a session that follows another one has the same (ID-01). A UUID. */
  readonly agentId?: string | undefined;
  readonly formation: SessionOrigin;
  readonly agentName: string;
  readonly definitionHash: string;
  readonly model: string;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  readonly headBranch: string;
  /** The loop that the head stands behind: the newest one, until a rewind has left it. */
  readonly lastLoopId?: string | undefined;
  readonly loops: number;
  readonly status: LoopStatus;
  /** The call that it was made for, when it is a sub-agent's. */
  readonly spawn?: SpawnRef | undefined;
  /** No retention policy takes it; absent: one may. */
  readonly scope?: "persistent" | undefined;
};

export type BranchRecord = {
  readonly id: string;
  readonly parent?: { readonly branch: string; readonly position: number } | undefined;
  /** Where it begins when that is in another session. */
  readonly from?: (BranchPosition & { readonly session: string }) | undefined;
  /** What stands before this position was another session's that was deleted since: how its loops had left the view. */
  readonly inherited?: { readonly position: number; readonly view: ViewSnapshot } | undefined;
  /** When somebody has asked for it; absent for what runs have made on their way. */
  readonly askedAtMs?: number | undefined;
};
