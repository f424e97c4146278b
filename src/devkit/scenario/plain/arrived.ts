import { ApplicationFailure } from "@temporalio/common";
import type { InboundMessage } from "../../../core/machine/state/inbound-message.ts";
import type { State } from "../../../core/machine/state/state.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { findApproval, toApprovalAnswer } from "../../../workflows/approval-update.ts";
import { checkLimits } from "../../../workflows/raise-limits.ts";
import { BUSY_TEXT } from "../../../workflows/run-handlers.ts";
import { buildApprovalInput } from "../approval-input.ts";
import type { SentArrival } from "../play-result.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";

/** Thrown for an arrival that a run rejects; the message is the run's. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/**
 * Converts an arrival to a machine event; undefined for the worker's death, which steps report to the machine.
 *
 * @throws Refused - If the run does not accept it in its current state.
 */
export function toArrivalEvent(sent: SentArrival, state: State, nowMs: number): Happening | undefined {
  const message = (text: string): InboundMessage => ({ id: sent.messageId, text, atMs: nowMs });
  switch (sent.do) {
    case "steer":
      return { type: "steered", message: message(sent.text) };
    case "followUp":
      return { type: "followed-up", message: message(sent.text) };
    case "prompt":
      if (state.phase.type !== "waiting") throw new Refused(BUSY_TEXT);
      return { type: "prompted", message: message(sent.text) };
    case "stop":
      return { type: "stop-requested", reason: sent.reason ?? "stop was requested" };
    case "cancel":
      return { type: "stop-requested", reason: "the workflow was cancelled" };
    case "queueMode":
      return { type: "queue-mode-set", queue: sent.queue, mode: sent.mode };
    case "clearQueues":
      return { type: "queues-cleared", queue: sent.queue };
    case "compact":
      return { type: "compaction-requested", ...omitUndefined({ focus: sent.focus }) };
    case "approve":
    case "refuse": {
      const words = buildApprovalInput(sent);
      const waiting = unlessRefused(() => findApproval(state, words));
      const by = omitUndefined({ by: words.by });
      return {
        type: "approval-answered",
        toolCallId: waiting.toolCallId,
        answer: toApprovalAnswer(words, waiting),
        ...by,
      };
    }
    case "raiseLimits":
      return { type: "limits-raised", limits: unlessRefused(() => checkLimits(state, sent.limits)) };
    case "continueAsNew":
      return { type: "rotation-requested" };
    case "crash":
      return undefined;
    case "run":
    case "continue":
      throw new ScenarioError(["arrives: a run begins only after the end of the previous one"]);
    default:
      return assertNever(sent);
  }
}

function unlessRefused<Taken>(take: () => Taken): Taken {
  try {
    return take();
  } catch (error) {
    throw error instanceof ApplicationFailure ? new Refused(error.message) : error;
  }
}
