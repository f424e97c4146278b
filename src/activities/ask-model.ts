import { addUsage, NO_USAGE } from "../core/usage.ts";
import { prepareSecrets, resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { Usage } from "../schema/message.ts";
import { textOf } from "./answer-digest.ts";
import type { Dependencies } from "./dependencies.ts";
import { DefinitionError } from "./failure.ts";

/** The agent's own model, for texts that are no part of its conversation. Counts what they cost. */
export class TextModel {
  readonly #definition: AgentDefinition;
  readonly #dependencies: Pick<Dependencies, "providers" | "secrets">;
  usage: Usage = NO_USAGE;

  constructor(definition: AgentDefinition, dependencies: Pick<Dependencies, "providers" | "secrets">) {
    this.#definition = definition;
    this.#dependencies = dependencies;
  }

  async ask(
    { instructions, text, maxTokens }: { instructions: string; text: string; maxTokens: number },
    signal: AbortSignal,
  ): Promise<string> {
    const { model, cache } = this.#definition;
    const { providers, secrets } = this.#dependencies;
    const provider = providers.get(model.api);
    if (provider === undefined) throw new DefinitionError(`This worker does not speak ${model.api}`);
    await prepareSecrets(model, secrets);
    const answer = await provider.stream(
      {
        model,
        apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
        headers: resolveHeaders(model.headers, secrets),
        systemPrompt: instructions,
        messages: [{ role: "user", content: [{ type: "text", text }], timestamp: Date.now() }],
        tools: [],
        thinking: "off",
        temperature: undefined,
        maxTokens,
        cache,
      },
      { signal, onDelta: () => undefined },
    );
    this.usage = addUsage(this.usage, answer.usage);
    return textOf(answer).trim();
  }
}
