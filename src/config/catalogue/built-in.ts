import { ANTHROPIC } from "./data/anthropic.ts";
import { BEDROCK } from "./data/bedrock.ts";
import { GOOGLE } from "./data/google.ts";
import { OPENAI } from "./data/openai.ts";
import { OPENROUTER } from "./data/openrouter.ts";
import { YOUNGER } from "./data/younger.ts";
import type { CatalogueEntry } from "./entry.ts";
import type { Row, Thinking } from "./row.ts";

/** The price list that the rows were made from, and its day. */
const LIST = { source: "@pydantic/genai-prices 0.1.8", date: "2026-09-23" } as const;

const ROWS = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  google: GOOGLE,
  bedrock: BEDROCK,
  openrouter: OPENROUTER,
} as const satisfies Record<string, readonly Row[]>;

export const BUILT_IN: readonly CatalogueEntry[] = [
  ...Object.entries(ROWS).flatMap(([provider, rows]) => rows.map((row) => entryOf(provider, row, LIST))),
  ...YOUNGER.map(({ provider, row, source, date }) => entryOf(provider, row, { source, date })),
];

function entryOf(provider: string, row: Row, from: Pick<CatalogueEntry, "source" | "date">): CatalogueEntry {
  const [id, contextWindow, maxTokens, input, output, cacheRead, cacheWrite, words, dearer] = row;
  const [thinking, ...abilities] = words.split(" ");
  return {
    name: `${provider}/${id}`,
    provider,
    id,
    ...(contextWindow !== null && { contextWindow }),
    ...(maxTokens !== null && { maxTokens }),
    cost: {
      ...ratesOf(input, output, cacheRead, cacheWrite),
      ...(dearer !== undefined && { dearer: dearerOf(dearer) }),
    },
    thinking: thinking as Thinking,
    tools: true,
    images: abilities.includes("images"),
    structuredOutput: abilities.includes("schema"),
    ...from,
  };
}

function ratesOf(input: number, output: number, cacheRead: number, cacheWrite: number) {
  return { input, output, cacheRead, cacheWrite };
}

function dearerOf([above, ...rates]: NonNullable<Row[8]>) {
  return { above, ...ratesOf(...rates) };
}
