import { asFields, asList, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { asCount, asNonEmptyText } from "../json.ts";

/** Returns the reasoning in a delta, under any of the names that servers use for it (THK-04). */
export function getReasoning(delta: JsonObject): string | undefined {
  // Several of these fields may contain the same text in one delta.
  const named =
    asNonEmptyText(delta["reasoning_content"]) ??
    asNonEmptyText(delta["reasoning"]) ??
    asNonEmptyText(delta["reasoning_text"]);
  if (named !== undefined) return named;
  const details = asList(delta["reasoning_details"]).map((detail) => {
    const { text, summary } = asFields(detail);
    return asNonEmptyText(text) ?? asNonEmptyText(summary) ?? "";
  });
  return asNonEmptyText(details.join(""));
}

const TEXT_FIELDS = ["text", "summary", "data"] as const;

/**
 * OpenRouter's `reasoning_details`, joined piece by piece. They contain the signatures of the underlying vendor and are
 * sent back unchanged.
 */
export class ReasoningDetails {
  readonly #details = new Map<string, Record<string, unknown>>();
  readonly #sizeLimit: AnswerSizeLimit;

  constructor(sizeLimit: AnswerSizeLimit) {
    this.#sizeLimit = sizeLimit;
  }

  add(delta: JsonObject): void {
    for (const [at, item] of asList(delta["reasoning_details"]).entries()) {
      const piece = asObject(item);
      if (piece === undefined) continue;
      const key = `${asCount(piece["index"]) ?? at} ${asNonEmptyText(piece["type"])}`;
      const known = this.#details.get(key) ?? {};
      if (!this.#details.has(key)) this.#sizeLimit.addBlock(JSON.stringify(piece));
      else
        this.#sizeLimit.add(
          ...[...TEXT_FIELDS, "signature"].map((name) => asNonEmptyText(piece[name]) ?? ""),
        );
      const joined: Record<string, unknown> = { ...known };
      for (const [name, value] of Object.entries(piece)) {
        // An empty or absent value in a later piece removes nothing.
        if (value !== null && value !== "") joined[name] = value;
      }
      for (const name of TEXT_FIELDS) {
        const text = (asNonEmptyText(known[name]) ?? "") + (asNonEmptyText(piece[name]) ?? "");
        if (text !== "") joined[name] = text;
      }
      this.#details.set(key, joined);
    }
  }

  /** Returns JSON, or nothing if no detail contains more than plain text. */
  formatSignature(): string | undefined {
    const details = [...this.#details.values()];
    const opaque = details.some(
      (detail) => asNonEmptyText(detail["signature"]) ?? asNonEmptyText(detail["data"]),
    );
    return opaque ? JSON.stringify(details) : undefined;
  }
}

/**
 * Returns whether another protocol signed the thinking, under the name of the same vendor, such as OpenAI's Responses. Such
 * a token is foreign here, although its vendor is the same.
 */
export function isForeignToken(signature: string | undefined): boolean {
  return signature !== undefined && parseDetails(signature).length === 0;
}

/** Parses the details for a request. Returns none for a token of another format, such as that of another protocol. */
export function parseDetails(signature: string | undefined): readonly JsonObject[] {
  return asList(parseJson(signature ?? ""))
    .map(asObject)
    .filter((detail) => detail !== undefined)
    .filter(({ type }) => typeof type === "string" && type.startsWith("reasoning."));
}
