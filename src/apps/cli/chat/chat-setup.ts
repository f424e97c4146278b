import type { AgentDefinitionInput, Holdfast } from "../../../client/index.ts";
import type { Context } from "../context.ts";

/** What a chat needs, at a terminal and without one. */
export type ChatSetup = {
  readonly context: Context;
  readonly holdfast: Holdfast;
  readonly session: string;
  /** Absent if the session's own definition is used. */
  readonly agent: AgentDefinitionInput | undefined;
  /** The title of the session, which its first message gives it. */
  readonly title: string | undefined;
  /** Whether the user asked for an existing session. */
  readonly isResumed: boolean;
  /** Called before each message is sent. */
  readonly onSending: () => void;
};
