import type { ModelDigest, ToolDigest } from "../core/machine/state/digest.ts";

// The parts of digests that cross history in a run with redacted content. The transcript still contains everything.

type RedactionOption = { readonly words?: "none" };

/**
 * Redacts the digest of an answer. The message of a vendor's failure stays, and so do invalid arguments, which the
 * model needs.
 */
export function redactAnswer({ words: redactContent }: RedactionOption, digest: ModelDigest): ModelDigest {
  if (redactContent !== "none") return digest;
  const calls = digest.calls.map((call) => ({ ...call, summary: "" }));
  if (digest.overflow === true || digest.preview === "") return { ...digest, calls };
  return { ...digest, calls, preview: "", withheld: true };
}

export function redactResult({ words: redactContent }: RedactionOption, digest: ToolDigest): ToolDigest {
  return redactContent === "none" ? { ...digest, preview: "" } : digest;
}
