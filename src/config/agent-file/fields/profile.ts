import { z } from "zod";
import { ThinkingLevel } from "../../../schema/model.ts";
import { defineField, describeKey, type Field, integerFrom, withExpected } from "../define-field.ts";

// How an agent is called and asked: [agent.profile], its instances, and sub-agents (CFG-05, CFG-06).

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const Level = withExpected(
  z.string().regex(new RegExp(`^(${LEVELS.map(matchAnyCase).join("|")})$`)),
  '"off", "minimal", "low", "medium", "high", "xhigh" or "max"',
);

/** A pattern instead of a flag: JSON Schema knows none. */
function matchAnyCase(text: string): string {
  return [...text].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");
}

export const SAMPLING_FIELDS: readonly Field[] = [
  defineField(
    "thinking_level",
    "thinking",
    describeKey(Level, "How long the model thinks: off, minimal, low, medium, high, xhigh or max.", "off"),
    {
      read: (value) => ThinkingLevel.safeParse(value).data ?? value,
    },
  ),
  defineField(
    "temperature",
    "temperature",
    describeKey(z.number().min(0).max(2), "0 to 2; the vendor's own unless said."),
  ),
  defineField(
    "max_tokens",
    "maxTokens",
    describeKey(integerFrom(1), "Tokens of one answer; the model's own number unless said."),
  ),
  defineField(
    "config_id",
    "configId",
    describeKey(
      withExpected(z.string().regex(/^[A-Za-z0-9_-]+$/), "letters, digits, - and _"),
      "Part of the ids of loops; made of vendor and model unless said.",
    ),
  ),
];

export const PROFILE_FIELDS: readonly Field[] = [
  defineField(
    "name",
    "name",
    describeKey(z.string().min(1).max(120), "The agent's name, as lists show it.", "agent"),
  ),
  defineField("description", "description", describeKey(z.string(), "What it is for.")),
  ...SAMPLING_FIELDS,
];
