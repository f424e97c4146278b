import type { ModelConfig } from "../../schema/model.ts";
import { type ClaudeModel, describeClaudeModel } from "../claude-model.ts";

// The differences of models on the wire of one API. Ids look like `anthropic.claude-…`, with a region before
// (`us.`, `global.`) or an ARN around it. The ARN of an inference profile tells nothing; configure `thinkingStyle` there.

export type ConverseModel = {
  /** How thinking is requested, and which fields are sent back with it. */
  readonly family: "claude" | "nova-2" | "gpt-oss" | "openai" | "other";
  readonly claude?: ClaudeModel;
  /** Where a cache point is allowed; the API rejects it elsewhere. */
  readonly cache: "everywhere" | "not-in-tools" | "nowhere";
  /** The model accepts a forced tool. */
  readonly takesToolChoice: boolean;
  /** The model accepts the status of a tool result. */
  readonly takesStatus: boolean;
  /** The model accepts a JSON Schema for its answer. */
  readonly takesSchema: boolean;
};

const CLAUDE_WITHOUT_CACHE = /claude-(?:instant|v?2|3-(?:haiku|sonnet|opus)|3-5-sonnet-20240620)/;

/** Vendors whose models reject the status of a result. */
const MODELS_WITHOUT_STATUS =
  /(?:^|[./])(?:meta|mistral|cohere|ai21|deepseek|qwen|openai|google|minimax|moonshot|moonshotai|nvidia|writer|zai)\./;

/** The models listed on the page "Get validated JSON results from models" of the user guide. */
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

/** The thinking style in the definition takes precedence over the model's name. */
function describeClaude(id: string, style: ModelConfig["thinkingStyle"]): ClaudeModel | undefined {
  const configured = style === "budget" || style === "adaptive" ? style : undefined;
  if (configured === undefined && !/claude/.test(id)) return undefined;
  const named = describeClaudeModel(id);
  if (configured === undefined || configured === named.thinking) return named;
  const older = configured === "budget";
  return { ...named, thinking: configured, takesTemperature: older, takesToolChoice: older };
}

/** Finds the vendor of the model, as Bedrock's ids name it. */
function findMaker(id: string): string | undefined {
  return /claude/.test(id) ? "anthropic" : /(?:^|[./])([a-z0-9]+)\.[a-z]/.exec(id)?.[1];
}

/** Returns whether the model accepts the author's thinking: tokens of another vendor's models are rejected. */
export function canReadThoughts(model: ModelConfig, author: string): boolean {
  const reader = describeConverseModel(model).family === "claude" ? "anthropic" : findMaker(model.id);
  const writer = findMaker(author);
  return author === model.id || reader === undefined || writer === undefined || reader === writer;
}
