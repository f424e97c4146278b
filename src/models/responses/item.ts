import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { type JsonObject, listOf, objectOf, ownOf, parseArguments, textOf } from "../json.ts";
import { callSignature, holdsReasoning, messageSignature, reasoningSignature } from "./tokens.ts";

/** A text within an item: a part of a message's content, or a part of the model's reasoning or of its summary. */
type Piece = { text: string; annotations: readonly unknown[]; refusal: boolean; place: number | undefined };

/** Where the texts of an item stand: `content`, by index, and `summary`. */
export type PieceKey = `${"content" | "summary"} ${number}`;

/** What has been added to a text. */
export type Addition = { readonly piece: Piece; readonly delta: string };

const KEPT: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "phase"],
  function_call: ["id", "call_id", "name", "namespace", "caller"],
};

/** One item of an answer's output while it arrives: piece by piece, then once or twice as a whole. */
export class Item {
  readonly type: string;
  /** The vendor's `output_index`. */
  readonly index: number;
  /** As the vendor sent it last. */
  data: JsonObject;
  /** It came whole: what was sent of it when it began may be incomplete. */
  whole = false;
  /** Of the whole item in the message, for what is one block there. */
  place: number | undefined;
  /** Of a call. */
  id = "";
  readonly #room: AnswerRoom;
  readonly #pieces = new Map<PieceKey, Piece>();
  #arguments = "";
  #counted = 0;

  constructor(type: string, index: number, data: JsonObject, room: AnswerRoom) {
    this.type = type;
    this.index = index;
    this.data = kept(type, data);
    this.#room = room;
    room.takeBlock();
    this.#count();
  }

  get name(): string {
    return textOf(this.data["name"]) ?? "";
  }

  get refused(): string {
    return [...this.#pieces.values()].map((piece) => (piece.refusal ? piece.text : "")).join("");
  }

  /** Adds to a text; parts of reasoning stand apart by a blank line. */
  add(key: PieceKey, delta: string, refusal = false): Addition {
    this.#room.take(delta);
    let piece = this.#pieces.get(key);
    if (piece === undefined) {
      if (this.type === "message") this.#room.takeBlock();
      piece = { text: "", annotations: [], refusal, place: undefined };
      this.#pieces.set(key, piece);
    }
    const apart = this.type === "reasoning" && piece.text === "" && this.#thinking() !== "";
    piece.text += delta;
    return { piece, delta: apart ? `\n\n${delta}` : delta };
  }

  /** Takes a text that came whole. @returns What it has beyond the pieces before it, if anything. */
  settle(key: PieceKey, text: string | undefined, refusal = false): Addition | undefined {
    if (text === undefined) return undefined;
    const known = this.#pieces.get(key);
    if (known === undefined) return this.add(key, text, refusal);
    if (known.text === text) return undefined;
    if (text.startsWith(known.text)) return this.add(key, text.slice(known.text.length));
    // What was said in pieces was something else: the whole counts.
    this.#room.take(text);
    known.text = text;
    return undefined;
  }

  addArguments(delta: string): string {
    this.#room.take(delta);
    this.#arguments += delta;
    return delta;
  }

  /** As of a text. */
  settleArguments(given: unknown): string | undefined {
    const text = objectOf(given) === undefined ? textOf(given) : JSON.stringify(given);
    if (text === undefined || text === this.#arguments) return undefined;
    if (text.startsWith(this.#arguments)) return this.addArguments(text.slice(this.#arguments.length));
    this.#room.take(text);
    this.#arguments = text;
    return undefined;
  }

  annotate(key: PieceKey, annotation: unknown): void {
    const piece = this.#pieces.get(key);
    if (piece === undefined || annotation === undefined) return;
    this.#room.take(JSON.stringify(annotation));
    piece.annotations = [...piece.annotations, annotation];
  }

  /** The item as a whole. @returns What its texts have beyond their pieces. */
  settleAll(data: JsonObject): readonly Addition[] {
    // Some servers leave the encrypted part out of the second whole.
    if (!this.whole || this.type !== "reasoning" || holdsReasoning(data) || !holdsReasoning(this.data))
      this.data = kept(this.type, data);
    this.whole = true;
    this.#count();
    const parts = (name: "content" | "summary") =>
      listOf(data[name]).map((item, at) => ({ key: `${name} ${at}` as const, part: objectOf(item) ?? {} }));
    return [...parts("summary"), ...parts("content")].flatMap(({ key, part }) => {
      const refusal = textOf(part["refusal"]);
      const added = this.settle(key, refusal ?? textOf(part["text"]), refusal !== undefined);
      const piece = this.#pieces.get(key);
      const annotations = listOf(part["annotations"]);
      if (piece !== undefined && annotations.length > 0) {
        if (piece.annotations.length === 0) this.#room.take(JSON.stringify(annotations));
        piece.annotations = annotations;
      }
      return added === undefined ? [] : [added];
    });
  }

  /** Whether there is something to keep of it, as one block. */
  get keeps(): boolean {
    if (this.type === "message") return false;
    return this.type !== "reasoning" || this.#thinking() !== "" || (this.whole && holdsReasoning(this.data));
  }

  /** @param withIds - Whether items may be sent back under their ids. */
  content(withIds: boolean): Content[] {
    switch (this.type) {
      case "message":
        return [...this.#pieces.values()].flatMap(({ text, annotations }) => {
          if (text === "") return [];
          return [{ type: "text", text, ...signed(messageSignature(this.data, annotations, withIds)) }];
        });
      case "reasoning": {
        if (!this.keeps) return [];
        const signature = this.whole ? reasoningSignature(this.data) : undefined;
        return [{ type: "thinking", thinking: this.#thinking(), ...signed(signature) }];
      }
      case "function_call": {
        const whole = parseArguments(this.#arguments);
        const token = signed(callSignature(this.data, withIds));
        return [{ type: "toolCall", id: this.id, name: this.name, arguments: whole, ...token }];
      }
      default:
        return [{ type: "vendor", kind: this.type, data: this.data }];
    }
  }

  #thinking(): string {
    return [...this.#pieces.values()].flatMap(({ text }) => (text === "" ? [] : [text])).join("\n\n");
  }

  /** What is kept of an item beside its texts: all that the vendor may want back. It comes up to three times. */
  #count(): void {
    const json = JSON.stringify(this.data);
    if (json.length <= this.#counted) return;
    this.#room.take(json.slice(this.#counted));
    this.#counted = json.length;
  }
}

/** Of an item whose texts are kept by themselves: what names it. Of every other, all. */
function kept(type: string, data: JsonObject): JsonObject {
  const names = ownOf(KEPT, type);
  if (names === undefined) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));
}

function signed(signature: string | undefined): { readonly signature?: string } {
  return signature === undefined ? {} : { signature };
}
