import type { Turn } from "../core/compaction/turns.ts";
import { truncateForPreview } from "../core/preview.ts";
import { addUsage, costOf, NO_USAGE } from "../core/usage.ts";
import { resolveHeaders, resolveSecrets } from "../providers/secrets.ts";
import type { AgentDefinition } from "../schema/definition.ts";
import type { AgentMessage, Usage } from "../schema/message.ts";
import { textOf } from "./answer-digest.ts";
import type { Dependencies } from "./dependencies.ts";
import { DefinitionError } from "./failure.ts";

/** Turns that one text is to stand for, and the tokens that it may have. */
export type Group = { readonly turns: readonly Turn[]; readonly maxTokens: number };

export type Summaries = {
  /** By group, as `keyOf` names it. */
  readonly texts: ReadonlyMap<string, string>;
  readonly usage: Usage;
  readonly costUsd: number;
};

/** Of one message, in bytes: enough to tell what was said or found. */
const MESSAGE_BYTES = 4096;
/** Of all that is to be summarised at once, as a share of the context window. */
const WINDOW_SHARE = 0.5;
const BYTES_PER_TOKEN = 4;

const INSTRUCTIONS =
  "You shorten the record of an agent's work so that the agent can go on with it. Write what was asked, what was done, " +
  "what was found and decided, which files and commands matter, and what is still open. Keep names, paths, numbers and " +
  "error messages as they are. Write notes, not a letter, and nothing else.";

export function keyOf({ turns }: Pick<Group, "turns">): string {
  const first = turns[0]?.entries[0]?.position ?? 0;
  return `${first}-${turns.at(-1)?.entries.at(-1)?.position ?? first}`;
}

/** Asks the agent's own model for a text in place of each group of turns. */
export async function summaries(
  groups: readonly Group[],
  definition: AgentDefinition,
  focus: string | undefined,
  { providers, secrets }: Pick<Dependencies, "providers" | "secrets">,
  signal: AbortSignal,
): Promise<Summaries> {
  const { model, cache } = definition;
  const provider = providers.get(model.api);
  if (provider === undefined) throw new DefinitionError(`This worker does not speak ${model.api}`);
  const texts = new Map<string, string>();
  let usage = NO_USAGE;
  for (const group of groups) {
    const answer = await provider.stream(
      {
        model,
        apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
        headers: resolveHeaders(model.headers, secrets),
        systemPrompt: INSTRUCTIONS,
        messages: [asked(group, model.contextWindow, focus)],
        tools: [],
        thinking: "off",
        temperature: undefined,
        maxTokens: group.maxTokens,
        cache,
      },
      { signal, onDelta: () => undefined },
    );
    usage = addUsage(usage, answer.usage);
    texts.set(
      keyOf(group),
      truncateForPreview(textOf(answer).trim(), group.maxTokens * BYTES_PER_TOKEN - 64),
    );
  }
  return { texts, usage, costUsd: costOf(usage, model.cost) };
}

function asked({ turns }: Group, contextWindow: number, focus: string | undefined) {
  const lines = turns.flatMap(({ entries }) => entries.map(({ message }) => lineOf(message)));
  const bytes = Math.floor(contextWindow * WINDOW_SHARE * BYTES_PER_TOKEN);
  const record = truncateForPreview(lines.filter((line) => line !== "").join("\n\n"), bytes);
  const before = focus === undefined ? "" : `What matters most: ${focus}\n\n`;
  return {
    role: "user" as const,
    content: [{ type: "text" as const, text: `${before}The record:\n\n${record}` }],
    timestamp: Date.now(),
  };
}

function lineOf(message: AgentMessage): string {
  if (message.role === "extension") return "";
  const parts = message.content.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "toolCall" ? `[calls ${part.name} ${JSON.stringify(part.arguments)}]` : "";
  });
  const who = message.role === "toolResult" ? `result of ${message.toolName}` : message.role;
  return `${who}: ${truncateForPreview(parts.join("\n"), MESSAGE_BYTES)}`;
}
