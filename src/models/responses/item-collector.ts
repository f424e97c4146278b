import { asFields, asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { assignCallId } from "../call-id.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { type Addition, Item, type PieceKey } from "./item.ts";

/**
 * Collects the content of one answer, item by item.
 *
 * Events identify items by `output_index` and by id. Servers that imitate the API get one or the other wrong, so either
 * suffices. An item in the final response replaces what arrived before.
 */
export class ItemCollector {
  readonly #items: Item[] = [];
  readonly #sizeLimit: AnswerSizeLimit;
  #nextContentIndex = 0;

  constructor(sizeLimit: AnswerSizeLimit) {
    this.#sizeLimit = sizeLimit;
  }

  begin(event: JsonObject): readonly ModelDelta[] {
    const data = asFields(event["item"]);
    const type = asNonEmptyText(data["type"]);
    if (type === undefined) return [];
    const index = asCount(event["output_index"]) ?? this.#items.length;
    const known = this.#items.findLast((item) => item.index === index && item.type === type);
    if (known !== undefined && isSameItem(known.data, data)) return [];
    return this.#start(type, index, data);
  }

  /** Adds a piece of a text, of a message or of reasoning. */
  extend(event: JsonObject, type: "message" | "reasoning", key: PieceKey, refusal: boolean): ModelDelta[] {
    const delta = asNonEmptyText(event["delta"]) ?? asNonEmptyText(asObject(event["delta"])?.["text"]);
    if (delta === undefined) return [];
    const item = this.#findOrStart(event, type);
    return [this.#createTextDelta(item, item.add(key, delta, refusal))];
  }

  complete(
    event: JsonObject,
    type: "message" | "reasoning",
    key: PieceKey,
    text: unknown,
    refusal: boolean,
  ): ModelDelta[] {
    const whole = asNonEmptyText(text);
    if (whole === undefined) return [];
    const item = this.#findOrStart(event, type);
    const added = item.complete(key, whole, refusal);
    return added === undefined ? [] : [this.#createTextDelta(item, added)];
  }

  annotate(event: JsonObject, key: PieceKey): void {
    this.#find(event, "message")?.annotate(key, event["annotation"]);
  }

  extendCall(event: JsonObject): ModelDelta[] {
    const delta = asNonEmptyText(event["delta"]);
    if (delta === undefined) return [];
    const item = this.#findOrStart(event, "function_call");
    return [this.#createCallDelta(item, item.addArguments(delta))];
  }

  completeCall(event: JsonObject): ModelDelta[] {
    const item = this.#findOrStart(event, "function_call");
    const name = asNonEmptyText(event["name"]);
    if (item.name === "" && name !== undefined) item.data = { ...item.data, name };
    const added = item.completeArguments(event["arguments"]);
    return added === undefined ? [] : [this.#createCallDelta(item, added)];
  }

  /** Completes an item. */
  end(event: JsonObject): readonly ModelDelta[] {
    const data = asFields(event["item"]);
    const type = asNonEmptyText(data["type"]);
    if (type === undefined) return [];
    const index = asCount(event["output_index"]);
    const open = (item: Item) => item.type === type && !item.isComplete;
    const item =
      this.#items.find((one) => one.type === type && hasSameId(one.data, data)) ??
      this.#items.findLast((one) => open(one) && (index === undefined || one.index === index));
    return this.#completeItem(item, type, index ?? this.#items.length, data);
  }

  /** Completes all items, as the final response lists them; those that it omits stay as they arrived. */
  endAll(output: unknown): readonly ModelDelta[] {
    const open = new Set(this.#items);
    return asList(output).flatMap((listed, index) => {
      const data = asFields(listed);
      const type = asNonEmptyText(data["type"]);
      if (type === undefined) return [];
      const candidates = [...open].filter((item) => item.type === type);
      const item =
        candidates.find((one) => hasSameId(one.data, data)) ??
        candidates.find((one) => one.index === index) ??
        candidates[0];
      if (item !== undefined) open.delete(item);
      return this.#completeItem(item, type, index, data);
    });
  }

  /** Returns the model's explanation of a refusal. */
  getRefusal(): string {
    return this.#items.map((item) => item.refusalText).join("");
  }

  getContent(): Content[] {
    // Unencrypted reasoning cannot be sent back, so no item may refer to it.
    const isReasoningLost = this.#items.some((item) => item.type === "reasoning" && isUnsigned(item));
    return [...this.#items]
      .sort((one, other) => one.index - other.index)
      .flatMap((item) => item.toContent(!isReasoningLost));
  }

  #start(type: string, index: number, data: JsonObject): ModelDelta[] {
    const item = new Item(type, index, data, this.#sizeLimit);
    if (type === "function_call") {
      this.#sizeLimit.addCall();
      this.#nameCall(item);
    }
    this.#items.push(item);
    if (type === "message" || type === "reasoning") return [];
    return type === "function_call" ? [this.#createCallDelta(item, "")] : this.#reserveIndex(item);
  }

  #completeItem(known: Item | undefined, type: string, index: number, data: JsonObject): ModelDelta[] {
    const startDeltas = known === undefined ? this.#start(type, index, data) : [];
    const item = known ?? (this.#items.at(-1) as Item);
    const named = asNonEmptyText(item.data["call_id"]);
    const additions = item.completeAll(data);
    if (type === "function_call") {
      if (named === undefined) this.#nameCall(item);
      const added = item.completeArguments(data["arguments"]);
      return added === undefined ? startDeltas : [...startDeltas, this.#createCallDelta(item, added)];
    }
    return [
      ...startDeltas,
      ...additions.map((added) => this.#createTextDelta(item, added)),
      ...this.#reserveIndex(item),
    ];
  }

  #nameCall(item: Item): void {
    const taken = this.#items.filter((one) => one !== item && one.type === "function_call");
    item.id = assignCallId(
      asNonEmptyText(item.data["call_id"]) ?? "",
      taken.map(({ id }) => id),
    );
  }

  #find(event: JsonObject, type: string): Item | undefined {
    const index = asCount(event["output_index"]);
    const id = asNonEmptyText(event["item_id"]);
    const last = this.#items.at(-1);
    // Nearly every piece belongs to the item that began last.
    if (last?.type === type && last.index === index) return last;
    const fitting = this.#items.filter((item) => item.type === type);
    return (
      fitting.findLast((item) => item.index === index) ??
      (id === undefined ? undefined : fitting.findLast((item) => item.data["id"] === id)) ??
      (index === undefined && id === undefined ? fitting.at(-1) : undefined)
    );
  }

  #findOrStart(event: JsonObject, type: string): Item {
    const found = this.#find(event, type);
    if (found !== undefined) return found;
    const id = asNonEmptyText(event["item_id"]);
    const index = asCount(event["output_index"]) ?? this.#items.length;
    this.#start(type, index, { type, ...(id !== undefined && { id }) });
    return this.#items.at(-1) as Item;
  }

  /** Assigns an item its position in the message as soon as it has content. */
  #reserveIndex(item: Item): ModelDelta[] {
    if (item.hasContent) item.contentIndex ??= this.#nextContentIndex++;
    return [];
  }

  #createTextDelta(item: Item, { piece, delta }: Addition): ModelDelta {
    if (item.type === "reasoning") {
      item.contentIndex ??= this.#nextContentIndex++;
      return { type: "thinking", index: item.contentIndex, delta };
    }
    piece.contentIndex ??= this.#nextContentIndex++;
    return { type: "text", index: piece.contentIndex, delta };
  }

  #createCallDelta(item: Item, delta: string): ModelDelta {
    item.contentIndex ??= this.#nextContentIndex++;
    return { type: "toolCall", index: item.contentIndex, id: item.id, name: item.name, delta };
  }
}

function isUnsigned(item: Item): boolean {
  return item.toContent(true).every((part) => part.type !== "thinking" || part.signature === undefined);
}

function hasSameId(one: JsonObject, other: JsonObject): boolean {
  return ["id", "call_id"].some(
    (name) => asNonEmptyText(one[name]) !== undefined && one[name] === other[name],
  );
}

/** Returns whether both are the same item, sent twice, and not another one with the same index. */
function isSameItem(one: JsonObject, other: JsonObject): boolean {
  return ["id", "call_id"].every((name) => {
    const [a, b] = [asNonEmptyText(one[name]), asNonEmptyText(other[name])];
    return a === undefined || b === undefined || a === b;
  });
}
