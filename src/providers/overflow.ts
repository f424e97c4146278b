type Phrase = {
  readonly phrase: string;
  readonly vendor: string;
  /** Chosen by us from what the vendor is known to answer; the others are named by the requirements. */
  readonly ours?: true;
  /** Vendors use the same words for throttling, so they say nothing when the status is 429. */
  readonly ambiguous?: true;
};

/** What vendors answer when the input does not fit. Lower case, with blanks for underscores. */
export const OVERFLOW_PHRASES: readonly Phrase[] = [
  { phrase: "prompt is too long", vendor: "Anthropic" },
  { phrase: "input is too long", vendor: "Bedrock" },
  { phrase: "exceeds the context window", vendor: "OpenAI" },
  { phrase: "exceeds the maximum", vendor: "Google", ambiguous: true },
  { phrase: "maximum prompt length", vendor: "xAI" },
  { phrase: "reduce the length of the messages", vendor: "Groq" },
  { phrase: "maximum context length", vendor: "OpenRouter, OpenAI, vLLM, Mistral, DeepSeek" },
  // Also the error code `context_length_exceeded` of OpenAI and its imitators.
  { phrase: "context length exceeded", vendor: "any" },
  { phrase: "too many tokens", vendor: "any", ambiguous: true },
  // "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it"
  { phrase: "exceeds the available context size", vendor: "llama.cpp", ours: true },
  // "The number of tokens to keep from the initial prompt is greater than the context length"
  { phrase: "greater than the context length", vendor: "LM Studio", ours: true },
  // "invalid params, context window exceeds limit (2013)"
  { phrase: "context window exceeds limit", vendor: "MiniMax", ours: true },
  // "Your request exceeded model token limit: 262144"
  { phrase: "exceeded model token limit", vendor: "Kimi", ours: true },
  // "prompt token count of 135000 exceeds the limit of 128000"
  { phrase: "prompt token count of", vendor: "GitHub Copilot", ours: true },
  // "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"
  { phrase: "exceed context limit", vendor: "Anthropic", ours: true },
];

/** Whether an error's text says that the input did not fit the model (OVF-02, OVF-03). */
export function isOverflowText(text: string, status?: number): boolean {
  const searched = text.toLowerCase().replaceAll("_", " ");
  return OVERFLOW_PHRASES.some(
    ({ phrase, ambiguous }) => !(ambiguous === true && status === 429) && searched.includes(phrase),
  );
}

/** OVF-02: Cerebras and Mistral say nothing at all when the input does not fit. */
export function isOverflow(status: number, body: string): boolean {
  if ((status === 400 || status === 413) && body.trim() === "") return true;
  return isOverflowText(body, status);
}
