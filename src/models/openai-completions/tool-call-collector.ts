import { asFields, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import { assignCallId } from "../call-id.ts";
import { asCount, asNonEmptyText, parseArguments } from "../json.ts";

type CallSlot = {
  readonly index: number | undefined;
  readonly id: string;
  sentId: string;
  name: string;
  text: string;
};

/** One fragment, with the number of its call (in order of appearance). */
export type CallFragment = {
  readonly call: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
};

/**
 * Collects the calls of one answer from fragments that servers label in different ways: by index as OpenAI does, by id, or
 * not at all; complete or in pieces; with the id repeated, empty, or different in each piece.
 */
export class ToolCallCollector {
  readonly #slots: CallSlot[] = [];

  add(delta: JsonObject): CallFragment {
    // A tool without a schema is `custom`, and its input is any text.
    const details = asObject(delta["function"]) ?? asFields(delta["custom"]);
    const index = asCount(delta["index"]);
    const sentId = asNonEmptyText(delta["id"]) ?? "";
    const name = asNonEmptyText(details["name"]) ?? "";
    const text = toArgumentsText(details["arguments"] ?? details["input"]);
    let slot = this.#find(index, sentId, name);
    if (slot === undefined || isNextCall(slot, sentId, name, text)) {
      const id = assignCallId(
        sentId,
        this.#slots.map((one) => one.id),
      );
      slot = { index, id, sentId, name, text: "" };
      this.#slots.push(slot);
    } else if (name !== "") {
      slot.name = name;
    }
    slot.text += text;
    return { call: this.#slots.indexOf(slot), id: slot.id, name: slot.name, text };
  }

  getContent(call: number): ToolCallContent | undefined {
    const slot = this.#slots[call];
    return slot && { type: "toolCall", id: slot.id, name: slot.name, arguments: parseArguments(slot.text) };
  }

  #find(index: number | undefined, sentId: string, name: string): CallSlot | undefined {
    if (index !== undefined) return this.#slots.findLast((slot) => slot.index === index);
    const known = sentId === "" ? undefined : this.#slots.findLast((slot) => slot.sentId === sentId);
    // Without any label, only a fragment without a name is certainly a continuation.
    const last = this.#slots.at(-1);
    return known ?? (name === "" || name === last?.name ? last : undefined);
  }
}

/**
 * Returns whether a fragment with a call's label is nevertheless the next call. A name with another id is, unless
 * the call is in the middle of its arguments; so is a name when the arguments are complete and begin again.
 */
function isNextCall(slot: CallSlot, sentId: string, name: string, text: string): boolean {
  if (name === "" || slot.name === "") return false;
  const another = sentId !== "" && sentId !== slot.sentId;
  if (another && slot.text === "") return true;
  // Parsed only when it decides: a server may repeat the name with each of ten thousand fragments.
  const begins = another || text.trimStart().startsWith("{");
  return begins && asObject(parseJson(slot.text)) !== undefined;
}

/** Some servers send an object where the API specifies a string. */
function toArgumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return asObject(value) === undefined ? "" : JSON.stringify(value);
}
