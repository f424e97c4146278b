import { type Contents, getContents, isCall, isResponse, type Part } from "./gemini-contents.ts";
import { createOpaqueText } from "./reply-parts.ts";
import type { ModelServerRequest } from "./request.ts";

/** The values that a client may send instead of a signature that it does not have. */
const SKIPPED_SIGNATURE = "skip_thought_signature_validator";

/** Computes the signature that identifies a call. */
export function computeSignature(name: unknown, args: unknown): string {
  return `Cg${createOpaqueText(`call ${String(name)} ${JSON.stringify(args ?? {})}`, 86)}`;
}

/** Returns `generateContent`'s own error text for a request; undefined for a valid one. */
export function validateGeminiRequest({ body, model }: ModelServerRequest): string | undefined {
  const contents = getContents(body);
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  const empty = contents.findIndex(({ parts }) => parts.length === 0);
  if (empty >= 0)
    return `* GenerateContentRequest.contents[${empty}].parts: contents.parts must not be empty.`;
  const signed = /^gemini-(?:[3-9]|\d\d)/.test(model);
  return (
    validateConfig(body, signed) ??
    validateTurns(contents) ??
    (signed ? findUnsignedCall(contents) : undefined)
  );
}

function validateConfig(body: ModelServerRequest["body"], signed: boolean): string | undefined {
  const config = (body["generationConfig"] ?? {}) as Record<string, unknown>;
  const thinking = (config["thinkingConfig"] ?? {}) as Record<string, unknown>;
  if (thinking["thinkingBudget"] !== undefined && thinking["thinkingLevel"] !== undefined)
    return "You can only set only one of thinking budget and thinking level.";
  if (thinking["thinkingLevel"] !== undefined && !signed)
    return "Thinking level is not supported for this model.";
  if (!signed && config["responseMimeType"] === "application/json" && body["tools"] !== undefined)
    return "Function calling with a response mime type: 'application/json' is unsupported";
  return undefined;
}

function validateTurns(contents: readonly Contents[]): string | undefined {
  for (const [at, { role, parts }] of contents.entries()) {
    const before = contents[at - 1];
    const calls = parts.filter(isCall).length;
    const responses = parts.filter(isResponse).length;
    const open = before?.role === "model" ? before.parts.filter(isCall).length : 0;
    if (calls > 0 && (role !== "model" || before === undefined))
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    if (responses > 0 && open === 0)
      return "Please ensure that function response turn comes immediately after a function call turn.";
    if (responses !== open)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  }
  const last = contents.at(-1);
  if (last?.role === "model" && last.parts.some(isCall))
    return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  return undefined;
}

/** Checks that the first call of each step of the current turn (since the last user message) is signed. */
function findUnsignedCall(contents: readonly Contents[]): string | undefined {
  const spoke = contents.findLastIndex(({ role, parts }) => role === "user" && !parts.some(isResponse));
  for (const [at, { parts }] of contents.entries()) {
    const first = at > spoke ? parts.find(isCall) : undefined;
    const objection = first === undefined ? undefined : validateSignature(first, at);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

function validateSignature(part: Part, at: number): string | undefined {
  const { name, args } = part["functionCall"] as { name?: unknown; args?: unknown };
  const signature = part["thoughtSignature"];
  if (signature === undefined) {
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(name)}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
  }
  return signature === SKIPPED_SIGNATURE || signature === computeSignature(name, args)
    ? undefined
    : "Thought signature is not valid.";
}
