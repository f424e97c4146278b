// What OpenAI's models take, where their names are the only thing that tells.

/** Reasoning models, also behind a router (`openai/gpt-6-sol`) and as a deployment that bears the model's name. */
const REASONING = /(?:^|\/)(?:o\d|gpt-(?:5|[6-9]|\d\d))/;

/** `chat` are the models of ChatGPT, which answer at once. */
const PLAIN = /(?:^|\/)(?:gpt-[34]|chatgpt)|-chat(?:-|$)/;

export function reasonsByName(modelId: string): boolean {
  return REASONING.test(modelId) && !answersAtOnceByName(modelId);
}

/** Known not to reason; of others nothing is known. */
export function answersAtOnceByName(modelId: string): boolean {
  return PLAIN.test(modelId);
}
