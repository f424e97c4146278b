import type { Answer } from "../../../testing/model-server/script.ts";
import { buildHttpFailure, buildReply } from "../in-process-vendor.ts";
import type { ScenarioReply } from "../schema.ts";

/** A scripted reply as the model server gives it. */
export function buildVendorAnswer(reply: ScenarioReply, nth: number, caller?: string): Answer {
  const failure = buildHttpFailure(reply);
  if (failure !== undefined) return { fault: "http", ...failure };
  const { takesMs } = reply;
  const answer = {
    ...buildReply(reply, nth, caller),
    ...(takesMs === undefined ? {} : { firstByteDelayMs: takesMs }),
  };
  if (reply.cut !== undefined) return { fault: "cut", clean: true, reply: answer };
  if (reply.breaksOff !== undefined) return { fault: "mid-stream-error", ...reply.breaksOff, reply: answer };
  return answer;
}

/** A request that nobody answers: its run was stopped, or its worker is gone. */
export const NO_ANSWER: Answer = { text: "never", holdUntil: "never", holdAt: "head" };
