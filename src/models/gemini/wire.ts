import type { JsonObject } from "../../platform/text/json.ts";

type WireBlob = { readonly mimeType: string; readonly data: string };

/** Every part may carry a vendor token. */
type WireSignature = { readonly thoughtSignature?: string };

type WireCall = {
  readonly functionCall: { readonly id?: string; readonly name: string; readonly args: JsonObject };
} & WireSignature;

export type WireResponse = {
  readonly functionResponse: {
    readonly id?: string;
    readonly name: string;
    readonly response: { readonly result: string } | { readonly error: string };
    readonly parts?: readonly { readonly inlineData: WireBlob }[];
  };
};

export type WirePart =
  | ({ readonly text: string; readonly thought?: true } & WireSignature)
  | { readonly inlineData: WireBlob }
  | WireCall
  | WireResponse;

/** Vendor-specific parts are sent back unchanged. */
export type WireContent = {
  readonly role: "user" | "model";
  readonly parts: readonly (WirePart | JsonObject)[];
};

export type WireThinking = {
  readonly includeThoughts?: true;
  readonly thinkingBudget?: number;
  readonly thinkingLevel?: string;
};

export type WireGeneration = {
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly responseMimeType?: "application/json";
  readonly responseJsonSchema?: unknown;
  readonly thinkingConfig?: WireThinking;
};

export type WireDeclaration = {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
};

/** The body of `models/{model}:streamGenerateContent`. */
export type WireRequest = {
  readonly contents: readonly WireContent[];
  readonly systemInstruction?: {
    readonly role: "user";
    readonly parts: readonly { readonly text: string }[];
  };
  readonly tools?: readonly { readonly functionDeclarations: readonly WireDeclaration[] }[];
  readonly toolConfig?: {
    readonly functionCallingConfig:
      | { readonly mode: "ANY"; readonly allowedFunctionNames: readonly string[] }
      | { readonly mode: "NONE" };
  };
  readonly generationConfig: WireGeneration;
  readonly serviceTier?: string;
};
