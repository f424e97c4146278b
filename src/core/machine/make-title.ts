import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { Outcome } from "../../schema/record.ts";
import { computeRemaining } from "../budget/account.ts";
import { computeSpent } from "../budget/limits.ts";
import { getAccount } from "./child-shares.ts";
import { dispatch } from "./dispatch.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { MakeTitleCommand } from "./state/activity-command.ts";
import type { State } from "./state/state.ts";

// The title that the model gives a session before its first answered loop is closed, where the definition wants one. The
// request counts for the loop, and nothing of it can fail the loop. title-result.ts continues after the answer.

/** A title is not worth a second request. */
const MAX_ATTEMPTS = 1;

/** A title that a user has given stays, and so does the first one after a stop or without tokens, dollars or time. */
export function wantsTitle(state: State, outcome: Outcome): boolean {
  if (state.loop?.asksForTitle !== true || state.loop.lastText === undefined) return false;
  if (outcome.type !== "answered" || state.stop !== undefined || state.title?.by === "user") return false;
  const spent = computeSpent(state.loop, state.nowMs);
  const { tokens, nanoUsd, timeMs } = computeRemaining(getAccount(state), spent, state.nowMs);
  return tokens !== 0 && nanoUsd !== 0 && timeMs !== 0;
}

export function startTitling(state: State, outcome: Outcome): State {
  const { asksForTitle: _, ...loop } = requireLoop(state);
  const given = dispatch({ ...state, loop });
  return { ...given.state, phase: { type: "titling", dispatch: given.dispatch, outcome } };
}

type TitleRequest = Omit<
  MakeTitleCommand,
  "type" | "session" | "number" | "generation" | "branch" | "base" | "outbox" | "newBranch"
>;

/** Builds the request for the activity, which reads the messages from the transcript. */
export function buildTitleRequest(state: State): TitleRequest {
  const { loopId, turn, from, lastText } = requireLoop(state);
  if (lastText === undefined) throw new ProtocolError("A title is requested without an answer");
  return {
    loopId,
    definitionHash: requirePinned(state).definitionHash,
    turn,
    from,
    answer: lastText.position,
    ...omitUndefined({ showsTitle: state.showsTitle }),
    maxAttempts: MAX_ATTEMPTS,
  };
}
