import type { AgentMessage, Message } from "../schema/message.ts";

// What an application does to a context right before a model sees it (LOOP-22, CB-10). The record stays as it is.

/** Which request a context is for. */
export type ContextFacts = {
  readonly session: string;
  readonly loopId: string;
  readonly turn: number;
  readonly agent: string;
  readonly model: string;
};

/**
 * Makes other messages of the whole context, an application's own among them. The messages are copies; the signal is
 * aborted when nobody waits for the answer any more.
 */
export type ContextTransform = (
  messages: readonly AgentMessage[],
  facts: ContextFacts,
  signal: AbortSignal,
) => readonly AgentMessage[] | Promise<readonly AgentMessage[]>;

/** Makes messages that a model can read; without one, an application's own messages are dropped. */
export type ContextConverter = (
  messages: readonly AgentMessage[],
  facts: ContextFacts,
  signal: AbortSignal,
) => readonly Message[] | Promise<readonly Message[]>;
