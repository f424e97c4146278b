import type { JsonObject } from "../../platform/text/json.ts";

/** OpenRouter's mark for models whose vendor requires to be told where a prompt may be cached. */
type CacheMark = { readonly cache_control?: { readonly type: "ephemeral" } };

export type WireText = { readonly type: "text"; readonly text: string } & CacheMark;

export type WirePart =
  | WireText
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } };

type WireCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export type WireMessage =
  | { readonly role: "system" | "developer"; readonly content: string | readonly WireText[] }
  | { readonly role: "user"; readonly content: string | readonly WirePart[] }
  | {
      readonly role: "assistant";
      readonly content: string | readonly WireText[] | null;
      readonly tool_calls?: readonly WireCall[];
      readonly reasoning_content?: string;
      readonly reasoning_details?: readonly unknown[];
    }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly content: string | readonly WireText[];
      readonly name?: string;
    };

export type WireTool = {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
};

/** The body of `POST /chat/completions`. */
export type WireRequest = {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream: true;
  readonly stream_options?: { readonly include_usage: true };
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: { readonly type: "function"; readonly function: { readonly name: string } } | "none";
  readonly response_format?:
    | { readonly type: "json_object" }
    | {
        readonly type: "json_schema";
        readonly json_schema: {
          readonly name: string;
          readonly schema: JsonObject;
          readonly strict: boolean;
        };
      };
  readonly store?: false;
  readonly prompt_cache_key?: string;
  readonly verbosity?: string;
  readonly service_tier?: string;
  readonly reasoning_effort?: string;
  readonly reasoning?: { readonly effort: string };
  readonly enable_thinking?: boolean;
};
