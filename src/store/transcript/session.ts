import type { ViewSnapshot } from "../../core/view/view.ts";
import type { MessageMetadata } from "../../schema/message.ts";
import type { EntryOrigin, LoopStatus, SessionOrigin, SessionTitle, SpawnRef } from "../../schema/record.ts";
import type { BranchPosition } from "./fork.ts";

// A session in the transcript: its head, its branches, and its inbox.

/** A message of a user that is not yet part of the conversation. */
export type NewMessage = {
  readonly id: string;
  /** Without the text of attached files. */
  readonly text: string;
  /** The hash of the stored parts, for a message that has others than text. */
  readonly parts?: string | undefined;
  /** The warning of an input filter, which follows the text as a block of its own. */
  readonly warning?: string | undefined;
  readonly atMs: number;
  readonly metadata?: MessageMetadata | undefined;
  /** The origin of the entry if the message is a prompt of a loop; `prompt` by default. */
  readonly origin?: EntryOrigin | undefined;
};

export type SessionRecord = {
  readonly id: string;
  /** The permanent id of the agent, a UUID. A session that follows another one has the same (ID-01). */
  readonly agentId?: string | undefined;
  readonly origin: SessionOrigin;
  readonly agentName: string;
  readonly definitionHash: string;
  readonly model: string;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  readonly headBranch: string;
  /** The last loop before the head: the newest one, unless a rewind has moved the head. */
  readonly lastLoopId?: string | undefined;
  readonly loops: number;
  readonly status: LoopStatus;
  /** The call that created the session, if it is a sub-agent's. */
  readonly spawn?: SpawnRef | undefined;
  /** `persistent`: no retention policy deletes the session; if absent, one may. */
  readonly scope?: "persistent" | undefined;
  /** Absent before the first prompt. */
  readonly title?: SessionTitle | undefined;
};

export type BranchRecord = {
  readonly id: string;
  readonly parent?: { readonly branch: string; readonly position: number } | undefined;
  /** The position where it begins, if that is in another session. */
  readonly from?: (BranchPosition & { readonly session: string }) | undefined;
  /** The entries before this position come from a deleted session; this is the view that its loops had stored. */
  readonly inheritedView?: { readonly position: number; readonly view: ViewSnapshot } | undefined;
  /** When a user requested the branch; absent for branches that runs have created. */
  readonly requestedAtMs?: number | undefined;
};
