import { setTimeout as sleep } from "node:timers/promises";
import { planNextAttempt } from "../../core/machine/vendor-wait.ts";
import { estimateText } from "../../core/view/estimate.ts";
import { fitToModel } from "../../core/view/model-input.ts";
import { ProviderError } from "../../models/provider-error.ts";
import type { AnswerSharing } from "../../schema/answer-sharing.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, UserMessage } from "../../schema/message.ts";
import type { Dependencies } from "../dependencies.ts";
import { askOnce } from "../model/ask-once.ts";
import { buildModelRequest } from "../model/call-model.ts";
import { askWithFallbacks, type FallbackAnswer } from "../model/model-fallback.ts";
import { askOrReadAnswer } from "../model/stored-answers.ts";
import { computeBackoff, VENDOR_MAY_RECOVER } from "../step/failure.ts";

export type Question = {
  readonly session: string;
  readonly sharing: AnswerSharing;
  readonly definition: AgentDefinition;
  readonly text: string;
  readonly atMs: number;
};

type AskingDependencies = Pick<Dependencies, "providers" | "secrets" | "outages" | "tools" | "transcript">;

/** Asks one question, or takes its stored answer. Repeats it as the definition says while the vendor may recover. */
export async function askForAnswer(
  question: Question,
  dependencies: AskingDependencies,
  signal: AbortSignal,
): Promise<FallbackAnswer<AssistantMessage>> {
  const { retry, limits } = question.definition;
  for (let attempt = 1; ; attempt++) {
    const isOver = limits.maxDurationMs !== null && Date.now() - question.atMs >= limits.maxDurationMs;
    const isLast = isOver || attempt > retry.maxRetries;
    try {
      return await ask(question, dependencies, signal, isLast);
    } catch (error) {
      if (!(error instanceof ProviderError) || !VENDOR_MAY_RECOVER[error.fault] || isLast) throw error;
      const again = planNextAttempt(error.retryAfterMs, computeBackoff(retry, attempt), retry);
      await sleep(again.type === "retry" ? again.delayMs : again.forMs, undefined, { signal });
    }
  }
}

async function ask(
  { session, sharing, definition, text, atMs }: Question,
  dependencies: AskingDependencies,
  signal: AbortSignal,
  isLast: boolean,
): Promise<FallbackAnswer<AssistantMessage>> {
  const prompt: UserMessage = { role: "user", content: [{ type: "text", text }], timestamp: atMs };
  return await askWithFallbacks(definition, {
    outages: dependencies.outages,
    isLastAttempt: () => isLast,
    estimateSize: ({ model, systemPrompt, maxTokens = model.maxTokens }) =>
      estimateText(systemPrompt) + estimateText(text) + maxTokens,
    ask: async (asked) => {
      const messages = fitToModel([prompt], asked.model);
      const build = () => buildModelRequest(asked, messages, dependencies, { isRepair: false, formats: [] });
      const scope = { ...sharing, session };
      return await askOrReadAnswer(build(), scope, dependencies.transcript.suites, () =>
        askOnce(asked.model, build, dependencies, { signal, onDelta: () => undefined }),
      );
    },
  });
}
