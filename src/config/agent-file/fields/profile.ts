import { z } from "zod";
import { ThinkingLevel } from "../../../schema/model.ts";
import { expecting, type Field, field, said, wholeFrom } from "../field.ts";

// How an agent is called and asked: [agent.profile], its instances, and sub-agents (CFG-05, CFG-06).

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const Level = expecting(
  z.string().regex(new RegExp(`^(${LEVELS.map(inAnyCase).join("|")})$`)),
  '"off", "minimal", "low", "medium", "high", "xhigh" or "max"',
);

/** A pattern instead of a flag: JSON Schema knows none. */
function inAnyCase(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");
}

export const MANNER_FIELDS: readonly Field[] = [
  field(
    "thinking_level",
    "thinking",
    said(Level, "How long the model thinks: off, minimal, low, medium, high, xhigh or max.", "off"),
    {
      read: (value) => ThinkingLevel.safeParse(value).data ?? value,
    },
  ),
  field(
    "temperature",
    "temperature",
    said(z.number().min(0).max(2), "0 to 2; the vendor's own unless said."),
  ),
  field(
    "max_tokens",
    "maxTokens",
    said(wholeFrom(1), "Tokens of one answer; the model's own number unless said."),
  ),
  field(
    "config_id",
    "configId",
    said(
      expecting(z.string().regex(/^[A-Za-z0-9_-]+$/), "letters, digits, - and _"),
      "Part of the ids of loops; made of vendor and model unless said.",
    ),
  ),
];

export const PROFILE_FIELDS: readonly Field[] = [
  field("name", "name", said(z.string().min(1).max(120), "The agent's name, as lists show it.", "agent")),
  field("description", "description", said(z.string(), "What it is for.")),
  ...MANNER_FIELDS,
];
