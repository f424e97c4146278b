// Phrases with which vendors report that the input does not fit the model: OVF-02, OVF-03.

export type OverflowPhrase = {
  /** In lower case, with blanks instead of underscores. */
  readonly phrase: string;
  readonly vendor: string;
  /** The requirement that lists the phrase, or a public page that quotes the vendor's answer. */
  readonly source: string;
  /** Not listed in the requirements; all other phrases are (GAP-02). */
  readonly isOurs?: true;
  /** Vendors also use the phrase for throttling, so it is ignored if the status is 429. */
  readonly isAmbiguous?: true;
};

export const OVERFLOW_PHRASES: readonly OverflowPhrase[] = [
  { phrase: "prompt is too long", vendor: "Anthropic", source: "OVF-03" },
  { phrase: "input is too long", vendor: "Bedrock", source: "OVF-03" },
  { phrase: "exceeds the context window", vendor: "OpenAI", source: "OVF-03" },
  { phrase: "exceeds the maximum", vendor: "Google", source: "OVF-03", isAmbiguous: true },
  { phrase: "maximum prompt length", vendor: "xAI", source: "OVF-03" },
  { phrase: "reduce the length of the messages", vendor: "Groq", source: "OVF-03" },
  {
    phrase: "maximum context length",
    vendor: "OpenRouter, OpenAI, vLLM, Mistral, DeepSeek",
    source: "OVF-03",
  },
  // Also the error code `context_length_exceeded` of OpenAI and its imitators.
  { phrase: "context length exceeded", vendor: "any", source: "OVF-03" },
  { phrase: "too many tokens", vendor: "any", source: "OVF-03", isAmbiguous: true },
  // "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it"
  {
    phrase: "exceeds the available context size",
    vendor: "llama.cpp",
    source: "https://github.com/ggml-org/llama.cpp/pull/15780",
    isOurs: true,
  },
  // "The number of tokens to keep from the initial prompt is greater than the context length"
  {
    phrase: "greater than the context length",
    vendor: "LM Studio",
    source: "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2205",
    isOurs: true,
  },
  // "invalid params, context window exceeds limit (2013)"
  {
    phrase: "context window exceeds limit",
    vendor: "MiniMax",
    source: "https://github.com/MiniMax-AI/MiniMax-M2/issues/119",
    isOurs: true,
  },
  // "Your request exceeded model token limit: 262144 (requested: 269030)"
  {
    phrase: "exceeded model token limit",
    vendor: "Kimi",
    source: "https://github.com/MoonshotAI/kimi-cli/issues/2011",
    isOurs: true,
  },
  // "prompt token count of 65446 exceeds the limit of 64000"
  {
    phrase: "prompt token count of",
    vendor: "GitHub Copilot",
    source: "https://github.com/microsoft/vscode-copilot-release/issues/6700",
    isOurs: true,
  },
  // "input length and `max_tokens` exceed context limit: 184915 + 20000 > 204648"
  {
    phrase: "exceed context limit",
    vendor: "Anthropic",
    source: "https://github.com/anthropics/claude-code/issues/228",
    isOurs: true,
  },
];

/** Checks whether an error's text reports that the input does not fit the model (OVF-02, OVF-03). */
export function isOverflowText(text: string, status?: number): boolean {
  const searched = text.toLowerCase().replaceAll("_", " ");
  return OVERFLOW_PHRASES.some(
    ({ phrase, isAmbiguous }) => !(isAmbiguous === true && status === 429) && searched.includes(phrase),
  );
}

/** Checks for an overflow. OVF-02: Cerebras and Mistral return an empty body when the input does not fit. */
export function isOverflow(status: number, body: string): boolean {
  if ((status === 400 || status === 413) && body.trim() === "") return true;
  return isOverflowText(body, status);
}
