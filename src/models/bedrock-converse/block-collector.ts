import { asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { assignCallId } from "../call-id.ts";
import { asNonEmptyText, parseArguments } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { formatCitationToken } from "./citation-token.ts";

type Kind = "text" | "thinking" | "redacted" | "toolCall" | "serverCall" | "serverResult" | "image";

/** The `type` of a tool use that the vendor executes itself. */
const SERVER_TOOL_USE = "server_tool_use";

type Block = {
  readonly kind: Kind;
  /** Its position in the message, assigned when it first has content to store. */
  contentIndex: number | undefined;
  /** Text, thinking, or the fragments of a call's arguments. */
  text: string;
  signature: string;
  readonly bytes: Buffer[];
  readonly id: string;
  readonly name: string;
  /** Of calls and vendor-specific results: the start event, and the content of a result. */
  readonly start: JsonObject;
  readonly items: unknown[];
};

/**
 * Collects the content of one answer. Only some blocks have a start event (calls do, text and reasoning do not), and
 * a delta of another kind than the block at its index begins a new block.
 */
export class BlockCollector {
  readonly #blocks: Block[] = [];
  readonly #current = new Map<number, Block>();
  readonly #sizeLimit: AnswerSizeLimit;
  #nextContentIndex = 0;

  constructor(sizeLimit: AnswerSizeLimit) {
    this.#sizeLimit = sizeLimit;
  }

  start(index: number, start: JsonObject): readonly ModelDelta[] {
    const call = asObject(start["toolUse"]);
    if (call !== undefined) {
      const name = asNonEmptyText(call["name"]) ?? "";
      if (call["type"] === SERVER_TOOL_USE) return this.#addVendorBlock(index, "serverCall", call);
      this.#sizeLimit.addCall();
      const taken = this.#blocks.flatMap(({ kind, id }) => (kind === "toolCall" ? [id] : []));
      const block = this.#begin(index, "toolCall", {
        id: assignCallId(asNonEmptyText(call["toolUseId"]) ?? "", taken),
        name,
        start: call,
      });
      return [this.#createDelta(block, "")];
    }
    const result = asObject(start["toolResult"]);
    if (result !== undefined) return this.#addVendorBlock(index, "serverResult", result);
    const image = asObject(start["image"]);
    return image === undefined ? [] : this.#addVendorBlock(index, "image", image);
  }

  extend(index: number, delta: JsonObject): readonly ModelDelta[] {
    const text = asNonEmptyText(delta["text"]);
    if (text !== undefined) return this.#append(this.#getOrBegin(index, "text"), text);
    const reasoning = asObject(delta["reasoningContent"]);
    if (reasoning !== undefined) return this.#addReasoning(index, reasoning);
    const citation = asObject(delta["citation"]);
    if (citation !== undefined) {
      this.#sizeLimit.add(JSON.stringify(citation));
      this.#getOrBegin(index, "text").items.push(citation);
      return [];
    }
    const block = this.#current.get(index);
    if (block?.kind === "image") return this.#addImage(block, asObject(delta["image"]));
    const input = asNonEmptyText(asObject(delta["toolUse"])?.["input"]);
    if (input !== undefined && (block?.kind === "toolCall" || block?.kind === "serverCall"))
      return this.#append(block, input);
    if (block?.kind === "serverResult") {
      const items = asList(delta["toolResult"]);
      this.#sizeLimit.add(JSON.stringify(items));
      block.items.push(...items);
    }
    return [];
  }

  stop(index: number): void {
    this.#current.delete(index);
  }

  getContent(): Content[] {
    return this.#blocks
      .filter((block) => block.contentIndex !== undefined && !isEmptyImage(block))
      .sort((a, b) => (a.contentIndex ?? 0) - (b.contentIndex ?? 0))
      .map((block) => toContent(this.#isAnswered(block) ? { ...block, kind: "serverCall" } : block));
  }

  /**
   * Returns whether the vendor executed the call: its result is in the same answer, although its type is not in the
   * vendor's documentation. A call without a result waits for the client.
   */
  #isAnswered({ kind, start }: Block): boolean {
    if (kind !== "toolCall" || asNonEmptyText(start["type"]) === undefined) return false;
    return this.#blocks.some(
      (other) => other.kind === "serverResult" && other.start["toolUseId"] === start["toolUseId"],
    );
  }

  /** Bytes arrive in pieces; a storage location arrives complete. */
  #addImage(block: Block, image: JsonObject | undefined): readonly ModelDelta[] {
    const source = asObject(image?.["source"]);
    const bytes = asNonEmptyText(source?.["bytes"]);
    this.#sizeLimit.add(JSON.stringify(source ?? {}));
    if (bytes !== undefined) block.bytes.push(Buffer.from(bytes, "base64"));
    else if (source !== undefined) block.items.push(source);
    return [];
  }

  #addReasoning(index: number, reasoning: JsonObject): readonly ModelDelta[] {
    const redacted = asNonEmptyText(reasoning["redactedContent"]);
    if (redacted !== undefined) {
      const block = this.#getOrBegin(index, "redacted");
      this.#sizeLimit.add(redacted);
      block.bytes.push(Buffer.from(redacted, "base64"));
      this.#assignContentIndex(block);
      return [];
    }
    const signature = asNonEmptyText(reasoning["signature"]);
    if (signature !== undefined) {
      const block = this.#getOrBegin(index, "thinking");
      this.#sizeLimit.add(signature);
      block.signature += signature;
      this.#assignContentIndex(block);
      return [];
    }
    const text = asNonEmptyText(reasoning["text"]);
    return text === undefined ? [] : this.#append(this.#getOrBegin(index, "thinking"), text);
  }

  #addVendorBlock(index: number, kind: Kind, start: JsonObject): readonly ModelDelta[] {
    this.#sizeLimit.addBlock(JSON.stringify(start));
    this.#assignContentIndex(this.#begin(index, kind, { start }));
    return [];
  }

  #getOrBegin(index: number, kind: Kind): Block {
    const block = this.#current.get(index);
    return block?.kind === kind ? block : this.#begin(index, kind);
  }

  #begin(index: number, kind: Kind, given: Partial<Block> = {}): Block {
    const empty = {
      contentIndex: undefined,
      text: "",
      signature: "",
      bytes: [],
      id: "",
      name: "",
      start: {},
      items: [],
    };
    const block: Block = { ...empty, ...given, kind };
    this.#sizeLimit.addBlock(block.id, block.name);
    this.#blocks.push(block);
    this.#current.set(index, block);
    return block;
  }

  #append(block: Block, more: string): readonly ModelDelta[] {
    this.#sizeLimit.add(more);
    block.text += more;
    return block.kind === "serverCall" ? [] : [this.#createDelta(block, more)];
  }

  #assignContentIndex(block: Block): number {
    block.contentIndex ??= this.#nextContentIndex++;
    return block.contentIndex;
  }

  #createDelta(block: Block, delta: string): ModelDelta {
    const index = this.#assignContentIndex(block);
    if (block.kind === "toolCall") return { type: "toolCall", index, id: block.id, name: block.name, delta };
    return { type: block.kind === "text" ? "text" : "thinking", index, delta };
  }
}

