import type { Answer } from "../../../testing/model-server/script.ts";
import type { ScenarioReply } from "../schema.ts";
import { httpFailure, wireReply } from "../vendor.ts";

/** A scripted reply as the model server gives it. */
export function vendorAnswer(reply: ScenarioReply, nth: number, caller?: string): Answer {
  const failure = httpFailure(reply);
  if (failure !== undefined) return { fault: "http", ...failure };
  const { takesMs } = reply;
  const answer = {
    ...wireReply(reply, nth, caller),
    ...(takesMs === undefined ? {} : { firstByteDelayMs: takesMs }),
  };
  if (reply.cut !== undefined) return { fault: "cut", clean: true, reply: answer };
  if (reply.breaksOff !== undefined) return { fault: "mid-stream-error", ...reply.breaksOff, reply: answer };
  return answer;
}

/** A request that nobody answers: its run was stopped, or its worker is gone. */
export const NO_ANSWER: Answer = { text: "never", holdUntil: "never", holdAt: "head" };
