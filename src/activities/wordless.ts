import type { ModelDigest, ToolDigest } from "../core/machine/state/digest.ts";

// What crosses history of a run whose words are not shown. The transcript has them all the same.

type Asked = { readonly words?: "none" };

/** What a vendor has refused with is a failure's message: it stays, and so do arguments that do not fit, for the model. */
export function answerToldTo({ words }: Asked, digest: ModelDigest): ModelDigest {
  if (words !== "none") return digest;
  const calls = digest.calls.map((call) => ({ ...call, summary: "" }));
  if (digest.overflow === true || digest.preview === "") return { ...digest, calls };
  return { ...digest, calls, preview: "", withheld: true };
}

export function resultToldTo({ words }: Asked, digest: ToolDigest): ToolDigest {
  return words === "none" ? { ...digest, preview: "" } : digest;
}
