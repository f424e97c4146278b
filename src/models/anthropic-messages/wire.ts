import type { JsonObject } from "../../platform/text/json.ts";
import type { ThinkingFields } from "../claude-thinking-fields.ts";

type CacheMark = { readonly cache_control?: { readonly type: "ephemeral" } };

export type WireText = {
  readonly type: "text";
  readonly text: string;
  readonly citations?: readonly JsonObject[];
} & CacheMark;
type WireImage = {
  readonly type: "image";
  readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
} & CacheMark;
/** A PDF document. */
type WireDocument = {
  readonly type: "document";
  readonly source: { readonly type: "base64"; readonly media_type: "application/pdf"; readonly data: string };
  readonly title: string;
} & CacheMark;
export type WirePart = WireText | WireImage | WireDocument;
export type WireBlock =
  | WirePart
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | ({
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: JsonObject;
    } & CacheMark)
  | ({
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content: readonly WirePart[];
      readonly is_error: boolean;
    } & CacheMark);

export type WireMessage = { readonly role: "user" | "assistant"; readonly content: readonly WireBlock[] };

export type WireTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
} & CacheMark;

/** The body of `POST /v1/messages`. */
export type WireRequest = Omit<ThinkingFields, "output_config"> & {
  readonly model: string;
  readonly stream: true;
  readonly system?: readonly WireText[];
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: { readonly type: "tool"; readonly name: string } | { readonly type: "none" };
  readonly temperature?: number;
  readonly output_config?: { readonly effort?: string; readonly format?: JsonObject };
  readonly service_tier?: string;
};
