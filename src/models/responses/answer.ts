import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { freeId } from "../call-id.ts";
import { countOf, type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { type Addition, Item, type PieceKey } from "./item.ts";

/**
 * The content of one answer, item by item.
 *
 * Items are named by `output_index` and by id. Servers that imitate the API get one or the other wrong, so that either
 * will do; and what the end of the response says of an item counts over what came before.
 */
export class Answer {
  readonly #items: Item[] = [];
  readonly #room: AnswerRoom;
  #places = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  begin(event: JsonObject): readonly ModelDelta[] {
    const data = objectOf(event["item"]) ?? {};
    const type = textOf(data["type"]);
    if (type === undefined) return [];
    const index = countOf(event["output_index"]) ?? this.#items.length;
    const known = this.#items.findLast((item) => item.index === index && item.type === type);
    if (known !== undefined && sameItem(known.data, data)) return [];
    return this.#start(type, index, data);
  }

  /** A piece of a text, of a message or of reasoning. */
  extend(event: JsonObject, type: "message" | "reasoning", key: PieceKey, refusal: boolean): ModelDelta[] {
    const delta = textOf(event["delta"]) ?? textOf(objectOf(event["delta"])?.["text"]);
    if (delta === undefined) return [];
    const item = this.#findOrStart(event, type);
    return [this.#said(item, item.add(key, delta, refusal))];
  }

  settle(
    event: JsonObject,
    type: "message" | "reasoning",
    key: PieceKey,
    text: unknown,
    refusal: boolean,
  ): ModelDelta[] {
    const whole = textOf(text);
    if (whole === undefined) return [];
    const item = this.#findOrStart(event, type);
    const added = item.settle(key, whole, refusal);
    return added === undefined ? [] : [this.#said(item, added)];
  }

  annotate(event: JsonObject, key: PieceKey): void {
    this.#find(event, "message")?.annotate(key, event["annotation"]);
  }

  extendCall(event: JsonObject): ModelDelta[] {
    const delta = textOf(event["delta"]);
    if (delta === undefined) return [];
    const item = this.#findOrStart(event, "function_call");
    return [this.#called(item, item.addArguments(delta))];
  }

  settleCall(event: JsonObject): ModelDelta[] {
    const item = this.#findOrStart(event, "function_call");
    const name = textOf(event["name"]);
    if (item.name === "" && name !== undefined) item.data = { ...item.data, name };
    const added = item.settleArguments(event["arguments"]);
    return added === undefined ? [] : [this.#called(item, added)];
  }

  /** An item is whole. */
  end(event: JsonObject): readonly ModelDelta[] {
    const data = objectOf(event["item"]) ?? {};
    const type = textOf(data["type"]);
    if (type === undefined) return [];
    const index = countOf(event["output_index"]);
    const open = (item: Item) => item.type === type && !item.whole;
    const item =
      this.#items.find((one) => one.type === type && hasIdOf(one.data, data)) ??
      this.#items.findLast((one) => open(one) && (index === undefined || one.index === index));
    return this.#whole(item, type, index ?? this.#items.length, data);
  }

  /** All items, as the end of a response lists them; those that it leaves out stay as they came. */
  endAll(output: unknown): readonly ModelDelta[] {
    const open = new Set(this.#items);
    return listOf(output).flatMap((listed, index) => {
      const data = objectOf(listed) ?? {};
      const type = textOf(data["type"]);
      if (type === undefined) return [];
      const left = [...open].filter((item) => item.type === type);
      const item =
        left.find((one) => hasIdOf(one.data, data)) ?? left.find((one) => one.index === index) ?? left[0];
      if (item !== undefined) open.delete(item);
      return this.#whole(item, type, index, data);
    });
  }

  /** What the model has said in place of an answer that it refused to give. */
  refusal(): string {
    return this.#items.map((item) => item.refused).join("");
  }

  content(): Content[] {
    // What was not encrypted cannot be sent back, and then nothing may refer to it.
    const lost = this.#items.some((item) => item.type === "reasoning" && unsigned(item));
    return [...this.#items]
      .sort((one, other) => one.index - other.index)
      .flatMap((item) => item.content(!lost));
  }

  #start(type: string, index: number, data: JsonObject): ModelDelta[] {
    const item = new Item(type, index, data, this.#room);
    if (type === "function_call") {
      this.#room.takeCall();
      this.#nameCall(item);
    }
    this.#items.push(item);
    if (type === "message" || type === "reasoning") return [];
    return type === "function_call" ? [this.#called(item, "")] : this.#keep(item);
  }

  #whole(known: Item | undefined, type: string, index: number, data: JsonObject): ModelDelta[] {
    const begun = known === undefined ? this.#start(type, index, data) : [];
    const item = known ?? (this.#items.at(-1) as Item);
    const named = textOf(item.data["call_id"]);
    const additions = item.settleAll(data);
    if (type === "function_call") {
      if (named === undefined) this.#nameCall(item);
      const added = item.settleArguments(data["arguments"]);
      return added === undefined ? begun : [...begun, this.#called(item, added)];
    }
    return [...begun, ...additions.map((added) => this.#said(item, added)), ...this.#keep(item)];
  }

  #nameCall(item: Item): void {
    const taken = this.#items.filter((one) => one !== item && one.type === "function_call");
    item.id = freeId(
      textOf(item.data["call_id"]) ?? "",
      taken.map(({ id }) => id),
    );
  }

  #find(event: JsonObject, type: string): Item | undefined {
    const index = countOf(event["output_index"]);
    const id = textOf(event["item_id"]);
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
    const id = textOf(event["item_id"]);
    const index = countOf(event["output_index"]) ?? this.#items.length;
    this.#start(type, index, { type, ...(id !== undefined && { id }) });
    return this.#items.at(-1) as Item;
  }

  /** Gives an item its place in the message as soon as there is something to keep of it. */
  #keep(item: Item): ModelDelta[] {
    if (item.keeps) item.place ??= this.#places++;
    return [];
  }

  #said(item: Item, { piece, delta }: Addition): ModelDelta {
    if (item.type === "reasoning") {
      item.place ??= this.#places++;
      return { type: "thinking", index: item.place, delta };
    }
    piece.place ??= this.#places++;
    return { type: "text", index: piece.place, delta };
  }

  #called(item: Item, delta: string): ModelDelta {
    item.place ??= this.#places++;
    return { type: "toolCall", index: item.place, id: item.id, name: item.name, delta };
  }
}

function unsigned(item: Item): boolean {
  return item.content(true).every((part) => part.type !== "thinking" || part.signature === undefined);
}

function hasIdOf(one: JsonObject, other: JsonObject): boolean {
  return ["id", "call_id"].some((name) => textOf(one[name]) !== undefined && one[name] === other[name]);
}

/** The same item told twice, rather than another under the same index. */
function sameItem(one: JsonObject, other: JsonObject): boolean {
  return ["id", "call_id"].every((name) => {
    const [a, b] = [textOf(one[name]), textOf(other[name])];
    return a === undefined || b === undefined || a === b;
  });
}
