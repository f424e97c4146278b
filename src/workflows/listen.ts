import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import { pendingApprovals } from "../core/machine/approvals.ts";
import { isOfferChange } from "../core/machine/offers.ts";
import { pinnedOf } from "../core/machine/phase.ts";
import { canTake } from "../core/machine/queues.ts";
import type { PersonMessage, State } from "../core/machine/state/state.ts";
import { statusOf } from "../core/machine/status.ts";
import { countWaiting, queueFullText, type Waiting } from "../core/machine/waiting-messages.ts";
import { utf8Length } from "../core/view/estimate.ts";
import { answerIn, approvalFor } from "./approve.ts";
import { isWords, messageFrom } from "./input.ts";
import {
  type Accepted,
  approveUpdate,
  clearQueuesSignal,
  compactSignal,
  followUpSignal,
  followUpUpdate,
  offersChangedSignal,
  promptUpdate,
  queueModeSignal,
  raiseLimitsUpdate,
  statusQuery,
  steerSignal,
  steerUpdate,
  stopSignal,
  updateDefinitionUpdate,
  type Words,
} from "./messages.ts";
import type { Happening } from "./perform.ts";
import { mustBeLimits } from "./raise-limits.ts";
import { definitionTaken, mustBeDefinition } from "./update-definition.ts";

/** It travels in the state until it is used. */
const MAX_FOCUS_BYTES = 2048;

/** STEER-12. */
export const BUSY_TEXT = "Agent is already streaming. Use steer() or follow_up().";

/**
 * Lets in what people send. Nothing that they send can fail the run: what makes no sense is refused by an update's
 * validator, and overheard when it came as a signal.
 */
export function listen(read: () => State, tell: (happening: Happening) => void): void {
  const arrived = (type: "steered" | "followed-up") => (words: Words) => {
    const message = messageFrom(words, Date.now());
    if (message !== undefined) tell({ type, message });
  };
  setHandler(steerSignal, arrived("steered"), {
    description: "Words that the agent reads before its next answer",
  });
  setHandler(followUpSignal, arrived("followed-up"), {
    description: "Words that the agent reads when it would stop",
  });
  setHandler(
    queueModeSignal,
    (request) => {
      const queue = request?.queue;
      const mode = request?.mode;
      if ((queue === "steering" || queue === "follow-up") && (mode === "all" || mode === "one-at-a-time")) {
        tell({ type: "queue-mode-set", queue, mode });
      }
    },
    { description: "How many waiting messages are read at once" },
  );
  setHandler(
    clearQueuesSignal,
    (queue) => {
      if (queue === "steering" || queue === "follow-up" || queue === "all")
        tell({ type: "queues-cleared", queue });
    },
    { description: "Forgets the messages that wait" },
  );
  setHandler(
    compactSignal,
    (request) => {
      const focus = request?.focus;
      const isShort = typeof focus === "string" && focus !== "" && utf8Length(focus) <= MAX_FOCUS_BYTES;
      tell({ type: "compaction-asked", ...(isShort ? { focus } : {}) });
    },
    { description: "Makes the context smaller before the next answer" },
  );
  setHandler(
    offersChangedSignal,
    (change) => {
      if (isOfferChange(change)) tell({ type: "offers-changed", ...change });
    },
    { description: "A server has other tools than before" },
  );
  setHandler(
    stopSignal,
    (reason) =>
      tell({ type: "stop-requested", reason: typeof reason === "string" ? reason : "stop was requested" }),
    { description: "Ends the run: the vendor's request, the tools, then the loop" },
  );

  const acknowledged =
    (type: "steered" | "followed-up") =>
    (words: Words): Accepted => {
      const message = messageFrom(words, Date.now()) as PersonMessage;
      tell({ type, message });
      return accepted(read(), message);
    };
  const validator = (words: Words) => {
    validMessage(words);
    mustHaveRoom(read(), words);
  };
  setHandler(steerUpdate, acknowledged("steered"), { validator });
  setHandler(followUpUpdate, acknowledged("followed-up"), { validator });
  setHandler(
    approveUpdate,
    (words) => {
      const waiting = approvalFor(read(), words);
      const { toolCallId, tool } = waiting;
      const by = typeof words.by === "string" ? { by: words.by } : {};
      tell({ type: "approval-answered", toolCallId, answer: answerIn(words, waiting), ...by });
      return { toolCallId, tool, waiting: pendingApprovals(read()).length };
    },
    {
      validator: (words) => void approvalFor(read(), words),
      description: "A person's word on a call that waits for one",
    },
  );
  setHandler(
    raiseLimitsUpdate,
    (limits) => {
      tell({ type: "limits-raised", limits: mustBeLimits(read(), limits) });
      return pinnedOf(read()).limits;
    },
    {
      validator: (limits) => void mustBeLimits(read(), limits),
      description: "Lets the loop that runs have more turns, tokens, time or money",
    },
  );
  setHandler(
    updateDefinitionUpdate,
    (words) => {
      const { definitionHash: hash } = mustBeDefinition(read(), words);
      tell({ type: "update-asked", hash });
      return definitionTaken(read, hash);
    },
    {
      validator: (words) => void mustBeDefinition(read(), words),
      description: "Moves the run to another definition before its next turn",
    },
  );
  setHandler(statusQuery, () => statusOf(read()), { description: "Where the run stands" });
}

/**
 * Lets in prompts. Only after the run has begun: one that came together with the start is judged by what the start
 * has made of the run.
 */
export function listenForPrompts(read: () => State, tell: (happening: Happening) => void): void {
  setHandler(
    promptUpdate,
    (words) => {
      mustWait(read());
      const message = messageFrom(words, Date.now()) as PersonMessage;
      tell({ type: "prompted", message });
      return accepted(read(), message);
    },
    {
      validator: (words) => {
        validMessage(words);
        mustWait(read());
      },
      description: "The next prompt of an interactive run",
    },
  );
}

function validMessage(words: Words): void {
  if (isWords(words)) return;
  throw ApplicationFailure.nonRetryable(
    "A message is a text, or an object with `text` or `ref`",
    "holdfast/invalid-message",
  );
}

/** A message that was taken before is taken again, for its sender only repeats it. */
function mustHaveRoom(state: State, words: Words): void {
  const { id, text, ref } = typeof words === "string" ? { text: words } : words;
  const message = {
    id: id ?? "",
    ...(text === undefined ? {} : { text }),
    ...(ref === undefined ? {} : { ref }),
  };
  if (canTake(state, message)) return;
  throw queueFull(countWaiting(state.queues));
}

/** @param waiting - What waits; the sender's client reads it from the details. */
export function queueFull(waiting: Waiting): ApplicationFailure {
  return ApplicationFailure.create({
    message: queueFullText(waiting),
    type: "holdfast/queue-full",
    nonRetryable: true,
    details: [waiting],
  });
}

function mustWait(state: State): void {
  if (state.phase.type !== "waiting") throw ApplicationFailure.nonRetryable(BUSY_TEXT, "holdfast/busy");
}

function accepted(state: State, { id }: PersonMessage): Accepted {
  return { id, queued: state.queues.steering.length + state.queues.followUps.length };
}
