import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Answer } from "../../../testing/model-server/script.ts";
import { buildHttpFailure, buildReply } from "../in-process-vendor.ts";
import type { ScenarioReply } from "../schema.ts";

/** Builds the model server's answer for a scripted reply. */
export function buildVendorAnswer(reply: ScenarioReply, nth: number, caller?: string): Answer {
  const failure = buildHttpFailure(reply);
  if (failure !== undefined) return { fault: "http", ...failure };
  const { takesMs } = reply;
  const answer = {
    ...buildReply(reply, nth, caller),
    ...omitUndefined({ firstByteDelayMs: takesMs }),
  };
  if (reply.cut !== undefined) return { fault: "cut", clean: true, reply: answer };
  if (reply.breaksOff !== undefined) return { fault: "mid-stream-error", ...reply.breaksOff, reply: answer };
  return answer;
}

/** The answer to a request that never gets one: its run was stopped, or its worker died. */
export const NO_ANSWER: Answer = { text: "never", holdUntil: "never", holdAt: "head" };
