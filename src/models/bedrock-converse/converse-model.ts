import type { ModelConfig } from "../../schema/model.ts";
import { type ClaudeModel, describeClaudeModel } from "../claude-model.ts";

// One API, many vendors' models: where they differ on the wire. Ids look like `anthropic.claude-…`, with a region before
// (`us.`, `global.`) or an ARN around it. An ARN of one's own inference profile says nothing; `thinkingStyle` does.

export type ConverseModel = {
  /** How it is told to think, which fields go back of what it thought. */
  readonly family: "claude" | "nova-2" | "gpt-oss" | "openai" | "other";
  readonly claude?: ClaudeModel;
  /** Where a cache point may stand; elsewhere the request is refused. */
  readonly cache: "everywhere" | "not-in-tools" | "nowhere";
  /** Can be told which tool to call. */
  readonly takesToolChoice: boolean;
  /** Knows whether a tool's result is an error. */
  readonly takesStatus: boolean;
  /** Can be held to a JSON Schema. */
  readonly takesSchema: boolean;
};

const CLAUDE_WITHOUT_CACHE = /claude-(?:instant|v?2|3-(?:haiku|sonnet|opus)|3-5-sonnet-20240620)/;

/** Vendors whose models refuse the status of a result. */
const MODELS_WITHOUT_STATUS =
  /(?:^|[./])(?:meta|mistral|cohere|ai21|deepseek|qwen|openai|google|minimax|moonshot|moonshotai|nvidia|writer|zai)\./;

/** Models that the page "Get validated JSON results from models" of the user guide names. */
const MODELS_WITH_SCHEMA =
  /claude-(?:haiku|sonnet|opus)-4-5|claude-opus-4-6|qwen\.qwen3|openai\.gpt-oss|deepseek\.v3|google\.gemma-3|minimax\.minimax-m2|mistral\.(?:magistral|ministral-3|mistral-large-3)|moonshot(?:ai)?\.kimi-k2|nvidia\.nemotron-nano/;

export function describeConverseModel({ id, thinkingStyle }: ModelConfig): ConverseModel {
  const plain = {
    cache: "nowhere",
    takesToolChoice: false,
    takesStatus: !MODELS_WITHOUT_STATUS.test(id),
    takesSchema: MODELS_WITH_SCHEMA.test(id),
  } as const;
  const claude = describeClaude(id, thinkingStyle);
  if (claude !== undefined) {
    return {
      ...plain,
      family: "claude",
      claude,
      cache: CLAUDE_WITHOUT_CACHE.test(id) ? "nowhere" : "everywhere",
      takesToolChoice: claude.takesToolChoice,
    };
  }
  if (/amazon\.nova-(?!canvas|reel|sonic)/.test(id)) {
    const family = /nova-2-/.test(id) ? "nova-2" : "other";
    return { ...plain, family, cache: "not-in-tools", takesToolChoice: true };
  }
  if (/openai\.gpt-oss/.test(id)) return { ...plain, family: "gpt-oss" };
  return { ...plain, family: /openai\./.test(id) ? "openai" : "other" };
}

/** What the definition says about thinking goes before what the name says. */
function describeClaude(id: string, style: ModelConfig["thinkingStyle"]): ClaudeModel | undefined {
  const configured = style === "budget" || style === "adaptive" ? style : undefined;
  if (configured === undefined && !/claude/.test(id)) return undefined;
  const named = describeClaudeModel(id);
  if (configured === undefined || configured === named.thinking) return named;
  const older = configured === "budget";
  return { ...named, thinking: configured, takesTemperature: older, takesToolChoice: older };
}

/** The vendor behind Bedrock, as its ids name it. */
function findMaker(id: string): string | undefined {
  return /claude/.test(id) ? "anthropic" : /(?:^|[./])([a-z0-9]+)\.[a-z]/.exec(id)?.[1];
}

/** Whether what one model thought may go to the other: tokens of another vendor's models are refused. */
export function canReadThoughts(model: ModelConfig, author: string): boolean {
  const reader = describeConverseModel(model).family === "claude" ? "anthropic" : findMaker(model.id);
  const writer = findMaker(author);
  return author === model.id || reader === undefined || writer === undefined || reader === writer;
}
