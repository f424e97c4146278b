import type { HookPoint } from "../schema/hooks.ts";
import type { AgentMessage, Usage } from "../schema/message.ts";

// What hooks are told at each point (CB-01, CB-02).

type OfSession = {
  readonly sessionId: string;
  /** Of this asking, and the same when it is repeated because a worker died. */
  readonly id: string;
};
type OfLoop = OfSession & { readonly loopId: string };
/** Turns count from 0 in each loop. */
type OfTurn = OfLoop & { readonly turnIndex: number };
type OfCall = OfTurn & { readonly toolCallId: string; readonly toolName: string };

type Contexts = {
  /** Once for a session, before its first loop. */
  "before-task": OfSession;
  "after-task": OfSession;
  /** The messages that the loop begins with; the turn is always 0, and the loop has no id yet. */
  "before-loop": OfSession & { readonly turnIndex: number; readonly messages: readonly AgentMessage[] };
  /** The messages that the loop added, and the usage of all its turns. */
  "after-loop": OfLoop & { readonly messages: readonly AgentMessage[]; readonly usage: Usage };
  "on-error": OfTurn & { readonly error: string };
  /** What the model sees, without the words that the turn takes up. */
  "before-turn": OfTurn & { readonly messages: readonly AgentMessage[] };
  /** The text of an answer without calls, behind which the loop would end. */
  "on-text": OfTurn & { readonly text: string };
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

export type HookContexts = { readonly [Point in HookPoint]: Contexts[Point] };
