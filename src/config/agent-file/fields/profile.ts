import { z } from "zod";
import { ThinkingLevel } from "../../../schema/model.ts";
import { defineField, describeKey, type Field, integerFrom, withExpected } from "../define-field.ts";

// Name and sampling fields of an agent: [agent.profile], its instances, and sub-agents (CFG-05, CFG-06).

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const Level = withExpected(
  z.string().regex(new RegExp(`^(${LEVELS.map(matchAnyCase).join("|")})$`)),
  '"off", "minimal", "low", "medium", "high", "xhigh" or "max"',
);

/** Returns a pattern that ignores case: JSON Schema has no flag for it. */
function matchAnyCase(text: string): string {
  return [...text].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");
}

export const SAMPLING_FIELDS: readonly Field[] = [
  defineField(
    "thinking_level",
    "thinking",
    describeKey(Level, "How much the model thinks: off, minimal, low, medium, high, xhigh or max.", "off"),
    {
      read: (value) => ThinkingLevel.safeParse(value).data ?? value,
    },
  ),
  defineField(
    "temperature",
    "temperature",
    describeKey(z.number().min(0).max(2), "0 to 2; the vendor's default if absent."),
  ),
  defineField(
    "max_tokens",
    "maxTokens",
    describeKey(integerFrom(1), "The maximum number of tokens of one answer; that of the model by default."),
  ),
  defineField(
    "config_id",
    "configId",
    describeKey(
      withExpected(z.string().regex(/^[A-Za-z0-9_-]+$/), "letters, digits, - and _"),
      "Part of the ids of loops; built from vendor and model by default.",
    ),
  ),
];

export const PROFILE_FIELDS: readonly Field[] = [
  defineField("name", "name", describeKey(z.string().min(1).max(120), "The agent's name in lists.", "agent")),
  defineField("description", "description", describeKey(z.string(), "Its purpose.")),
  ...SAMPLING_FIELDS,
];
