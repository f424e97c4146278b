import type { JsonObject } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { assignCallId } from "../call-id.ts";
import type { ModelDelta } from "../provider.ts";
import {
  amendBlock,
  type Block,
  createBlock,
  getTextDelta,
  isEmpty,
  toContent,
  toVendorData,
} from "./block.ts";

/** Collects the content of one answer, block by block. Blocks that stay empty are dropped. */
export class BlockCollector {
  readonly #blocks = new Map<number, Block>();
  readonly #sizeLimit: AnswerSizeLimit;
  #nextContentIndex = 0;

  constructor(sizeLimit: AnswerSizeLimit) {
    this.#sizeLimit = sizeLimit;
  }

  start(index: number, start: JsonObject): readonly ModelDelta[] {
    const block = createBlock(start);
    if (block.type === "toolCall") {
      this.#sizeLimit.addCall();
      block.id = assignCallId(block.id, this.#listCallIds());
    }
    this.#fixOrder();
    const { text, signature, id, name, input, data } = block;
    const vendorData = block.type === "vendor" ? data : input;
    this.#sizeLimit.addBlock(text, signature, id, name, JSON.stringify(vendorData));
    this.#blocks.set(index, block);
    if (block.type === "toolCall") return [this.#createDelta(block, "")];
    if (block.type === "vendor") return [];
    return block.text === "" ? this.#amend(block) : [this.#createDelta(block, block.text)];
  }

  extend(index: number, delta: JsonObject): readonly ModelDelta[] {
    const block = this.#blocks.get(index);
    if (block === undefined) return [];
    const more = getTextDelta(block, delta);
    if (more === undefined) {
      this.#sizeLimit.add(amendBlock(block, delta));
      return this.#amend(block);
    }
    this.#sizeLimit.add(more);
    block.text += more;
    return block.type === "vendor" ? [] : [this.#createDelta(block, more)];
  }

  end(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    block.hasEnded = true;
    this.#close(block);
  }

  /** Returns the content. Blocks without an end event end here. */
  getContent(): Content[] {
    for (const block of this.#blocks.values()) this.#close(block);
    return [...this.#blocks.values()]
      .filter((block) => block.contentIndex !== undefined && !isEmpty(block))
      .sort((a, b) => (a.contentIndex ?? 0) - (b.contentIndex ?? 0))
      .map(toContent);
  }

  /** Orders the blocks by start: one that is still open when another starts is filled later, but comes first. */
  #fixOrder(): void {
    for (const block of this.#blocks.values()) {
      if (!block.hasEnded && block.type !== "vendor") this.#assignContentIndex(block);
    }
  }

  #listCallIds(): readonly string[] {
    return [...this.#blocks.values()].flatMap(({ type, id }) => (type === "toolCall" ? [id] : []));
  }

  #close(block: Block): void {
    if (block.type !== "vendor" || block.contentIndex !== undefined) return;
    const data = toVendorData(block);
    if (data === undefined) return;
    block.data = data;
    block.text = "";
    this.#assignContentIndex(block);
  }

  #assignContentIndex(block: Block): number {
    block.contentIndex ??= this.#nextContentIndex++;
    return block.contentIndex;
  }

  /** A signature is stored even without text. */
  #amend(block: Block): readonly ModelDelta[] {
    if (block.signature !== "") this.#assignContentIndex(block);
    return [];
  }

  #createDelta(block: Block, delta: string): ModelDelta {
    const index = this.#assignContentIndex(block);
    if (block.type === "toolCall") return { type: "toolCall", index, id: block.id, name: block.name, delta };
    return { type: block.type === "thinking" ? "thinking" : "text", index, delta };
  }
}
