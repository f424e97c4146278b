import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import { listPendingApprovals } from "../core/machine/approvals.ts";
import { requirePinned } from "../core/machine/phase.ts";
import { formatQueueFull, measureQueues, type QueueSize } from "../core/machine/queue-size.ts";
import { hasRoom } from "../core/machine/queues.ts";
import type { InboundMessage } from "../core/machine/state/inbound-message.ts";
import type { State } from "../core/machine/state/state.ts";
import { buildStatus } from "../core/machine/status.ts";
import { isToolListChange } from "../core/machine/tool-list-change.ts";
import { countUtf8Bytes } from "../core/view/estimate.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { findApproval, toApprovalAnswer } from "./approval-update.ts";
import { awaitDefinitionUpdate, checkDefinitionUpdate } from "./definition-update.ts";
import {
  type Acknowledgement,
  approveUpdate,
  clearQueuesSignal,
  compactSignal,
  followUpSignal,
  followUpUpdate,
  type MessageInput,
  promptUpdate,
  queueModeSignal,
  raiseLimitsUpdate,
  statusQuery,
  steerSignal,
  steerUpdate,
  stopSignal,
  titleSignal,
  toolListChangedSignal,
  updateDefinitionUpdate,
} from "./messages.ts";
import type { UntimedEvent } from "./perform.ts";
import { checkLimits } from "./raise-limits.ts";
import { isMessageInput, toInboundMessage } from "./run-input.ts";

/** The focus stays in the state until it is used. */
const MAX_FOCUS_BYTES = 2048;

/** The characters of the longest title have at most this many bytes. */
const MAX_TITLE_BYTES = 512;

/** STEER-12. */
export const BUSY_TEXT = "Agent is already streaming. Use steer() or follow_up().";

/**
 * Registers the handlers of the messages that users send. No message can fail the run: an update's validator rejects
 * an invalid one, and an invalid signal is ignored.
 */
export function registerRunHandlers(read: () => State, report: (happening: UntimedEvent) => void): void {
  const arrived = (type: "steered" | "followed-up") => (input: MessageInput) => {
    const message = toInboundMessage(input, Date.now());
    if (message !== undefined) report({ type, message });
  };
  setHandler(steerSignal, arrived("steered"), {
    description: "Queues a message that the agent reads before its next answer",
  });
  setHandler(followUpSignal, arrived("followed-up"), {
    description: "Queues a message that is delivered when the agent would otherwise stop",
  });
  setHandler(
    queueModeSignal,
    (request) => {
      const queue = request?.queue;
      const mode = request?.mode;
      if ((queue === "steering" || queue === "follow-up") && (mode === "all" || mode === "one-at-a-time")) {
        report({ type: "queue-mode-set", queue, mode });
      }
    },
    { description: "Sets how many waiting messages are read at once" },
  );
  setHandler(
    clearQueuesSignal,
    (queue) => {
      if (queue === "steering" || queue === "follow-up" || queue === "all")
        report({ type: "queues-cleared", queue });
    },
    { description: "Deletes the waiting messages" },
  );
  setHandler(
    compactSignal,
    (request) => {
      const focus = request?.focus;
      const isShort = typeof focus === "string" && focus !== "" && countUtf8Bytes(focus) <= MAX_FOCUS_BYTES;
      report({ type: "compaction-requested", ...(isShort ? { focus } : {}) });
    },
    { description: "Compacts the context before the next answer" },
  );
  setHandler(
    toolListChangedSignal,
    (change) => {
      if (isToolListChange(change)) report({ type: "tool-list-changed", ...change });
    },
    { description: "Reports that a server offers other tools than before" },
  );
  setHandler(
    titleSignal,
    (title) => {
      if (typeof title !== "string" || title === "" || countUtf8Bytes(title) > MAX_TITLE_BYTES) return;
      report({ type: "title-changed", title });
    },
    { description: "Displays another title, which the client has stored" },
  );
  setHandler(
    stopSignal,
    (reason) =>
      report({ type: "stop-requested", reason: typeof reason === "string" ? reason : "stop was requested" }),
    { description: "Ends the run: cancels the model call and the tools, then ends the loop" },
  );

  const acknowledged =
    (type: "steered" | "followed-up") =>
    (input: MessageInput): Acknowledgement => {
      const message = toInboundMessage(input, Date.now()) as InboundMessage;
      report({ type, message });
      return buildAcknowledgement(read(), message);
    };
  const validator = (input: MessageInput) => {
    checkMessage(input);
    checkRoom(read(), input);
  };
  setHandler(steerUpdate, acknowledged("steered"), { validator });
  setHandler(followUpUpdate, acknowledged("followed-up"), { validator });
  setHandler(
    approveUpdate,
    (input) => {
      const waiting = findApproval(read(), input);
      const { toolCallId, tool } = waiting;
      const by = typeof input.by === "string" ? { by: input.by } : {};
      report({ type: "approval-answered", toolCallId, answer: toApprovalAnswer(input, waiting), ...by });
      return { toolCallId, tool, waiting: listPendingApprovals(read()).length };
    },
    {
      validator: (input) => void findApproval(read(), input),
      description: "Answers a call that waits for the user",
    },
  );
  setHandler(
    raiseLimitsUpdate,
    (limits) => {
      report({ type: "limits-raised", limits: checkLimits(read(), limits) });
      return requirePinned(read()).limits;
    },
    {
      validator: (limits) => void checkLimits(read(), limits),
      description: "Raises the limits of the running loop: turns, tokens, time or money",
    },
  );
  setHandler(
    updateDefinitionUpdate,
    (input) => {
      const { definitionHash: hash } = checkDefinitionUpdate(read(), input);
      report({ type: "definition-update-requested", hash });
      return awaitDefinitionUpdate(read, hash);
    },
    {
      validator: (input) => void checkDefinitionUpdate(read(), input),
      description: "Gives the run another definition before its next turn",
    },
  );
  setHandler(statusQuery, () => buildStatus(read()), { description: "Reports the state of the run" });
}

