import type { WireMessage } from "./question.ts";

export type Part = Readonly<Record<string, unknown>>;
export type Contents = { readonly role: unknown; readonly parts: readonly Part[] };

/** What Google names in the path and others in the body. */
export type NamedInPath = { readonly model: string; readonly stream: boolean };

/** Behind `/v1…` a model, on Vertex a project or a publisher before it. */
const PATH = /^\/v1(?:beta\d*)?((?:\/[^/]+)*)\/models\/([^/:]+):(stream)?[gG]enerateContent$/;

export function geminiRoad(path: string) {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  const [, before, model = "", stream] = found;
  const protocol = before === "" ? ("google_generative_ai" as const) : ("google_vertex" as const);
  return { protocol, named: { model: decodeURIComponent(model), stream: stream !== undefined } };
}

export function contentsOf(body: Readonly<Record<string, unknown>>): readonly Contents[] {
  const { contents } = body;
  if (!Array.isArray(contents)) return [];
  return contents.map((content: { role?: unknown; parts?: unknown } | null) => ({
    role: content?.role ?? "user",
    parts: partsOf(content?.parts),
  }));
}

function partsOf(parts: unknown): readonly Part[] {
  return Array.isArray(parts) ? parts.filter((part) => typeof part === "object" && part !== null) : [];
}

/** In the words that scripts are matched by. */
export function messagesOfContents(body: Readonly<Record<string, unknown>>): readonly WireMessage[] {
  return contentsOf(body).map(({ role, parts }) => ({
    role: role === "model" ? "assistant" : "user",
    content: parts.map((part) => (isResponse(part) ? { content: resultIn(part) } : part)),
  }));
}

export function systemOfContents(body: Readonly<Record<string, unknown>>): readonly Part[] {
  return partsOf((body["systemInstruction"] as { parts?: unknown } | undefined)?.parts);
}

export function isCall(part: Part): boolean {
  return typeof part["functionCall"] === "object" && part["functionCall"] !== null;
}

export function isResponse(part: Part): boolean {
  return typeof part["functionResponse"] === "object" && part["functionResponse"] !== null;
}

function resultIn(part: Part): string {
  const { response } = part["functionResponse"] as { response?: Record<string, unknown> };
  return String(response?.["result"] ?? response?.["error"] ?? "");
}
