import type { AgentMessage, Usage } from "../schema/message.ts";

// Where hooks are asked, and what they are told there (CB-01, CB-02).

type OfSession = { readonly sessionId: string };
type OfLoop = OfSession & { readonly loopId: string };
/** Turns count from 0 in each loop. */
type OfTurn = OfLoop & { readonly turnIndex: number };
type OfCall = OfTurn & { readonly toolCallId: string; readonly toolName: string };

export type HookContexts = {
  /** Once for a session, before its first loop. */
  "before-task": OfSession;
  "after-task": OfSession;
  /** The messages that the loop begins with; the turn is always 0. */
  "before-loop": OfTurn & { readonly messages: readonly AgentMessage[] };
  /** The messages that the loop added, and the usage of all its turns. */
  "after-loop": OfLoop & { readonly messages: readonly AgentMessage[]; readonly usage: Usage };
  "on-error": OfTurn & { readonly error: string };
  "before-turn": OfTurn & { readonly messages: readonly AgentMessage[] };
  "after-turn": OfTurn & { readonly messages: readonly AgentMessage[]; readonly usage: Usage };
  "before-tool": OfCall & { readonly arguments: unknown };
  "after-tool": OfCall & { readonly isError: boolean };
  "before-tool-update": OfCall & { readonly text: string };
  "after-tool-update": OfCall & { readonly text: string };
  "before-compaction": OfLoop & { readonly estimatedTokens: number; readonly messageCount: number };
  "after-compaction": OfLoop & {
    readonly messagesBefore: number;
    readonly messagesAfter: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
};

export type HookPoint = keyof HookContexts;

/** Points at which an answer must come without waiting: a stream of output passes there (CB-03). */
export type UpdatePoint = "before-tool-update" | "after-tool-update";

/** `asks`: a "no" stops what is about to happen. `tells`: it has happened. */
const KINDS = {
  "before-task": "asks",
  "after-task": "tells",
  "before-loop": "asks",
  "after-loop": "tells",
  "on-error": "tells",
  "before-turn": "asks",
  "after-turn": "tells",
  "before-tool": "asks",
  "after-tool": "tells",
  "before-tool-update": "asks",
  "after-tool-update": "tells",
  "before-compaction": "asks",
  "after-compaction": "tells",
} as const satisfies Record<HookPoint, "asks" | "tells">;

export const HOOK_POINTS = Object.keys(KINDS) as readonly HookPoint[];

export function asks(point: HookPoint): boolean {
  return KINDS[point] === "asks";
}

export function isUpdatePoint(point: HookPoint): point is UpdatePoint {
  return point === "before-tool-update" || point === "after-tool-update";
}