/** Returns whether the image failed. */
function isEmptyImage({ kind, bytes, items }: Block): boolean {
  return kind === "image" && bytes.length === 0 && items.length === 0;
}

function toContent(block: Block): Content {
  const { kind, text, signature, id, name, start, items } = block;
  switch (kind) {
    case "text":
      return { type: "text", text, ...(items.length > 0 && { signature: formatCitationToken(items) }) };
    case "thinking":
      return { type: "thinking", thinking: text, ...(signature !== "" && { signature }) };
    case "redacted": {
      const encrypted = Buffer.concat(block.bytes).toString("base64");
      return { type: "thinking", thinking: "", signature: encrypted, redacted: true };
    }
    case "toolCall":
      return { type: "toolCall", id, name, arguments: parseArguments(text) };
    case "serverCall":
      return toVendorContent("toolUse", { ...start, input: parseArguments(text) });
    case "serverResult":
      return toVendorContent("toolResult", { ...start, content: items });
    case "image": {
      const bytes = { bytes: Buffer.concat(block.bytes).toString("base64") };
      return toVendorContent("image", { ...start, source: items[0] ?? bytes });
    }
  }
}

/** Converts to the form that the API accepts back. */
function toVendorContent(kind: string, block: JsonObject): Content {
  return { type: "vendor", kind, data: { [kind]: block } };
}
