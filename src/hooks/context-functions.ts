import type { AgentMessage, Message } from "../schema/message.ts";

// Functions of an application that change a context right before a model sees it (LOOP-22, CB-10). The record stays as
// it is.

/** The request that a context is for. */
export type ContextFacts = {
  readonly session: string;
  readonly loopId: string;
  readonly turn: number;
  readonly agent: string;
  readonly model: string;
};

/**
 * Returns other messages for the whole context, an application's own messages included. The messages are copies. The
 * signal aborts when nothing waits for the answer any more.
 */
export type ContextTransform = (
  messages: readonly AgentMessage[],
  facts: ContextFacts,
  signal: AbortSignal,
) => readonly AgentMessage[] | Promise<readonly AgentMessage[]>;

/** Returns messages that a model can read. Without a converter, an application's own messages are dropped. */
export type ContextConverter = (
  messages: readonly AgentMessage[],
  facts: ContextFacts,
  signal: AbortSignal,
) => readonly Message[] | Promise<readonly Message[]>;
