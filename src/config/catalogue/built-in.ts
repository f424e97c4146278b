import type { CatalogueEntry } from "./catalogue-entry.ts";
import type { Row, Thinking } from "./catalogue-row.ts";
import { ANTHROPIC } from "./data/anthropic.ts";
import { BEDROCK } from "./data/bedrock.ts";
import { GOOGLE } from "./data/google.ts";
import { OPENAI } from "./data/openai.ts";
import { OPENROUTER } from "./data/openrouter.ts";
import { UNLISTED } from "./data/unlisted.ts";

/** The price list that the rows come from, and its date. */
const PRICE_LIST = { source: "@pydantic/genai-prices 0.1.8", date: "2026-09-23" } as const;

const ROWS = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  google: GOOGLE,
  bedrock: BEDROCK,
  openrouter: OPENROUTER,
} as const satisfies Record<string, readonly Row[]>;

export const BUILT_IN: readonly CatalogueEntry[] = [
  ...Object.entries(ROWS).flatMap(([provider, rows]) =>
    rows.map((row) => toEntry(provider, row, PRICE_LIST)),
  ),
  ...UNLISTED.map(({ provider, row, source, date }) => toEntry(provider, row, { source, date })),
];

function toEntry(provider: string, row: Row, from: Pick<CatalogueEntry, "source" | "date">): CatalogueEntry {
  const [id, contextWindow, maxTokens, input, output, cacheRead, cacheWrite, words, dearer] = row;
  const [thinking, ...abilities] = words.split(" ");
  return {
    name: `${provider}/${id}`,
    provider,
    id,
    ...(contextWindow !== null && { contextWindow }),
    ...(maxTokens !== null && { maxTokens }),
    cost: {
      ...toRates(input, output, cacheRead, cacheWrite),
      ...(dearer !== undefined && { dearer: toHighRates(dearer) }),
    },
    thinking: thinking as Thinking,
    tools: true,
    images: abilities.includes("images"),
    pdf: readsPdf(provider, id, abilities.includes("images")),
    structuredOutput: abilities.includes("schema"),
    ...from,
  };
}

/**
 * Reports whether a model reads PDF documents. The price list does not say. Anthropic, OpenAI and Google read pages as
 * images, with all models that read images. OpenRouter converts documents to text for models that do not read them. Of
 * Bedrock's models, Claude and Nova do.
 */
function readsPdf(provider: string, id: string, images: boolean): boolean {
  if (provider === "openrouter") return true;
  return images && (provider !== "bedrock" || /claude|nova/.test(id));
}

function toRates(input: number, output: number, cacheRead: number, cacheWrite: number) {
  return { input, output, cacheRead, cacheWrite };
}

function toHighRates([above, ...rates]: NonNullable<Row[8]>) {
  return { above, ...toRates(...rates) };
}
