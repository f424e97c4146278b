import { computeCost } from "../../core/budget/usage.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { PlannedCell } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { askForAnswer } from "./ask-answer.ts";

/** What a judge is asked. */
type JudgeQuestion = { readonly instructions: string; readonly text: string };

/** What a judge answers. `costUsd` is the price of the answer, whether it was paid now or before; `null` if it is unknown. */
type JudgeAnswer = { readonly text: string; readonly costUsd: number | null };

export type AskJudge = (definition: AgentDefinition, question: JudgeQuestion) => Promise<JudgeAnswer>;

/** Asks judges. Their answers are stored like those of cells: the same question is not paid twice. */
export class JudgeAnswers {
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;

  constructor(dependencies: Dependencies, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  forCell({ repetition }: Pick<PlannedCell, "repetition">, session: string): AskJudge {
    return async (given, { instructions, text }) => {
      const { systemPrompt } = given;
      const definition = {
        ...given,
        systemPrompt: systemPrompt === "" ? instructions : `${systemPrompt}\n\n${instructions}`,
        tools: [],
      };
      const question = { session, repetition, definition, text, atMs: Date.now() };
      const asked = await askForAnswer(question, this.#dependencies, this.#signal);
      const { usage, longestQuestion } = asked.answer;
      const costUsd = computeCost(usage, asked.definition.model.cost, longestQuestion);
      return { text: getMessageText(asked.answer), costUsd };
    };
  }
}
