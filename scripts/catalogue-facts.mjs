// Facts about models that the price list does not have: which models are listed, output limits and capabilities, with the
// source pages. `node scripts/catalogue.mjs` combines both.

/** The day whose prices apply, if the list has several. */
export const AS_OF = "2026-11-22";

/** The version of the price list, and its date of publication. */
export const PRICES = { package: "@pydantic/genai-prices", version: "0.1.8", date: "2026-09-23" };

const CLAUDE = "platform.claude.com/docs/en/about-claude/models/overview";
const GPT = "developers.openai.com/api/docs/models";
const GEMINI = "ai.google.dev/gemini-api/docs/models";

/** The first match in any vendor's name of a model applies. `output`: the maximum number of tokens in an answer. */
export const FACTS = [
  { id: /claude-(?:opus-4(?:-[01]|\b(?![-.]))|opus-4-\d{8})/, output: 32_000, from: CLAUDE },
  { id: /claude-(?:opus|haiku|sonnet)-4[-.]5/, output: 64_000, from: CLAUDE },
  { id: /claude-sonnet-4/, output: 64_000, from: CLAUDE },
  { id: /claude-(?:opus|sonnet|haiku|fable|mythos)-/, output: 128_000, from: CLAUDE },
  { id: /gpt-4\.1/, output: 32_768, from: GPT },
  { id: /gpt-4o/, output: 16_384, from: GPT },
  { id: /gpt-5(?:\.\d)?-chat|gpt-5\.3$/, output: 16_384, from: GPT },
  { id: /gpt-5-pro/, output: 272_000, from: GPT },
  { id: /gpt-oss/, from: GPT },
  { id: /gpt-[56]/, output: 128_000, from: GPT },
  { id: /(?:^|\/)o[134](?:-|$)/, output: 100_000, from: GPT },
  { id: /gemini-(?:2\.5|3)/, output: 65_536, window: 1_048_576, from: GEMINI },
];

/** Returns how thinking is configured for a model; `none` for models without thinking. */
export function getThinking(id) {
  if (/claude/.test(id))
    return /claude-(?:opus|sonnet|haiku)-4(?![-.][7-9](?!\d))/.test(id) ? "budget" : "adaptive";
  if (/gemini-2\.5/.test(id)) return "budget";
  if (/gemini-3/.test(id)) return "level";
  if (/(?:^|[/.])(?:o[134](?:-|$)|gpt-[56]|gpt-oss)/.test(id))
    return /-chat|gpt-5\.3$/.test(id) ? "none" : "effort";
  return /nova-2-/.test(id) ? "effort" : "none";
}

/** Returns a model's capabilities. All listed models have tools. `schema`: the model supports structured output. */
export function getAbilities(id) {
  const blind = /gpt-oss|nova-micro|qwen3(?!-vl)|o3-mini|deepseek/.test(id);
  const loose = /nova|llama|qwen|claude-(?:opus|sonnet)-4(?:-[01]|-\d{8}|$)/.test(id);
  return [...(blind ? [] : ["images"]), ...(loose ? [] : ["schema"])];
}

/** The current models of each vendor. Models for images, audio and embeddings are excluded. */
const OTHER =
  /image|audio|realtime|transcribe|tts|live|sonic|embed|search|research|codex-mini-latest|ft-|:|-fast$/;
export const VENDORS = [
  {
    provider: "anthropic",
    list: "anthropic",
    current: /^claude-(?:opus|sonnet|haiku|fable|mythos)-/,
    other: OTHER,
  },
  {
    provider: "openai",
    list: "openai",
    current: /^(?:gpt-4\.1|gpt-4o|gpt-[56]|o[134](?:-mini|-pro)?$)/,
    other: OTHER,
  },
  {
    provider: "google",
    list: "google",
    current: /^gemini-(?:2\.5|3)/,
    other: /image|tts|live|audio|embed|robotics|computer|native/,
  },
  {
    provider: "bedrock",
    list: "aws",
    current:
      /anthropic\.claude-(?:opus|sonnet|haiku|fable)-|amazon\.nova-|openai\.gpt-|meta\.llama4|qwen\.qwen3/,
    other: /sonic|canvas|reel|embed|safeguard/,
  },
  {
    provider: "openrouter",
    list: "openrouter",
    current: /^(?:anthropic\/claude-(?:opus|sonnet|haiku|fable)-|openai\/gpt-[56]|google\/gemini-(?:2\.5|3))/,
    other: OTHER,
  },
];
