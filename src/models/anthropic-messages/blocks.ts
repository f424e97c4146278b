import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { freeId } from "../call-id.ts";
import type { JsonObject } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { amended, type Block, begun, contentOf, fragmentOf, isEmpty, vendorData } from "./block.ts";

/** The content of one answer, block by block. Blocks that stay empty are left out. */
export class Blocks {
  readonly #blocks = new Map<number, Block>();
  readonly #room: AnswerRoom;
  #places = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  start(index: number, start: JsonObject): readonly ModelDelta[] {
    const block = begun(start);
    if (block.type === "toolCall") {
      this.#room.takeCall();
      block.id = freeId(block.id, this.#callIds());
    }
    this.#keepOrder();
    const { text, signature, id, name, input, data } = block;
    const kept = block.type === "vendor" ? data : input;
    this.#room.takeBlock(text, signature, id, name, JSON.stringify(kept));
    this.#blocks.set(index, block);
    if (block.type === "toolCall") return [this.#delta(block, "")];
    if (block.type === "vendor") return [];
    return block.text === "" ? this.#amended(block) : [this.#delta(block, block.text)];
  }

  extend(index: number, delta: JsonObject): readonly ModelDelta[] {
    const block = this.#blocks.get(index);
    if (block === undefined) return [];
    const more = fragmentOf(block, delta);
    if (more === undefined) {
      this.#room.take(amended(block, delta));
      return this.#amended(block);
    }
    this.#room.take(more);
    block.text += more;
    return block.type === "vendor" ? [] : [this.#delta(block, more)];
  }

  end(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    block.ended = true;
    this.#close(block);
  }

  /** Blocks that nobody ended end here. */
  content(): Content[] {
    for (const block of this.#blocks.values()) this.#close(block);
    return [...this.#blocks.values()]
      .filter((block) => block.place !== undefined && !isEmpty(block))
      .sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
      .map(contentOf);
  }

  /** A block that is still open when another begins is filled later, and yet comes first. */
  #keepOrder(): void {
    for (const block of this.#blocks.values()) {
      if (!block.ended && block.type !== "vendor") this.#place(block);
    }
  }

  #callIds(): readonly string[] {
    return [...this.#blocks.values()].flatMap(({ type, id }) => (type === "toolCall" ? [id] : []));
  }

  #close(block: Block): void {
    if (block.type !== "vendor" || block.place !== undefined) return;
    const data = vendorData(block);
    if (data === undefined) return;
    block.data = data;
    block.text = "";
    this.#place(block);
  }

  #place(block: Block): number {
    block.place ??= this.#places++;
    return block.place;
  }

  /** A signature is worth keeping without a text. */
  #amended(block: Block): readonly ModelDelta[] {
    if (block.signature !== "") this.#place(block);
    return [];
  }

  #delta(block: Block, delta: string): ModelDelta {
    const index = this.#place(block);
    if (block.type === "toolCall") return { type: "toolCall", index, id: block.id, name: block.name, delta };
    return { type: block.type === "thinking" ? "thinking" : "text", index, delta };
  }
}
