import type { ModelDigest, ToolDigest } from "../core/machine/state/digest.ts";

// The parts of digests that cross history in a run with redacted content. The transcript still contains everything.

type RedactionOption = { readonly redactContent?: true };

/**
 * Redacts the digest of an answer. The message of a vendor's failure stays, and so do invalid arguments, which the
 * model needs.
 */
export function redactAnswer({ redactContent }: RedactionOption, digest: ModelDigest): ModelDigest {
  if (redactContent !== true) return digest;
  const calls = digest.calls.map((call) => ({ ...call, summary: "" }));
  if (digest.isOverflow === true || digest.preview === "") return { ...digest, calls };
  return { ...digest, calls, preview: "", isWithheld: true };
}

export function redactResult({ redactContent }: RedactionOption, digest: ToolDigest): ToolDigest {
  if (redactContent !== true) return digest;
  const { endsLoop } = digest;
  return {
    ...digest,
    preview: "",
    ...(endsLoop === undefined ? {} : { endsLoop: { ...endsLoop, reason: "" } }),
  };
}
