import type { AnswerRoom } from "../answer-room.ts";
import { countOf, type JsonObject, listOf, objectOf, parseJson, textOf } from "../json.ts";

/** What a delta says of the model's reasoning, under the names that servers use for it (THK-04). */
export function reasoningIn(delta: JsonObject): string | undefined {
  // Several of them may carry the same text in one delta.
  const named =
    textOf(delta["reasoning_content"]) ?? textOf(delta["reasoning"]) ?? textOf(delta["reasoning_text"]);
  if (named !== undefined) return named;
  const details = listOf(delta["reasoning_details"]).map((detail) => {
    const { text, summary } = objectOf(detail) ?? {};
    return textOf(text) ?? textOf(summary) ?? "";
  });
  return textOf(details.join(""));
}

const TEXT_FIELDS = ["text", "summary", "data"] as const;

/**
 * OpenRouter's `reasoning_details`, joined piece by piece. They hold the signatures of the vendor behind it and go
 * back as they came.
 */
export class ReasoningDetails {
  readonly #details = new Map<string, Record<string, unknown>>();
  readonly #room: AnswerRoom;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  add(delta: JsonObject): void {
    for (const [at, item] of listOf(delta["reasoning_details"]).entries()) {
      const piece = objectOf(item);
      if (piece === undefined) continue;
      const key = `${countOf(piece["index"]) ?? at} ${textOf(piece["type"])}`;
      const known = this.#details.get(key) ?? {};
      if (!this.#details.has(key)) this.#room.takeBlock(JSON.stringify(piece));
      else this.#room.take(...[...TEXT_FIELDS, "signature"].map((name) => textOf(piece[name]) ?? ""));
      const joined: Record<string, unknown> = { ...known };
      for (const [name, value] of Object.entries(piece)) {
        // An empty or absent value in a later piece takes nothing away.
        if (value !== null && value !== "") joined[name] = value;
      }
      for (const name of TEXT_FIELDS) {
        const text = (textOf(known[name]) ?? "") + (textOf(piece[name]) ?? "");
        if (text !== "") joined[name] = text;
      }
      this.#details.set(key, joined);
    }
  }

  /** As JSON, or nothing when no detail holds more than text that anybody could have written. */
  signature(): string | undefined {
    const details = [...this.#details.values()];
    const opaque = details.some((detail) => textOf(detail["signature"]) ?? textOf(detail["data"]));
    return opaque ? JSON.stringify(details) : undefined;
  }
}

/**
 * Thinking that another protocol has signed, under the name of the same vendor: OpenAI's Responses among them. It is
 * foreign here, although its vendor is not.
 */
export function isOfAnotherProtocol(signature: string | undefined): boolean {
  return signature !== undefined && detailsIn(signature).length === 0;
}

/** The details for the way back; none from a token of another form, such as that of another protocol. */
export function detailsIn(signature: string | undefined): readonly JsonObject[] {
  return listOf(parseJson(signature ?? ""))
    .map(objectOf)
    .filter((detail) => detail !== undefined)
    .filter(({ type }) => typeof type === "string" && type.startsWith("reasoning."));
}
