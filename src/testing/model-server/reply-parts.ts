import { createHash } from "node:crypto";
import type { Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";

/** The default number of characters in a delta, about what vendors send. */
export const DEFAULT_CHUNK_SIZE = 24;

/** Splits a text into deltas of whole characters. */
export function chunkText(text: string, size: number): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + size, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Creates letters that look like a vendor's id or token; the same for the same seed. */
export function createOpaqueText(seed: string, length: number): string {
  let letters = "";
  for (let block = 0; letters.length < length; block++) {
    letters += createHash("sha512").update(`${block}:${seed}`).digest("base64").replace(/[+/=]/g, "");
  }
  return letters.slice(0, length);
}

export function formatArguments(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

/** Parses the arguments into a value, for answers that are not streamed. */
export function parseArguments(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return {};
  }
}

export type FullUsage = {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
};

/** Returns the script's counts, and estimates at 4 bytes a token those that it omits. */
export function computeUsage(reply: Reply, question: ModelServerRequest): FullUsage {
  const counts = reply.usage ?? {};
  const thinking = getThinking(reply)?.text.length ?? 0;
  const calls = (reply.toolCalls ?? []).reduce(
    (sum, call) => sum + call.name.length + formatArguments(call.arguments).length,
    0,
  );
  const reasoning = counts.reasoning ?? Math.ceil(thinking / 4);
  return {
    input: counts.input ?? question.cached?.uncached ?? Math.ceil(question.bytes / 4),
    output: counts.output ?? reasoning + Math.ceil(((reply.text?.length ?? 0) + calls) / 4) + 1,
    reasoning,
    cacheRead: counts.cacheRead ?? question.cached?.read ?? 0,
    cacheWrite: counts.cacheWrite ?? question.cached?.write ?? 0,
  };
}

export function getThinking(
  reply: Reply,
): { text: string; signature?: string | undefined; redacted?: boolean | undefined } | undefined {
  return typeof reply.thinking === "string" ? { text: reply.thinking } : reply.thinking;
}

export function getStop(reply: Reply): string {
  return reply.stop ?? ((reply.toolCalls?.length ?? 0) > 0 ? "toolUse" : "stop");
}
