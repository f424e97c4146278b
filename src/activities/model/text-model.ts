import { addCosts, addUsage, type Cost, computeCost, NO_USAGE } from "../../core/budget/usage.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { StreamOptions } from "../../models/provider.ts";
import { resolveHeaders, resolveSecrets } from "../../models/secrets.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelFallback } from "../../schema/loop-event.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { Dependencies } from "../dependencies.ts";
import { askOnce } from "./ask-once.ts";
import { askWithFallbacks } from "./model-fallback.ts";

export type TextQuestion = {
  readonly instructions: string;
  /** A function builds the text for the model that is called. */
  readonly text: string | ((model: ModelConfig) => string);
  readonly maxTokens: number;
};

export type TextAnswer = { readonly text: string; readonly stopReason: StopReason };

type TextModelDependencies = Pick<Dependencies, "providers" | "secrets" | "outages">;

/** Calls the agent's own models for texts that are no part of its conversation, and counts their cost. */
export class TextModel {
  readonly #definition: AgentDefinition;
  readonly #helpers: TextModelDependencies;
  readonly #onWait: StreamOptions["onWait"];
  readonly #fallbacks = new Map<string, ModelFallback>();
  usage: Usage = NO_USAGE;
  costUsd: Cost = 0;

  constructor(definition: AgentDefinition, helpers: TextModelDependencies, onWait?: StreamOptions["onWait"]) {
    this.#definition = definition;
    this.#helpers = helpers;
    this.#onWait = onWait;
  }

  /** The fallbacks that answered, each once. */
  get fallbacks(): readonly ModelFallback[] {
    return [...this.#fallbacks.values()];
  }

  /** The display name of the agent's own model. */
  get name(): string {
    const { provider, id } = this.#definition.model;
    return `${provider}/${id}`;
  }

  async ask(question: TextQuestion, signal: AbortSignal): Promise<string> {
    return (await this.askForAnswer(question, signal)).text;
  }

  /** Asks for a text, and also returns how the answer ended. */
  async askForAnswer(question: TextQuestion, signal: AbortSignal): Promise<TextAnswer> {
    const { outages } = this.#helpers;
    const { answer, definition, fallback } = await askWithFallbacks(this.#definition, {
      outages,
      ask: ({ model }) => this.#ask(model, question, signal),
      estimateSize: ({ model }) =>
        estimateText(question.instructions) + estimateText(buildText(model, question)) + question.maxTokens,
    });
    this.usage = addUsage(this.usage, answer.usage);
    this.costUsd = addCosts(
      this.costUsd,
      computeCost(answer.usage, definition.model.cost, answer.longestQuestion),
    );
    if (fallback !== undefined) this.#fallbacks.set(`${fallback.to.provider}/${fallback.to.model}`, fallback);
    return { text: getMessageText(answer).trim(), stopReason: answer.stopReason };
  }

  async #ask(model: ModelConfig, question: TextQuestion, signal: AbortSignal): Promise<AssistantMessage> {
    const { secrets } = this.#helpers;
    const { instructions, maxTokens } = question;
    const text = buildText(model, question);
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

function buildText(model: ModelConfig, { text }: TextQuestion): string {
  return typeof text === "string" ? text : text(model);
}
