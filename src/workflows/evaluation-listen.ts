import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import type { PersonMessage } from "../core/state.ts";
import {
  countMessages,
  hasRoomFor,
  type RefusedMessages,
  type Waiting,
  withRefused,
} from "../core/waiting-messages.ts";
import { isWords, messageFrom } from "./input.ts";
import { BUSY_TEXT, queueFull } from "./listen.ts";
import {
  type Accepted,
  type ApprovalWords,
  approveUpdate,
  followUpSignal,
  followUpUpdate,
  promptUpdate,
  steerSignal,
  steerUpdate,
  type Words,
} from "./messages.ts";

/** Messages for the session's next loop; the branches do not read them. */
export class Inbox {
  readonly #kept: PersonMessage[] = [];
  #refused: RefusedMessages | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** @returns How many wait. */
  keep(message: PersonMessage): number {
    if (this.#kept.some(({ id }) => id === message.id)) return this.size;
    if (hasRoomFor(countMessages(this.#kept), message)) this.#kept.push(message);
    else this.#refused = withRefused(this.#refused, message);
    this.#onChange();
    return this.size;
  }

  take(): readonly PersonMessage[] {
    return this.#kept.splice(0);
  }

  /** What waits already, if there is no room for another message. */
  full(words: Words): Waiting | undefined {
    const message = typeof words === "string" ? { text: words } : words;
    const waiting = countMessages(this.#kept);
    const isKnown = this.#kept.some(({ id }) => "id" in message && id === message.id);
    return isKnown || hasRoomFor(waiting, message) ? undefined : waiting;
  }

  waiting(): { readonly waiting: Waiting; readonly refused?: RefusedMessages } {
    const refused = this.#refused === undefined ? {} : { refused: this.#refused };
    return { waiting: countMessages(this.#kept), ...refused };
  }
}

/** What people may send to an evaluation, and what becomes of it. */
export function listenToEvaluation(inbox: Inbox): void {
  const taken = (words: Words) => {
    const message = messageFrom(words, Date.now());
    if (message !== undefined) inbox.keep(message);
  };
  const validator = (words: Words) => {
    mustBeWords(words);
    const waiting = inbox.full(words);
    if (waiting !== undefined) throw queueFull(waiting);
  };
  const description = "Words that the session's next loop finds in its inbox";
  setHandler(steerSignal, taken, { description });
  setHandler(followUpSignal, taken, { description });
  const acknowledged = (words: Words): Accepted => {
    const message = messageFrom(words, Date.now()) as PersonMessage;
    return { id: message.id, queued: inbox.keep(message) };
  };
  setHandler(steerUpdate, acknowledged, { validator });
  setHandler(followUpUpdate, acknowledged, { validator });
  setHandler(promptUpdate, acknowledged, {
    validator: isBusy,
    description: "Refused: the session is being evaluated",
  });
  setHandler(approveUpdate, () => ({ toolCallId: "", tool: "", waiting: 0 }), {
    validator: waitsElsewhere,
    description: "Refused: each branch is answered by itself",
  });
}

function isBusy(_: Words): void {
  throw ApplicationFailure.nonRetryable(BUSY_TEXT, "holdfast/busy");
}

function waitsElsewhere(_: ApprovalWords): void {
  throw ApplicationFailure.nonRetryable(
    "A branch of an evaluation is answered by itself: approve under its workflow's id, as status shows it",
    "holdfast/no-approval",
  );
}

function mustBeWords(words: Words): void {
  if (isWords(words)) return;
  throw ApplicationFailure.nonRetryable(
    "A message is a text, or an object with `text` or `ref`",
    "holdfast/invalid-message",
  );
}