/**
 * Registers the handler of prompts. Call it only after the run has begun, so that a prompt that arrived together with
 * the start is judged by the state after the start.
 */
export function registerPromptHandler(read: () => State, report: (happening: UntimedEvent) => void): void {
  setHandler(
    promptUpdate,
    (input) => {
      checkIsWaiting(read());
      const message = toInboundMessage(input, Date.now()) as InboundMessage;
      report({ type: "prompted", message });
      return buildAcknowledgement(read(), message);
    },
    {
      validator: (input) => {
        checkMessage(input);
        checkIsWaiting(read());
      },
      description: "The next prompt of an interactive run",
    },
  );
}

function checkMessage(input: MessageInput): void {
  if (isMessageInput(input)) return;
  throw ApplicationFailure.nonRetryable(
    "A message must be a text, or an object with `text` or `ref`",
    "holdfast/invalid-message",
  );
}

/**
 * Rejects a message when the queues are full. A message that was accepted before is accepted again, because its sender
 * only repeats it.
 */
function checkRoom(state: State, input: MessageInput): void {
  const { id, text, ref } = typeof input === "string" ? { text: input } : input;
  const message = {
    id: id ?? "",
    ...omitUndefined({ text, ref }),
  };
  if (hasRoom(state, message)) return;
  throw buildQueueFullFailure(measureQueues(state.queues));
}

/** @param waiting - The size of the queues, which the sender's client reads from the details. */
export function buildQueueFullFailure(waiting: QueueSize): ApplicationFailure {
  return ApplicationFailure.create({
    message: formatQueueFull(waiting),
    type: "holdfast/queue-full",
    nonRetryable: true,
    details: [waiting],
  });
}

function checkIsWaiting(state: State): void {
  if (state.phase.type !== "waiting") throw ApplicationFailure.nonRetryable(BUSY_TEXT, "holdfast/busy");
}

function buildAcknowledgement(state: State, { id }: InboundMessage): Acknowledgement {
  return { id, queued: state.queues.steering.length + state.queues.followUps.length };
}
