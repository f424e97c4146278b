import type { JsonObject } from "../../platform/text/json.ts";

// The JSON of ConverseStream. Bytes (of an image, of an encrypted block) are base64 on the wire.

export type CachePoint = { readonly cachePoint: { readonly type: "default" } };

export type WireText = { readonly text: string };
type WireImage = {
  readonly image: { readonly format: string; readonly source: { readonly bytes: string } };
};
/** A PDF document. A message with one needs a text, too. */
type WireDocument = {
  readonly document: {
    readonly format: "pdf";
    readonly name: string;
    readonly source: { readonly bytes: string };
  };
};
export type WirePart = WireText | WireImage | WireDocument;
type WireReasoning = {
  readonly reasoningContent:
    | { readonly reasoningText: { readonly text: string; readonly signature?: string } }
    | { readonly redactedContent: string };
};
type WireToolUse = {
  readonly toolUse: { readonly toolUseId: string; readonly name: string; readonly input: JsonObject };
};
type WireToolResult = {
  readonly toolResult: {
    readonly toolUseId: string;
    readonly content: readonly WirePart[];
    readonly status?: "success" | "error";
  };
};
type WireCited = {
  readonly citationsContent: {
    readonly content: readonly WireText[];
    readonly citations: readonly JsonObject[];
  };
};
export type WireBlock = WirePart | WireCited | WireReasoning | WireToolUse | WireToolResult | CachePoint;
export type WireMessage = { readonly role: "user" | "assistant"; readonly content: readonly WireBlock[] };

export type WireTool = {
  readonly toolSpec: {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: { readonly json: JsonObject };
  };
};

/** The body of `POST /model/ID/converse-stream`. */
export type WireRequest = {
  readonly messages: readonly WireMessage[];
  readonly system?: readonly (WireText | CachePoint)[];
  readonly inferenceConfig?: { readonly maxTokens?: number; readonly temperature?: number };
  readonly toolConfig?: {
    readonly tools: readonly (WireTool | CachePoint)[];
    readonly toolChoice?: { readonly tool: { readonly name: string } };
  };
  /** Fields that only one vendor's models support. */
  readonly additionalModelRequestFields?: JsonObject;
  readonly outputConfig?: {
    readonly textFormat: {
      readonly type: "json_schema";
      readonly structure: { readonly jsonSchema: { readonly schema: string; readonly name: string } };
    };
  };
  readonly serviceTier?: { readonly type: string };
};
