import { type Content, GoogleGenAI, type GoogleGenAIOptions, type Part } from "@google/genai";
import type { AssistantMessage } from "../../src/schema/message.ts";

/** Vertex's answers are requested and read with the same SDK, configured for Vertex. */
export type Vendor = "google" | "vertex";

export const LOCATION = { project: "p", location: "us-central1" } as const;

export function createSdk(vendor: Vendor, options: GoogleGenAIOptions): GoogleGenAI {
  if (vendor === "google") return new GoogleGenAI({ apiKey: "k", vertexai: false, ...options });
  // With an existing token the SDK looks for no credentials.
  const authClient = { getRequestHeaders: async () => new Headers({ authorization: "Bearer t" }) };
  const googleAuthOptions = { authClient: authClient as never };
  return new GoogleGenAI({ ...LOCATION, vertexai: true, googleAuthOptions, ...options });
}

/** The SDK's reading of the bytes: the contents that its chat would send with the next request, and the last chunk. */
export async function readSdkAnswer(vendor: Vendor, bytes: Uint8Array) {
  const readAnswer = async () =>
    new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream" } });
  const models = createSdk(vendor, { httpOptions: { fetch: readAnswer } }).models;
  const stream = await models.generateContentStream({
    model: "gemini-3-flash-preview",
    contents: "x",
    config: { automaticContinuation: false },
  });
  const contents: Content[] = [];
  let finish: string | undefined;
  let usage: Record<string, unknown> = {};
  let responseId: string | undefined;
  let blocked: string | undefined;
  for await (const chunk of stream) {
    const [candidate] = chunk.candidates ?? [];
    if (candidate?.content !== undefined) contents.push(candidate.content);
    finish = candidate?.finishReason ?? finish;
    usage = { ...usage, ...chunk.usageMetadata };
    responseId = chunk.responseId ?? responseId;
    blocked = chunk.promptFeedback?.blockReason ?? blocked;
  }
  return { parts: contents.flatMap(({ parts = [] }) => parts), finish, usage, responseId, blocked };
}

/** Chunks of text joined, unless a signature separates them; empty chunks are left out. */
export function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.text === "" && part.thoughtSignature === undefined) continue;
    const goesOn =
      last?.text !== undefined &&
      part.text !== undefined &&
      last.thought === part.thought &&
      last.thoughtSignature === undefined &&
      part.thoughtSignature === undefined;
    if (goesOn) joined[joined.length - 1] = { ...last, text: `${last.text}${part.text}` };
    else joined.push(part);
  }
  return joined;
}

/** Our message in the vendor's types, without ids of our own. */
export function toParts({ content }: AssistantMessage): Part[] {
  return content.map((part): Part => {
    switch (part.type) {
      case "text":
        return { text: part.text, ...(part.signature && { thoughtSignature: part.signature }) };
      case "thinking":
        return {
          text: part.thinking,
          thought: true,
          ...(part.signature && { thoughtSignature: part.signature }),
        };
      case "toolCall": {
        const id = /^(google|vertex)-fc-\d+$/.test(part.id) ? {} : { id: part.id };
        return {
          functionCall: { ...id, name: part.name, args: part.arguments as Record<string, unknown> },
          ...(part.signature && { thoughtSignature: part.signature }),
        };
      }
      case "vendor":
        return part.data as Part;
      default:
        throw new Error(`nobody answers with ${part.type}`);
    }
  });
}
