// The prompt of an evaluation as a reference in one text: the hash of its text, or that of its parts after a prefix.

const PARTS = "parts/";

export type PromptReference = { readonly ref: string; readonly parts?: true };

export function formatPromptReference({ ref, parts }: PromptReference): string {
  return parts === true ? `${PARTS}${ref}` : ref;
}

export function parsePromptReference(prompt: string): PromptReference {
  return prompt.startsWith(PARTS) ? { ref: prompt.slice(PARTS.length), parts: true } : { ref: prompt };
}
