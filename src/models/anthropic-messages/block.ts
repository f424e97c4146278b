import { asFields, asList, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import { asNonEmptyText, parseArguments } from "../json.ts";
import { formatCallerToken } from "./caller-token.ts";
import { formatCitationToken } from "./citation-token.ts";

/** One block of an answer while it arrives. */
export type Block = {
  readonly type: "text" | "thinking" | "toolCall" | "vendor";
  /** Its position in the message, assigned when it first has content to store. */
  contentIndex: number | undefined;
  /** Text, thinking, or the fragments of a call's arguments. */
  text: string;
  signature: string;
  isRedacted: boolean;
  id: string;
  name: string;
  /** Arguments that arrived complete, at the start of the block. */
  input: JsonObject;
  citations: unknown[];
  /** The known fields of a vendor-specific block. */
  data: JsonObject;
  /** The block received an unknown delta, so the known fields are incomplete. */
  isLost: boolean;
  hasEnded: boolean;
};

const EMPTY = {
  contentIndex: undefined,
  text: "",
  signature: "",
  isRedacted: false,
  id: "",
  name: "",
  input: {},
  data: {},
  isLost: false,
  hasEnded: false,
};

/** Creates a block from its start event. Vendor-specific kinds are stored unchanged. */
export function createBlock(start: JsonObject): Block {
  const kind = asNonEmptyText(start["type"]);
  switch (kind) {
    case "text":
      return {
        ...EMPTY,
        type: "text",
        text: asNonEmptyText(start["text"]) ?? "",
        citations: [...asList(start["citations"])],
      };
    case "thinking": {
      const signature = asNonEmptyText(start["signature"]) ?? "";
      return {
        ...EMPTY,
        type: "thinking",
        text: asNonEmptyText(start["thinking"]) ?? "",
        signature,
        citations: [],
      };
    }
    case "redacted_thinking": {
      const signature = asNonEmptyText(start["data"]) ?? "";
      return { ...EMPTY, type: "thinking", isRedacted: true, signature, citations: [] };
    }
    case "tool_use": {
      const id = asNonEmptyText(start["id"]) ?? "";
      const name = asNonEmptyText(start["name"]) ?? "";
      const input = asFields(start["input"]);
      return {
        ...EMPTY,
        type: "toolCall",
        id,
        name,
        input,
        signature: formatCallerToken(start),
        citations: [],
      };
    }
    default:
      return { ...EMPTY, type: "vendor", data: start, citations: [], isLost: kind === undefined };
  }
}

/** Returns the text that a delta adds to its block, or `undefined` if it adds something else or nothing. */
export function getTextDelta(block: Block, delta: JsonObject): string | undefined {
  switch (`${block.type} ${asNonEmptyText(delta["type"])}`) {
    case "text text_delta":
      return asNonEmptyText(delta["text"]);
    case "thinking thinking_delta":
      return asNonEmptyText(delta["thinking"]);
    case "toolCall input_json_delta":
    case "vendor input_json_delta":
      return asNonEmptyText(delta["partial_json"]);
    default:
      return undefined;
  }
}

/** Applies a delta that adds no text. @returns The part that is stored, for counting. */
export function amendBlock(block: Block, delta: JsonObject): string {
  switch (`${block.type} ${asNonEmptyText(delta["type"])}`) {
    case "thinking signature_delta":
      block.signature = asNonEmptyText(delta["signature"]) ?? block.signature;
      return asNonEmptyText(delta["signature"]) ?? "";
    case "text citations_delta": {
      const citation = asObject(delta["citation"]);
      if (citation === undefined) return "";
      block.citations.push(citation);
      return JSON.stringify(citation);
    }
    case "vendor compaction_delta": {
      // The delta carries the complete, final values.
      const { type: _, ...values } = delta;
      block.data = { ...block.data, ...values };
      return JSON.stringify(values);
    }
    case "vendor input_json_delta":
      return "";
    default:
      block.isLost ||= block.type === "vendor";
      return "";
  }
}

/** Returns the complete data of a vendor-specific block, or `undefined` if parts of it are lost. */
export function toVendorData({ data, text, isLost }: Block): JsonObject | undefined {
  if (isLost) return undefined;
  if (text === "") return data;
  const input = asObject(parseJson(text));
  return input === undefined ? undefined : { ...data, input };
}

export function isEmpty({ type, text, signature }: Block): boolean {
  return (type === "text" || type === "thinking") && text === "" && signature === "";
}

export function toContent(block: Block): Content {
  switch (block.type) {
    case "text": {
      const signature = formatCitationToken(block.citations);
      return { type: "text", text: block.text, ...(signature !== undefined && { signature }) };
    }
    case "thinking":
      return {
        type: "thinking",
        thinking: block.text,
        ...(block.signature !== "" && { signature: block.signature }),
        ...(block.isRedacted && { redacted: true }),
      };
    case "toolCall": {
      const whole = block.text === "" ? block.input : parseArguments(block.text);
      const signatureField = block.signature !== "" && { signature: block.signature };
      return { type: "toolCall", id: block.id, name: block.name, arguments: whole, ...signatureField };
    }
    case "vendor":
      return { type: "vendor", kind: asNonEmptyText(block.data["type"]) ?? "", data: block.data };
  }
}
