import type { ModelDigest, ToolDigest } from "../core/machine/state/digest.ts";

// What crosses history of a run whose words are not shown. The transcript has them all the same.

type RedactionOption = { readonly words?: "none" };

/** What a vendor has refused with is a failure's message: it stays, and so do arguments that do not fit, for the model. */
export function redactAnswer({ words: redactContent }: RedactionOption, digest: ModelDigest): ModelDigest {
  if (redactContent !== "none") return digest;
  const calls = digest.calls.map((call) => ({ ...call, summary: "" }));
  if (digest.overflow === true || digest.preview === "") return { ...digest, calls };
  return { ...digest, calls, preview: "", withheld: true };
}

export function redactResult({ words: redactContent }: RedactionOption, digest: ToolDigest): ToolDigest {
  return redactContent === "none" ? { ...digest, preview: "" } : digest;
}
