import { asFields, asList, asObject, getOwn, type JsonObject } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { asNonEmptyText, parseArguments } from "../json.ts";
import { formatCallToken, formatMessageToken, formatReasoningToken, hasReasoning } from "./item-tokens.ts";

/** A text within an item: a part of a message's content, or a part of the model's reasoning or of its summary. */
type Piece = {
  text: string;
  annotations: readonly unknown[];
  isRefusal: boolean;
  contentIndex: number | undefined;
};

/** The location of a text in an item: `content` or `summary`, with an index. */
export type PieceKey = `${"content" | "summary"} ${number}`;

/** What was added to a text. */
export type Addition = { readonly piece: Piece; readonly delta: string };

const KEPT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "phase"],
  function_call: ["id", "call_id", "name", "namespace", "caller"],
};

/** One item of an answer's output while it arrives: in pieces, then once or twice as a whole. */
export class Item {
  readonly type: string;
  /** The vendor's `output_index`. */
  readonly index: number;
  /** The vendor's latest version. */
  data: JsonObject;
  /** The item arrived completely; its first version may be incomplete. */
  isComplete = false;
  /** The position of the item in the message, if it is one block there. */
  contentIndex: number | undefined;
  /** The id of a call. */
  id = "";
  readonly #sizeLimit: AnswerSizeLimit;
  readonly #pieces = new Map<PieceKey, Piece>();
  #arguments = "";
  #counted = 0;

  constructor(type: string, index: number, data: JsonObject, sizeLimit: AnswerSizeLimit) {
    this.type = type;
    this.index = index;
    this.data = pickKeptFields(type, data);
    this.#sizeLimit = sizeLimit;
    sizeLimit.addBlock();
    this.#addSize();
  }

  get name(): string {
    return asNonEmptyText(this.data["name"]) ?? "";
  }

  get refusalText(): string {
    return [...this.#pieces.values()].map((piece) => (piece.isRefusal ? piece.text : "")).join("");
  }

  /** Adds to a text. Parts of reasoning are separated by a blank line. */
  add(key: PieceKey, delta: string, refusal = false): Addition {
    this.#sizeLimit.add(delta);
    let piece = this.#pieces.get(key);
    if (piece === undefined) {
      if (this.type === "message") this.#sizeLimit.addBlock();
      piece = { text: "", annotations: [], isRefusal: refusal, contentIndex: undefined };
      this.#pieces.set(key, piece);
    }
    const needsSeparator = this.type === "reasoning" && piece.text === "" && this.#joinReasoning() !== "";
    piece.text += delta;
    return { piece, delta: needsSeparator ? `\n\n${delta}` : delta };
  }

  /** Applies a complete text. @returns What it adds to the pieces before it, if anything. */
  complete(key: PieceKey, text: string | undefined, refusal = false): Addition | undefined {
    if (text === undefined) return undefined;
    const known = this.#pieces.get(key);
    if (known === undefined) return this.add(key, text, refusal);
    if (known.text === text) return undefined;
    if (text.startsWith(known.text)) return this.add(key, text.slice(known.text.length));
    // The pieces differ: the complete text counts.
    this.#sizeLimit.add(text);
    known.text = text;
    return undefined;
  }

  addArguments(delta: string): string {
    this.#sizeLimit.add(delta);
    this.#arguments += delta;
    return delta;
  }

  /** Applies complete arguments, in the same way. */
  completeArguments(given: unknown): string | undefined {
    const text = asObject(given) === undefined ? asNonEmptyText(given) : JSON.stringify(given);
    if (text === undefined || text === this.#arguments) return undefined;
    if (text.startsWith(this.#arguments)) return this.addArguments(text.slice(this.#arguments.length));
    this.#sizeLimit.add(text);
    this.#arguments = text;
    return undefined;
  }

  annotate(key: PieceKey, annotation: unknown): void {
    const piece = this.#pieces.get(key);
    if (piece === undefined || annotation === undefined) return;
    this.#sizeLimit.add(JSON.stringify(annotation));
    piece.annotations = [...piece.annotations, annotation];
  }

  /** Applies the complete item. @returns What its texts add to their pieces. */
  completeAll(data: JsonObject): readonly Addition[] {
    // Some servers omit the encrypted part in the second complete version.
    if (!this.isComplete || this.type !== "reasoning" || hasReasoning(data) || !hasReasoning(this.data))
      this.data = pickKeptFields(this.type, data);
    this.isComplete = true;
    this.#addSize();
    const parts = (name: "content" | "summary") =>
      asList(data[name]).map((item, at) => ({ key: `${name} ${at}` as const, part: asFields(item) }));
    return [...parts("summary"), ...parts("content")].flatMap(({ key, part }) => {
      const refusal = asNonEmptyText(part["refusal"]);
      const added = this.complete(key, refusal ?? asNonEmptyText(part["text"]), refusal !== undefined);
      const piece = this.#pieces.get(key);
      const annotations = asList(part["annotations"]);
      if (piece !== undefined && annotations.length > 0) {
        if (piece.annotations.length === 0) this.#sizeLimit.add(JSON.stringify(annotations));
        piece.annotations = annotations;
      }
      return added === undefined ? [] : [added];
    });
  }

  /** Returns whether the item has content to store as one block. */
  get hasContent(): boolean {
    if (this.type === "message") return false;
    return (
      this.type !== "reasoning" ||
      this.#joinReasoning() !== "" ||
      (this.isComplete && hasReasoning(this.data))
    );
  }

  /** @param withIds - Whether items may be sent back with their ids. */
  toContent(withIds: boolean): Content[] {
    switch (this.type) {
      case "message":
        return [...this.#pieces.values()].flatMap(({ text, annotations }) => {
          if (text === "") return [];
          return [
            { type: "text", text, ...toSignature(formatMessageToken(this.data, annotations, withIds)) },
          ];
        });
      case "reasoning": {
        if (!this.hasContent) return [];
        const signature = this.isComplete ? formatReasoningToken(this.data) : undefined;
        return [{ type: "thinking", thinking: this.#joinReasoning(), ...toSignature(signature) }];
      }
      case "function_call": {
        const whole = parseArguments(this.#arguments);
        const token = toSignature(formatCallToken(this.data, withIds));
        return [{ type: "toolCall", id: this.id, name: this.name, arguments: whole, ...token }];
      }
      default:
        return [{ type: "vendor", kind: this.type, data: this.data }];
    }
  }

  #joinReasoning(): string {
    return [...this.#pieces.values()].flatMap(({ text }) => (text === "" ? [] : [text])).join("\n\n");
  }

  /** Counts the stored data besides the texts: everything that the vendor may require back. It arrives up to three times. */
  #addSize(): void {
    const json = JSON.stringify(this.data);
    if (json.length <= this.#counted) return;
    this.#sizeLimit.add(json.slice(this.#counted));
    this.#counted = json.length;
  }
}

/** Picks the identifying fields of an item whose texts are stored separately, and all fields of any other item. */
function pickKeptFields(type: string, data: JsonObject): JsonObject {
  const names = getOwn(KEPT_FIELDS, type);
  if (names === undefined) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));
}

function toSignature(signature: string | undefined): { readonly signature?: string } {
  return omitUndefined({ signature });
}
