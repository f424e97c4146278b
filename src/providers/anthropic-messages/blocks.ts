import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { freeId } from "../call-id.ts";
import { type JsonObject, objectOf, parseArguments, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";

type Block = {
  type: "text" | "thinking" | "toolCall";
  /** Its place in the message, given when it first has something to keep. */
  place: number | undefined;
  /** Text, thinking, or the fragments of a call's arguments. */
  text: string;
  signature: string;
  redacted: boolean;
  id: string;
  name: string;
  /** Arguments that came whole, at the start of the block. */
  input: JsonObject;
};

/**
 * The content of one answer, block by block. Blocks that are not ours to act on (the vendor's own tools and their
 * results, and kinds yet unknown) are left out, and so are blocks that stay empty.
 */
export class Blocks {
  readonly #blocks = new Map<number, Block>();
  readonly #room: AnswerRoom;
  #places = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  start(index: number, start: JsonObject): readonly ModelDelta[] {
    const block: Block | undefined = begun(start);
    if (block === undefined) return [];
    if (block.type === "toolCall") {
      this.#room.takeCall();
      block.id = freeId(block.id, this.#callIds());
    }
    const { text, signature, id, name, input } = block;
    this.#room.takeBlock(text, signature, id, name, JSON.stringify(input));
    this.#blocks.set(index, block);
    if (block.type === "toolCall") return [this.#delta(block, "")];
    return block.text === "" ? this.#sign(block, "") : [this.#delta(block, block.text)];
  }

  extend(index: number, delta: JsonObject): readonly ModelDelta[] {
    const block = this.#blocks.get(index);
    if (block === undefined) return [];
    const more = fragmentOf(block, delta);
    if (more === undefined) {
      const signature = textOf(delta["signature"]) ?? "";
      this.#room.take(signature);
      return this.#sign(block, signature);
    }
    this.#room.take(more);
    block.text += more;
    return [this.#delta(block, more)];
  }

  content(): Content[] {
    return [...this.#blocks.values()]
      .filter((block) => block.place !== undefined)
      .sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
      .map(contentOf);
  }

  #callIds(): readonly string[] {
    return [...this.#blocks.values()].flatMap(({ type, id }) => (type === "toolCall" ? [id] : []));
  }

  #place(block: Block): number {
    block.place ??= this.#places++;
    return block.place;
  }

  #sign(block: Block, signature: string): readonly ModelDelta[] {
    if (signature !== "") block.signature = signature;
    if (block.signature !== "") this.#place(block);
    return [];
  }

  #delta(block: Block, delta: string): ModelDelta {
    const index = this.#place(block);
    if (block.type === "toolCall") return { type: "toolCall", index, id: block.id, name: block.name, delta };
    return { type: block.type, index, delta };
  }
}

function begun(start: JsonObject): Block | undefined {
  const block: Block = {
    type: "text",
    place: undefined,
    text: "",
    signature: "",
    redacted: false,
    id: "",
    name: "",
    input: {},
  };
  switch (start["type"]) {
    case "text":
      return { ...block, text: textOf(start["text"]) ?? "" };
    case "thinking": {
      const signature = textOf(start["signature"]) ?? "";
      return { ...block, type: "thinking", text: textOf(start["thinking"]) ?? "", signature };
    }
    case "redacted_thinking":
      return { ...block, type: "thinking", redacted: true, signature: textOf(start["data"]) ?? "" };
    case "tool_use": {
      const { id, name, input } = start;
      return {
        ...block,
        type: "toolCall",
        id: textOf(id) ?? "",
        name: textOf(name) ?? "",
        input: objectOf(input) ?? {},
      };
    }
    default:
      return undefined;
  }
}

/** A delta of another kind than its block's adds nothing. */
function fragmentOf(block: Block, delta: JsonObject): string | undefined {
  switch (`${block.type} ${String(delta["type"])}`) {
    case "text text_delta":
      return textOf(delta["text"]);
    case "thinking thinking_delta":
      return textOf(delta["thinking"]);
    case "toolCall input_json_delta":
      return textOf(delta["partial_json"]);
    default:
      return undefined;
  }
}

function contentOf(block: Block): Content {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return {
        type: "thinking",
        thinking: block.text,
        ...(block.signature !== "" && { signature: block.signature }),
        ...(block.redacted && { redacted: true }),
      };
    case "toolCall": {
      const whole = block.text === "" ? block.input : parseArguments(block.text);
      return { type: "toolCall", id: block.id, name: block.name, arguments: whole };
    }
  }
}
