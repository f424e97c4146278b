import type { JsonObject } from "../../platform/text/json.ts";

type WireText = { readonly type: "input_text"; readonly text: string };
type WireImage = {
  readonly type: "input_image";
  readonly detail: "auto";
  readonly image_url: string;
};
type WireFile = { readonly type: "input_file"; readonly filename: string; readonly file_data: string };
export type WirePart = WireText | WireImage | WireFile;

/** A message of the assistant. `annotations` are the vendor's own. */
export type WireOutputText = {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly unknown[];
};

export type WireMessage = {
  readonly type: "message";
  readonly id: string;
  readonly role: "assistant";
  readonly status: "completed";
  readonly content: readonly WireOutputText[];
  readonly phase?: string;
};

export type WireCall = {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly id?: string;
  readonly namespace?: string;
  readonly caller?: JsonObject;
};

export type WireItem =
  | { readonly role: "user"; readonly content: readonly WirePart[] }
  | { readonly role: "developer"; readonly content: string }
  | WireMessage
  | WireCall
  | {
      readonly type: "function_call_output";
      readonly call_id: string;
      readonly output: string | readonly WirePart[];
    }
  /** A vendor-specific item, unchanged: reasoning, a search, … */
  | JsonObject;

export type WireTool = {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: false;
};

export type WireFormat =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly schema: JsonObject;
      readonly strict: boolean;
    };

/** The body of `POST /responses`. */
export type WireRequest = {
  readonly model: string;
  readonly input: readonly WireItem[];
  readonly instructions?: string;
  readonly stream: true;
  readonly store: false;
  readonly prompt_cache_key?: string;
  readonly include?: readonly ["reasoning.encrypted_content"];
  readonly reasoning?: { readonly effort: string; readonly summary?: "auto" };
  readonly max_output_tokens: number;
  readonly temperature?: number;
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: { readonly type: "function"; readonly name: string } | "none";
  readonly text?: { readonly format?: WireFormat; readonly verbosity?: string };
  readonly service_tier?: string;
};
