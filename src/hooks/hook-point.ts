import type { AgentMessage, Usage } from "../schema/message.ts";

// The contexts that hooks receive at each point (CB-01, CB-02).

/** What the hooks of a session receive. */
export type HookSessionContext = {
  readonly sessionId: string;
  /** The id of this call of the hook. It is the same when the call is repeated because a worker died. */
  readonly id: string;
};

/** What the hooks of a loop receive. */
export type HookLoopContext = HookSessionContext & { readonly loopId: string };

/** What the hooks of a turn receive. Turns count from 0 in each loop. */
export type HookTurnContext = HookLoopContext & { readonly turnIndex: number };

/** What the hooks of a call receive. */
export type HookCallContext = HookTurnContext & { readonly toolCallId: string; readonly toolName: string };

/** What a hook receives at each point. */
export type HookContexts = {
  /** Runs once for a session, before its first loop. */
  "before-task": HookSessionContext;
  "after-task": HookSessionContext;
  /** The turn is always 0, and the loop has no id yet. */
  "before-loop": HookSessionContext & {
    readonly turnIndex: number;
    /** The messages that the loop begins with. */
    readonly messages: readonly AgentMessage[];
  };
  "after-loop": HookLoopContext & {
    /** The messages that the loop added. */
    readonly messages: readonly AgentMessage[];
    /** Of all turns of the loop. */
    readonly usage: Usage;
  };
  "on-error": HookTurnContext & {
    /** What failed. */
    readonly error: string;
  };
  "before-turn": HookTurnContext & {
    /** The messages that the model sees, without the new messages of the turn. */
    readonly messages: readonly AgentMessage[];
  };
  "on-text": HookTurnContext & {
    /** The text of an answer without calls, after which the loop would end. */
    readonly text: string;
  };
  "after-turn": HookTurnContext & {
    /** The messages that the turn added. */
    readonly messages: readonly AgentMessage[];
    readonly usage: Usage;
  };
  "before-tool": HookCallContext & {
    /** The arguments of the call. */
    readonly arguments: unknown;
  };
  "after-tool": HookCallContext & {
    /** Whether the result of the call is an error. */
    readonly isError: boolean;
  };
  "before-tool-update": HookCallContext & {
    /** The piece of output. */
    readonly text: string;
  };
  "after-tool-update": HookCallContext & {
    /** The piece of output. */
    readonly text: string;
  };
  "before-compaction": HookLoopContext & {
    /** The estimated tokens of the view. */
    readonly estimatedTokens: number;
    /** The number of messages in the view. */
    readonly messageCount: number;
  };
  "after-compaction": HookLoopContext & {
    /** The number of messages in the view before. */
    readonly messagesBefore: number;
    /** The number of messages in the view now. */
    readonly messagesAfter: number;
    /** The estimated tokens of the view before. */
    readonly tokensBefore: number;
    /** The estimated tokens of the view now. */
    readonly tokensAfter: number;
  };
};
