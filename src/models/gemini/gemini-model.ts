import type { ModelConfig } from "../../schema/model.ts";

// The differences of Gemini models on the wire, by name, from the vendor's pages on thinking and on signatures.

export const THINKING_LEVELS = ["MINIMAL", "LOW", "MEDIUM", "HIGH"] as const;
export type ThinkingLevelName = (typeof THINKING_LEVELS)[number];

export type ThinkingSupport =
  | { readonly by: "level"; readonly levels: readonly [ThinkingLevelName, ...ThinkingLevelName[]] }
  /** In tokens. `canBeOff`: thinking can be disabled. */
  | { readonly by: "budget"; readonly min: number; readonly max: number; readonly canBeOff: boolean };

export type GeminiModel = {
  /**
   * Gemini 3 or later: calls in the history require their signatures, images are part of results, and an answer format
   * can be combined with tools.
   */
  readonly signsParts: boolean;
  /** Absent: thinking cannot be configured. */
  readonly thinking: ThinkingSupport | undefined;
};

const BY_LEVEL = { by: "level", levels: THINKING_LEVELS } as const;
const BY_BUDGET = { by: "budget", min: 1, max: 24_576, canBeOff: true } as const;

export function describeGeminiModel({
  id,
  thinkingStyle,
}: Pick<ModelConfig, "id" | "thinkingStyle">): GeminiModel {
  const name = id.slice(id.lastIndexOf("/") + 1).toLowerCase();
  const version = parseVersion(name);
  const thinking = describeThinking(name, version);
  const signs = version >= 3 || (thinkingStyle === "level" && version === 0);
  switch (thinkingStyle) {
    case "level":
      return { signsParts: signs, thinking: thinking?.by === "level" ? thinking : BY_LEVEL };
    case "budget":
      return { signsParts: signs, thinking: thinking?.by === "budget" ? thinking : BY_BUDGET };
    case "adaptive":
      return { signsParts: signs, thinking: thinking ?? BY_BUDGET };
    default:
      return { signsParts: signs, thinking };
  }
}

/** Returns 0 for names outside the family. Names without a number (`gemini-flash-latest`) follow the newest. */
function parseVersion(name: string): number {
  const found = /^gemini-(\d+(?:\.\d+)?)?/.exec(name);
  if (found === null) return 0;
  return found[1] === undefined ? Number.POSITIVE_INFINITY : Number(found[1]);
}

function describeThinking(name: string, version: number): ThinkingSupport | undefined {
  if (version < 2.5 || /-(?:image|tts|live|audio|embedding)/.test(name)) return undefined;
  const pro = /-pro\b/.test(name);
  if (version >= 3) {
    if (!pro) return BY_LEVEL;
    return { by: "level", levels: version < 3.1 ? ["LOW", "HIGH"] : ["LOW", "MEDIUM", "HIGH"] };
  }
  if (pro) return { by: "budget", min: 128, max: 32_768, canBeOff: false };
  return name.includes("flash-lite") ? { ...BY_BUDGET, min: 512 } : BY_BUDGET;
}
