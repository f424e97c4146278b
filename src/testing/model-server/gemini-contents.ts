import type { WireMessage } from "./request.ts";

export type Part = Readonly<Record<string, unknown>>;
export type Contents = { readonly role: unknown; readonly parts: readonly Part[] };

/** The parameters that Google takes in the path and other vendors in the body. */
export type PathParameters = { readonly model: string; readonly stream: boolean };

/** Parses a path: after `/v1…` a model, on Vertex after a project or a publisher. */
const PATH = /^\/v1(?:beta\d*)?((?:\/[^/]+)*)\/models\/([^/:]+):(stream)?[gG]enerateContent$/;

export function parseGeminiPath(path: string) {
  const match = PATH.exec(path);
  if (match === null) return undefined;
  const [, before, model = "", stream] = match;
  const protocol = before === "" ? ("google_generative_ai" as const) : ("google_vertex" as const);
  return { protocol, pathParameters: { model: decodeURIComponent(model), stream: stream !== undefined } };
}

export function getContents(body: Readonly<Record<string, unknown>>): readonly Contents[] {
  const { contents } = body;
  if (!Array.isArray(contents)) return [];
  return contents.map((content: { role?: unknown; parts?: unknown } | null) => ({
    role: content?.role ?? "user",
    parts: toParts(content?.parts),
  }));
}

function toParts(parts: unknown): readonly Part[] {
  return Array.isArray(parts) ? parts.filter((part) => typeof part === "object" && part !== null) : [];
}

/** Converts the contents to the messages that scripts match. */
export function toGeminiMessages(body: Readonly<Record<string, unknown>>): readonly WireMessage[] {
  return getContents(body).map(({ role, parts }) => ({
    role: role === "model" ? "assistant" : "user",
    content: parts.map((part) => (isResponse(part) ? { content: formatResult(part) } : part)),
  }));
}

export function getSystemParts(body: Readonly<Record<string, unknown>>): readonly Part[] {
  return toParts((body["systemInstruction"] as { parts?: unknown } | undefined)?.parts);
}

export function isCall(part: Part): boolean {
  return typeof part["functionCall"] === "object" && part["functionCall"] !== null;
}

export function isResponse(part: Part): boolean {
  return typeof part["functionResponse"] === "object" && part["functionResponse"] !== null;
}

function formatResult(part: Part): string {
  const { response } = part["functionResponse"] as { response?: Record<string, unknown> };
  return String(response?.["result"] ?? response?.["error"] ?? "");
}
