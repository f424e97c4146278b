import type { HookPoint } from "../schema/hooks.ts";
import type { AgentMessage, Usage } from "../schema/message.ts";

// The contexts that hooks receive at each point (CB-01, CB-02).

type SessionContext = {
  readonly sessionId: string;
  /** The id of this call of the hook. It is the same when the call is repeated because a worker died. */
  readonly id: string;
};
type LoopContext = SessionContext & { readonly loopId: string };
/** Turns count from 0 in each loop. */
type TurnContext = LoopContext & { readonly turnIndex: number };
type CallContext = TurnContext & { readonly toolCallId: string; readonly toolName: string };

type ContextsByPoint = {
  /** Runs once for a session, before its first loop. */
  "before-task": SessionContext;
  "after-task": SessionContext;
  /** The messages that the loop begins with; the turn is always 0, and the loop has no id yet. */
  "before-loop": SessionContext & { readonly turnIndex: number; readonly messages: readonly AgentMessage[] };
  /** The messages that the loop added, and the usage of all its turns. */
  "after-loop": LoopContext & { readonly messages: readonly AgentMessage[]; readonly usage: Usage };
  "on-error": TurnContext & { readonly error: string };
  /** The messages that the model sees, without the new messages of the turn. */
  "before-turn": TurnContext & { readonly messages: readonly AgentMessage[] };
  /** The text of an answer without calls, after which the loop would end. */
  "on-text": TurnContext & { readonly text: string };
  "after-turn": TurnContext & { readonly messages: readonly AgentMessage[]; readonly usage: Usage };
  "before-tool": CallContext & { readonly arguments: unknown };
  "after-tool": CallContext & { readonly isError: boolean };
  "before-tool-update": CallContext & { readonly text: string };
  "after-tool-update": CallContext & { readonly text: string };
  "before-compaction": LoopContext & { readonly estimatedTokens: number; readonly messageCount: number };
  "after-compaction": LoopContext & {
    readonly messagesBefore: number;
    readonly messagesAfter: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
};

/** What a hook receives at each point. */
export type HookContexts = { readonly [Point in HookPoint]: ContextsByPoint[Point] };
