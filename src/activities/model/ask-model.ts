import { addCosts, addUsage, type Cost, costOf, NO_USAGE } from "../../core/budget/usage.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { StreamOptions } from "../../models/provider.ts";
import { resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { FellBack } from "../../schema/record.ts";
import type { Dependencies } from "../dependencies.ts";
import { textOf } from "./answer-digest.ts";
import { askOnce } from "./ask-once.ts";
import { withFallbacks } from "./fallback.ts";

export type TextQuestion = {
  readonly instructions: string;
  /** May be made for the model that is asked. */
  readonly text: string | ((model: ModelConfig) => string);
  readonly maxTokens: number;
};

export type TextAnswer = { readonly text: string; readonly stopReason: StopReason };

type Helpers = Pick<Dependencies, "providers" | "secrets" | "outages">;

/** The agent's own models, for texts that are no part of its conversation. Counts what they cost. */
export class TextModel {
  readonly #definition: AgentDefinition;
  readonly #helpers: Helpers;
  readonly #onWait: StreamOptions["onWait"];
  readonly #fellBack = new Map<string, FellBack>();
  usage: Usage = NO_USAGE;
  costUsd: Cost = 0;

  constructor(definition: AgentDefinition, helpers: Helpers, onWait?: StreamOptions["onWait"]) {
    this.#definition = definition;
    this.#helpers = helpers;
    this.#onWait = onWait;
  }

  /** Answers of fallbacks; one of each that has given any. */
  get fellBack(): readonly FellBack[] {
    return [...this.#fellBack.values()];
  }

  /** The agent's own model, as people know it. */
  get name(): string {
    const { provider, id } = this.#definition.model;
    return `${provider}/${id}`;
  }

  async ask(question: TextQuestion, signal: AbortSignal): Promise<string> {
    return (await this.answer(question, signal)).text;
  }

  /** The same with how the answer ended. */
  async answer(question: TextQuestion, signal: AbortSignal): Promise<TextAnswer> {
    const { outages } = this.#helpers;
    const { answer, definition, fellBack } = await withFallbacks(this.#definition, {
      outages,
      ask: ({ model }) => this.#ask(model, question, signal),
      sizeFor: ({ model }) =>
        estimateText(question.instructions) + estimateText(textFor(model, question)) + question.maxTokens,
    });
    this.usage = addUsage(this.usage, answer.usage);
    this.costUsd = addCosts(
      this.costUsd,
      costOf(answer.usage, definition.model.cost, answer.longestQuestion),
    );
    if (fellBack !== undefined) this.#fellBack.set(`${fellBack.to.provider}/${fellBack.to.model}`, fellBack);
    return { text: textOf(answer).trim(), stopReason: answer.stopReason };
  }

  async #ask(model: ModelConfig, question: TextQuestion, signal: AbortSignal): Promise<AssistantMessage> {
    const { secrets } = this.#helpers;
    const { instructions, maxTokens } = question;
    const text = textFor(model, question);
    const request = () => ({
      model,
      apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
      headers: resolveHeaders(model.headers, secrets),
      systemPrompt: instructions,
      messages: [
        { role: "user" as const, content: [{ type: "text" as const, text }], timestamp: Date.now() },
      ],
      tools: [],
      thinking: "off" as const,
      temperature: undefined,
      maxTokens,
      cache: this.#definition.cache,
    });
    const options = { signal, onDelta: () => undefined, onWait: this.#onWait };
    return await askOnce(model, request, this.#helpers, options);
  }
}

function textFor(model: ModelConfig, { text }: TextQuestion): string {
  return typeof text === "string" ? text : text(model);
}
