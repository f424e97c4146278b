import { type Fault, type FaultRule, type HttpFault, isStreamFault, type StreamFault } from "./fault.ts";
import { DEFAULT_REPLY, type Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";
import type { Answer, ModelScript, ScriptedConversation } from "./script.ts";

export type ReplyDecision =
  | { readonly type: "reply"; readonly reply: Reply }
  | { readonly type: "failing-reply"; readonly reply: Reply; readonly fault: StreamFault }
  | { readonly type: "error"; readonly fault: HttpFault };

/** Answers a request in place of the script; `undefined` leaves it to the script. */
export type Respond = (question: ModelServerRequest) => Answer | undefined | Promise<Answer | undefined>;

/**
 * Selects the reply or fault for a request.
 *
 * Invariant: without faults, the decision depends only on the conversation in the request, so a repeated request gets
 * the same reply. Only faults are counted.
 */
export class ReplySelector {
  readonly script: ModelScript;
  readonly #respond: Respond | undefined;
  readonly #usedFaults = new Map<string, number>();

  constructor(script: ModelScript, respond?: Respond) {
    this.script = script;
    this.#respond = respond;
  }

  async select(question: ModelServerRequest): Promise<ReplyDecision> {
    const index = (this.script.conversations ?? []).findIndex((one) => matchesConversation(one, question));
    const conversation: ScriptedConversation | undefined = this.script.conversations?.[index];
    const fault =
      this.#takeFault(question, `${index}`, conversation?.faults) ??
      this.#takeFault(question, "all", this.script.faults);
    if (fault !== undefined && !isStreamFault(fault)) return { type: "error", fault };

    const answer =
      (await this.#respond?.(question)) ??
      (conversation ?? this.script).replies?.[question.turn] ??
      this.script.defaultReply ??
      DEFAULT_REPLY;
    if (fault !== undefined) return { type: "failing-reply", reply: fault.reply ?? toReply(answer), fault };
    if (answer.fault === undefined) return { type: "reply", reply: answer };
    if (!isStreamFault(answer)) return { type: "error", fault: answer };
    return { type: "failing-reply", reply: answer.reply ?? DEFAULT_REPLY, fault: answer };
  }

  /** Returns a remaining fault for this turn, if any, and counts it as used. */
  #takeFault(
    question: ModelServerRequest,
    list: string,
    rules: readonly FaultRule[] | undefined,
  ): Fault | undefined {
    for (const [index, rule] of (rules ?? []).entries()) {
      if (rule.onTurn !== undefined && rule.onTurn !== question.turn) continue;
      const key = `${list}.${index} ${question.conversation}`;
      const used = this.#usedFaults.get(key) ?? 0;
      if (used >= (rule.times ?? 1)) continue;
      this.#usedFaults.set(key, used + 1);
      return rule;
    }
    return undefined;
  }
}

function matchesConversation(conversation: ScriptedConversation, question: ModelServerRequest): boolean {
  const { match } = conversation;
  if (match === undefined) return true;
  if (typeof match === "function") return match(question);
  return question.firstUserText.includes(match) || question.system.includes(match);
}

function toReply(answer: Answer): Reply {
  if (answer.fault === undefined) return answer;
  return isStreamFault(answer) ? (answer.reply ?? DEFAULT_REPLY) : DEFAULT_REPLY;
}
