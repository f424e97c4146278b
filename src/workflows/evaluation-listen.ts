import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import type { EvaluationStatus } from "../core/evaluation/progress.ts";
import type { PersonMessage } from "../core/machine/state/state.ts";
import type { Waiting } from "../core/machine/waiting-messages.ts";
import { isWords, messageFrom } from "./input.ts";
import { BUSY_TEXT, queueFull } from "./listen.ts";
import {
  type Accepted,
  type ApprovalWords,
  approveUpdate,
  evaluationStatusQuery,
  followUpSignal,
  followUpUpdate,
  promptUpdate,
  steerSignal,
  steerUpdate,
  stopSignal,
  type Words,
} from "./messages.ts";

/** What people may send to an evaluation, and what becomes of it. */
export type Heard = {
  readonly status: () => EvaluationStatus;
  readonly stop: (reason: string) => void;
  /** Keeps a message for the session's next loop; the branches do not read it. Returns how many wait. */
  readonly keep: (message: PersonMessage) => number;
  /** What waits already, if there is no room for another message. */
  readonly full: (words: Words) => Waiting | undefined;
};

export function listenToEvaluation({ status, stop, keep, full }: Heard): void {
  const taken = (words: Words) => {
    const message = messageFrom(words, Date.now());
    if (message !== undefined) keep(message);
  };
  const validator = (words: Words) => {
    mustBeWords(words);
    const waiting = full(words);
    if (waiting !== undefined) throw queueFull(waiting);
  };
  setHandler(stopSignal, (reason) => stop(typeof reason === "string" ? reason : "stop was requested"), {
    description: "Ends the evaluation: its branches, then the choice among what they have left",
  });
  setHandler(evaluationStatusQuery, status, { description: "Where the evaluation stands" });
  const description = "Words that the session's next loop finds in its inbox";
  setHandler(steerSignal, taken, { description });
  setHandler(followUpSignal, taken, { description });
  const acknowledged = (words: Words): Accepted => {
    const message = messageFrom(words, Date.now()) as PersonMessage;
    return { id: message.id, queued: keep(message) };
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
