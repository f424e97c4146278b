import { uuid4 } from "@temporalio/workflow";
import type { Allowance } from "../core/budget/amounts.ts";
import type { LoopPart } from "../core/evaluation/loop-part.ts";
import { MAX_MESSAGE_ID_CHARS } from "../core/machine/queue-size.ts";
import type { InboundMessage, State } from "../core/machine/state/state.ts";
import type { TaskRequest } from "../core/machine/task.ts";
import type { AgentDefinition, Continuation } from "../schema/definition.ts";
import type { MessageInput } from "./messages.ts";

/** What the worker that hosts a run is asked to do differently. Small, and carried on by continue-as-new. */
export type RunSettings = {
  /** Quick tools as local activities; off shows every step as a bar in the timeline. */
  readonly localSteps: boolean;
  /** Search attributes are set; off for servers where they are not registered. */
  readonly searchAttributes: boolean;
  /** Continue as new at the latest when the history has this many events. */
  readonly rotateAfterEvents: number;
  /** `none`: what Temporal shows of a run holds kinds, numbers and states, and no words. Absent: they are shown. */
  readonly words?: "shown" | "none";
};

/**
 * Events after which a run continues as new, about 160 turns. The server suggests it at 4,096; earlier keeps the
 * replay after a crash under half a second.
 */
const ROTATE_AFTER_EVENTS = 2000;

const DEFAULT_SETTINGS: RunSettings = {
  localSteps: true,
  searchAttributes: true,
  rotateAfterEvents: ROTATE_AFTER_EVENTS,
};

/** Fewer events than a run needs for its first turn would have it continue as new for ever. */
export const MIN_ROTATE_AFTER_EVENTS = 24;

export function buildSettings({ settings }: { readonly settings?: Partial<RunSettings> }): RunSettings {
  const asked = { ...DEFAULT_SETTINGS, ...settings };
  return { ...asked, rotateAfterEvents: Math.max(asked.rotateAfterEvents, MIN_ROTATE_AFTER_EVENTS) };
}

/** For state and requests, which name it only where it is asked for. */
export function getRedaction({ words: redactContent }: Pick<RunSettings, "words">): {
  readonly words?: "none";
} {
  return redactContent === "none" ? { words: redactContent } : {};
}

/** How a run is started; short enough to be typed into the Temporal UI. */
export type StartRequest = {
  /** Absent: messages that come with the start are put into the session's inbox, and the run ends. */
  readonly prompt?: MessageInput;
  readonly definition?: AgentDefinition;
  /** The hash of a stored definition, instead. */
  readonly definitionHash?: string;
  /** Instead of a prompt: the session's conversation goes on as it is, or from an earlier place on a branch. */
  readonly continuation?: Continuation;
  /** The run is a sub-agent's; its words stand in the record of the agent that has called. */
  readonly task?: TaskRequest;
  /**
   * The run is a part of another's work: what is set aside for it, and for all that it starts. It ends with a report in
   * place of its words.
   */
  readonly share?: Allowance;
  /** The run is one of an evaluation's: it writes to that one's session, which is not named as its workflow is. */
  readonly within?: LoopPart & { readonly session: string };
  readonly mode?: "run" | "interactive";
  /** How long an interactive run waits for a prompt; `null`, the default, waits for ever. */
  readonly idleTimeoutMs?: number | null;
  readonly settings?: Partial<RunSettings>;
};

/** How it goes on after continue-as-new. */
export type ResumeRequest = { readonly resume: State; readonly settings: RunSettings };

export type RunInput = StartRequest | ResumeRequest;

/** Why a run cannot begin with what it was given as a prompt, or nothing. */
export function findPromptProblem(prompt: unknown): string | undefined {
  if (prompt === undefined || isMessageInput(prompt)) return undefined;
  return "The prompt has no words. Start the session again with a text, or with an object that has `text` or `ref`.";
}

/** Words as a message, with an id where the sender made none. Anything else is nothing. */
export function toInboundMessage(input: MessageInput | undefined, atMs: number): InboundMessage | undefined {
  if (typeof input === "string") return !isFilled(input) ? undefined : { id: uuid4(), text: input, atMs };
  if (!isMessageInput(input)) return undefined;
  const { id, text, ref } = input as Exclude<MessageInput, string>;
  return {
    id: isFilled(id) && id.length <= MAX_MESSAGE_ID_CHARS ? id : uuid4(),
    ...(isFilled(text) ? { text } : {}),
    ...(isFilled(ref) ? { ref } : {}),
    atMs,
  };
}

/** Whether there is something to be taken. Makes no id: validators are not run again on replay. */
export function isMessageInput(value: unknown): value is MessageInput {
  if (value === null || typeof value !== "object") return isFilled(value);
  const { text, ref } = value as { text?: unknown; ref?: unknown };
  return isFilled(text) || isFilled(ref);
}

/** Blanks are no words: a vendor would be sent nothing. */
function isFilled(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "";
}
