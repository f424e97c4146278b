import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { freeId } from "../call-id.ts";
import { type JsonObject, listOf, objectOf, parseArguments, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { citedAs } from "./citations.ts";

type Kind = "text" | "thinking" | "redacted" | "toolCall" | "serverCall" | "serverResult" | "image";

/** The `type` of a tool use that the vendor answers itself. */
const SERVER_TOOL_USE = "server_tool_use";

type Block = {
  readonly kind: Kind;
  /** Its place in the message, given when it first has something to keep. */
  place: number | undefined;
  /** Text, thinking, or the fragments of a call's arguments. */
  text: string;
  signature: string;
  readonly bytes: Buffer[];
  readonly id: string;
  readonly name: string;
  /** Of calls and of the vendor's own results: their start, and what a result brings. */
  readonly start: JsonObject;
  readonly items: unknown[];
};

/**
 * The content of one answer. A block has a start only where the API gives one (calls do, text and reasoning do not),
 * and a delta of another kind than the block at its index begins a block of its own.
 */
export class Blocks {
  readonly #all: Block[] = [];
  readonly #current = new Map<number, Block>();
  readonly #room: AnswerRoom;
  #places = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  start(index: number, start: JsonObject): readonly ModelDelta[] {
    const call = objectOf(start["toolUse"]);
    if (call !== undefined) {
      const name = textOf(call["name"]) ?? "";
      if (call["type"] === SERVER_TOOL_USE) return this.#keep(index, "serverCall", call);
      this.#room.takeCall();
      const taken = this.#all.flatMap(({ kind, id }) => (kind === "toolCall" ? [id] : []));
      const block = this.#begin(index, "toolCall", {
        id: freeId(textOf(call["toolUseId"]) ?? "", taken),
        name,
        start: call,
      });
      return [this.#delta(block, "")];
    }
    const result = objectOf(start["toolResult"]);
    if (result !== undefined) return this.#keep(index, "serverResult", result);
    const image = objectOf(start["image"]);
    return image === undefined ? [] : this.#keep(index, "image", image);
  }

  extend(index: number, delta: JsonObject): readonly ModelDelta[] {
    const text = textOf(delta["text"]);
    if (text !== undefined) return this.#append(this.#at(index, "text"), text);
    const reasoning = objectOf(delta["reasoningContent"]);
    if (reasoning !== undefined) return this.#reason(index, reasoning);
    const citation = objectOf(delta["citation"]);
    if (citation !== undefined) {
      this.#room.take(JSON.stringify(citation));
      this.#at(index, "text").items.push(citation);
      return [];
    }
    const block = this.#current.get(index);
    if (block?.kind === "image") return this.#draw(block, objectOf(delta["image"]));
    const input = textOf(objectOf(delta["toolUse"])?.["input"]);
    if (input !== undefined && (block?.kind === "toolCall" || block?.kind === "serverCall"))
      return this.#append(block, input);
    if (block?.kind === "serverResult") {
      const items = listOf(delta["toolResult"]);
      this.#room.take(JSON.stringify(items));
      block.items.push(...items);
    }
    return [];
  }

  stop(index: number): void {
    this.#current.delete(index);
  }

  content(): Content[] {
    return this.#all
      .filter((block) => block.place !== undefined && !isUndrawn(block))
      .sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
      .map((block) => contentOf(this.#isAnswered(block) ? { ...block, kind: "serverCall" } : block));
  }

  /**
   * A tool use of a type that is not in the vendor's documentation, whose result is in the same answer: the vendor has
   * run it. One without a result waits for ours.
   */
  #isAnswered({ kind, start }: Block): boolean {
    if (kind !== "toolCall" || textOf(start["type"]) === undefined) return false;
    return this.#all.some(
      (other) => other.kind === "serverResult" && other.start["toolUseId"] === start["toolUseId"],
    );
  }

  /** Bytes come in pieces; the place in a store comes whole. */
  #draw(block: Block, image: JsonObject | undefined): readonly ModelDelta[] {
    const source = objectOf(image?.["source"]);
    const bytes = textOf(source?.["bytes"]);
    this.#room.take(JSON.stringify(source ?? {}));
    if (bytes !== undefined) block.bytes.push(Buffer.from(bytes, "base64"));
    else if (source !== undefined) block.items.push(source);
    return [];
  }

  #reason(index: number, reasoning: JsonObject): readonly ModelDelta[] {
    const redacted = textOf(reasoning["redactedContent"]);
    if (redacted !== undefined) {
      const block = this.#at(index, "redacted");
      this.#room.take(redacted);
      block.bytes.push(Buffer.from(redacted, "base64"));
      this.#place(block);
      return [];
    }
    const signature = textOf(reasoning["signature"]);
    if (signature !== undefined) {
      const block = this.#at(index, "thinking");
      this.#room.take(signature);
      block.signature += signature;
      this.#place(block);
      return [];
    }
    const text = textOf(reasoning["text"]);
    return text === undefined ? [] : this.#append(this.#at(index, "thinking"), text);
  }

  #keep(index: number, kind: Kind, start: JsonObject): readonly ModelDelta[] {
    this.#room.takeBlock(JSON.stringify(start));
    this.#place(this.#begin(index, kind, { start }));
    return [];
  }

  #at(index: number, kind: Kind): Block {
    const block = this.#current.get(index);
    return block?.kind === kind ? block : this.#begin(index, kind);
  }

  #begin(index: number, kind: Kind, given: Partial<Block> = {}): Block {
    const empty = {
      place: undefined,
      text: "",
      signature: "",
      bytes: [],
      id: "",
      name: "",
      start: {},
      items: [],
    };
    const block: Block = { ...empty, ...given, kind };
    this.#room.takeBlock(block.id, block.name);
    this.#all.push(block);
    this.#current.set(index, block);
    return block;
  }

  #append(block: Block, more: string): readonly ModelDelta[] {
    this.#room.take(more);
    block.text += more;
    return block.kind === "serverCall" ? [] : [this.#delta(block, more)];
  }

  #place(block: Block): number {
    block.place ??= this.#places++;
    return block.place;
  }

  #delta(block: Block, delta: string): ModelDelta {
    const index = this.#place(block);
    if (block.kind === "toolCall") return { type: "toolCall", index, id: block.id, name: block.name, delta };
    return { type: block.kind === "text" ? "text" : "thinking", index, delta };
  }
}

/** A picture that failed. */
function isUndrawn({ kind, bytes, items }: Block): boolean {
  return kind === "image" && bytes.length === 0 && items.length === 0;
}

function contentOf(block: Block): Content {
  const { kind, text, signature, id, name, start, items } = block;
  switch (kind) {
    case "text":
      return { type: "text", text, ...(items.length > 0 && { signature: citedAs(items) }) };
    case "thinking":
      return { type: "thinking", thinking: text, ...(signature !== "" && { signature }) };
    case "redacted": {
      const encrypted = Buffer.concat(block.bytes).toString("base64");
      return { type: "thinking", thinking: "", signature: encrypted, redacted: true };
    }
    case "toolCall":
      return { type: "toolCall", id, name, arguments: parseArguments(text) };
    case "serverCall":
      return vendorBlock("toolUse", { ...start, input: parseArguments(text) });
    case "serverResult":
      return vendorBlock("toolResult", { ...start, content: items });
    case "image": {
      const bytes = { bytes: Buffer.concat(block.bytes).toString("base64") };
      return vendorBlock("image", { ...start, source: items[0] ?? bytes });
    }
  }
}

/** As the API takes it back. */
function vendorBlock(kind: string, block: JsonObject): Content {
  return { type: "vendor", kind, data: { [kind]: block } };
}
