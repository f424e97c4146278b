import type { AgentMessage, Message } from "../schema/message.ts";

// Functions of an application that change a context right before a model sees it (LOOP-22, CB-10). The record stays as
// it is.

/** The request that a context is for. */
export type ContextFacts = {
  readonly session: string;
  readonly loopId: string;
  readonly turn: number;
  /** The name of the agent. */
  readonly agent: string;
  /** The id of the model. */
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

/** The vendor that a request is for. */
export type TranslationTarget = {
  /** The protocol of the model: `anthropic_messages`, … */
  readonly protocol: string;
  /** The vendor's name in the model's configuration, which its answers carry. */
  readonly provider: string;
  /** The id of the model. */
  readonly model: string;
};

/**
 * Translates the messages of a request for its vendor (XLAT-02), in place of the adapter's own rules; what it returns is
 * sent as it is. The record stays unchanged.
 */
export type ContextTranslation = (
  messages: readonly Message[],
  target: TranslationTarget,
  signal: AbortSignal,
) => readonly Message[] | Promise<readonly Message[]>;

/** Returns messages that a model can read. Without a converter, an application's own messages are dropped. */
export type ContextConverter = (
  messages: readonly AgentMessage[],
  facts: ContextFacts,
  signal: AbortSignal,
) => readonly Message[] | Promise<readonly Message[]>;
