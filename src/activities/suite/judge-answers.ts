import { computeCost } from "../../core/budget/usage.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { PlannedCell, SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Dependencies } from "../dependencies.ts";
import { askForAnswer } from "./ask-answer.ts";
import { getSharing } from "./cell-definition.ts";

/** What a judge is asked. */
type JudgeQuestion = { readonly instructions: string; readonly text: string };

/** What a judge answers. `costUsd` is the price of the answer, whether it was paid now or before; `null` if it is unknown. */
type JudgeAnswer = { readonly text: string; readonly costUsd: number | null };

export type AskJudge = (definition: AgentDefinition, question: JudgeQuestion) => Promise<JudgeAnswer>;

/** Asks judges. Their answers are stored like those of cells: the same question is not paid twice. */
export class JudgeAnswers {
  readonly #run: Pick<SuiteRunRecord, "id" | "plan">;
  readonly #dependencies: Dependencies;
  readonly #signal: AbortSignal;

  constructor(run: Pick<SuiteRunRecord, "id" | "plan">, dependencies: Dependencies, signal: AbortSignal) {
    this.#run = run;
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  forCell(cell: Pick<PlannedCell, "repetition">, session: string): AskJudge {
    return async (given, { instructions, text }) => {
      const { systemPrompt } = given;
      const definition = {
        ...given,
        systemPrompt: systemPrompt === "" ? instructions : `${systemPrompt}\n\n${instructions}`,
        tools: [],
      };
      const question = { session, sharing: getSharing(this.#run, cell), definition, text, atMs: Date.now() };
      const asked = await askForAnswer(question, this.#dependencies, this.#signal);
      const { usage, longestQuestion } = asked.answer;
      const costUsd = computeCost(usage, asked.definition.model.cost, longestQuestion);
      return { text: getMessageText(asked.answer), costUsd };
    };
  }
}
