import { uuid4 } from "@temporalio/workflow";
import type { Allowance } from "../core/budget/account-state.ts";
import type { LoopPart } from "../core/evaluation/loop-part.ts";
import { MAX_MESSAGE_ID_CHARS, MAX_METADATA_BYTES } from "../core/machine/queue-limits.ts";
import type { InboundMessage } from "../core/machine/state/inbound-message.ts";
import type { TaskRequest } from "../core/machine/state/task.ts";
import { countUtf8Bytes } from "../core/view/estimate.ts";
import { isObject } from "../platform/text/json.ts";
import type { Continuation } from "../schema/continuation.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { MessageMetadata } from "../schema/message.ts";
import type { MessageInput } from "./messages.ts";

/** Settings that a run gives its worker. They are small, and continue-as-new passes them on. */
export type RunSettings = {
  /** Runs quick tools as local activities. When off, the timeline displays a bar for every step. */
  readonly localSteps: boolean;
  /** Sets search attributes. Turn this off for servers where they are not registered. */
  readonly searchAttributes: boolean;
  /** The number of history events after which the run continues as new at the latest. */
  readonly rotateAfterEvents: number;
  /** Temporal stores only kinds, numbers and states of a run, and none of its texts. */
  readonly redactContent?: boolean;
  /**
   * Where Temporal displays the session's title: in the details of the run, or there and as a search attribute, which is
   * never encrypted. If absent, it displays none.
   */
  readonly title?: "details" | "attribute";
};

/**
 * Events after which a run continues as new, about 160 turns. The server suggests it at 4,096. A lower number keeps
 * the replay after a crash under half a second.
 */
const ROTATE_AFTER_EVENTS = 2000;

const DEFAULT_SETTINGS: RunSettings = {
  localSteps: true,
  searchAttributes: true,
  rotateAfterEvents: ROTATE_AFTER_EVENTS,
};

/** With fewer events than a run needs for its first turn, it would continue as new for ever. */
export const MIN_ROTATE_AFTER_EVENTS = 24;

export function buildSettings({ settings }: { readonly settings?: Partial<RunSettings> }): RunSettings {
  const asked = { ...DEFAULT_SETTINGS, ...settings };
  return { ...asked, rotateAfterEvents: Math.max(asked.rotateAfterEvents, MIN_ROTATE_AFTER_EVENTS) };
}

/** Returns the setting for state and requests, which contain it only when it is set. */
export function getRedaction({ redactContent }: Pick<RunSettings, "redactContent">): {
  readonly redactContent?: true;
} {
  return redactContent === true ? { redactContent } : {};
}

/** The input of a run, short enough to type into the Temporal UI. */
export type StartRequest = {
  /** If absent, messages that arrive with the start are stored in the session's inbox, and the run ends. */
  readonly prompt?: MessageInput;
  /** Messages that are queued from the start, each for when the run would otherwise stop. */
  readonly followUps?: readonly MessageInput[];
  readonly definition?: AgentDefinition;
  /** The hash of a stored definition, in place of the definition. */
  readonly definitionHash?: string;
  /** Replaces the prompt: continues the session's conversation as it is, or from an earlier position on a branch. */
  readonly continuation?: Continuation;
  /** The run is a sub-agent's. The record of the calling agent contains the task's text. */
  readonly task?: TaskRequest;
  /**
   * The run is a part of another run's work: the budget reserved for it and for everything that it starts. The run
   * ends with a report in place of its text.
   */
  readonly share?: Allowance;
  /** The run is a part of an evaluation: it writes to the evaluation's session, whose id is not its workflow id. */
  readonly within?: LoopPart & { readonly session: string };
  readonly mode?: "run" | "interactive";
  /** The session's title; by default the first words of its first prompt. */
  readonly title?: string;
  /** How long an interactive run waits for a prompt; `null`, the default, waits for ever. */
  readonly idleTimeoutMs?: number | null;
  readonly settings?: Partial<RunSettings>;
};

/** The input of a run after continue-as-new. */
export type ResumeRequest = {
  /** The state of the machine, which only the run itself reads. */
  readonly resume: { readonly session: string };
  readonly settings: RunSettings;
};

export type RunInput = StartRequest | ResumeRequest;

/** Returns why a run cannot begin with this prompt, or `undefined` when it can. */
export function findPromptProblem(prompt: unknown): string | undefined {
  if (prompt === undefined || isMessageInput(prompt)) return undefined;
  return "The prompt has no text. Start the session again with a text, or with an object that has `text` or `ref`.";
}

/** Converts input to a message, with a new id where the sender gave none. Returns `undefined` for anything else. */
export function toInboundMessage(input: MessageInput | undefined, atMs: number): InboundMessage | undefined {
  if (typeof input === "string") return !isFilled(input) ? undefined : { id: uuid4(), text: input, atMs };
  if (!isMessageInput(input)) return undefined;
  const { id, text, ref, parts, tokens, metadata } = input as Exclude<MessageInput, string>;
  return {
    id: isFilled(id) && id.length <= MAX_MESSAGE_ID_CHARS ? id : uuid4(),
    ...(isFilled(text) ? { text } : {}),
    ...(isFilled(ref) ? { ref } : {}),
    ...(isFilled(ref) && parts === true ? { parts } : {}),
    ...(isFilled(ref) && Number.isSafeInteger(tokens) && Number(tokens) >= 0
      ? { tokens: Number(tokens) }
      : {}),
    ...(isStorableMetadata(metadata) ? { metadata } : {}),
    atMs,
  };
}

/** Returns whether metadata has a form and a size that a run accepts. */
function isStorableMetadata(metadata: unknown): metadata is MessageMetadata {
  return isObject(metadata) && countUtf8Bytes(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;
}

/** Returns whether a value contains a message. Creates no id, because validators do not run again on replay. */
export function isMessageInput(value: unknown): value is MessageInput {
  if (value === null || typeof value !== "object") return isFilled(value);
  const { text, ref } = value as { text?: unknown; ref?: unknown };
  return isFilled(text) || isFilled(ref);
}

/** A text of blanks counts as empty, because a vendor would receive nothing. */
function isFilled(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "";
}
