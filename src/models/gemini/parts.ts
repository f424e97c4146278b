import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { freeId } from "../call-id.ts";
import { type JsonObject, listOf, objectOf, parseArguments, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { putPartial } from "./partial-args.ts";

type CallBlock = {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly sentId: string;
  args: unknown;
  signature: string;
};
type Block =
  | { readonly type: "text" | "thinking"; text: string; readonly signature: string }
  | CallBlock
  | { readonly type: "vendor"; readonly kind: string; readonly data: JsonObject };

/** Fields that are read already, those that only say something about a part, and one that the vendor only ever sends. */
const NO_KIND = new Set([
  "text",
  "functionCall",
  "thought",
  "thoughtSignature",
  "partMetadata",
  "videoMetadata",
  "mediaResolution",
  "mediaProcessing",
  "speechMetadata",
  "audioTranscription",
]);

/**
 * The content of one answer, part by part. A part with a signature stays a part of its own, even an empty one: the
 * vendor wants it back as it came. Text without goes on until something else begins.
 */
export class Parts {
  readonly #blocks: Block[] = [];
  readonly #room: AnswerRoom;
  readonly #idOf: (call: number) => string;
  #calls = 0;
  /** A call whose arguments are still arriving. */
  #open: CallBlock | undefined;

  /** @param idOf - The id of the n-th call (from 0) where the vendor gives none. */
  constructor(room: AnswerRoom, idOf: (call: number) => string) {
    this.#room = room;
    this.#idOf = idOf;
  }

  add(part: JsonObject): readonly ModelDelta[] {
    const signature = textOf(part["thoughtSignature"]) ?? "";
    const call = objectOf(part["functionCall"]);
    if (call !== undefined) return this.#call(call, signature);
    const { text } = part;
    const type = part["thought"] === true ? "thinking" : "text";
    if (typeof text === "string") return this.#text(type, text, signature);
    const kind = Object.keys(part).find((name) => !NO_KIND.has(name) && objectOf(part[name]));
    return kind === undefined ? this.#text(type, "", signature) : this.#vendor(kind, part);
  }

  content(): Content[] {
    return this.#blocks.map(contentOf);
  }

  #text(type: "text" | "thinking", text: string, signature: string): readonly ModelDelta[] {
    if (text === "" && signature === "") return [];
    const last = this.#blocks.at(-1);
    if (signature === "" && last?.type === type && last.signature === "") {
      this.#room.take(text);
      last.text += text;
    } else {
      this.#room.takeBlock(text, signature);
      this.#blocks.push({ type, text, signature });
    }
    return text === "" ? [] : [{ type, index: this.#blocks.length - 1, delta: text }];
  }

  #vendor(kind: string, data: JsonObject): readonly ModelDelta[] {
    this.#room.takeBlock(JSON.stringify(data));
    this.#blocks.push({ type: "vendor", kind, data });
    return [];
  }

  #call(call: JsonObject, signature: string): readonly ModelDelta[] {
    const name = textOf(call["name"]);
    const sentId = textOf(call["id"]) ?? "";
    const goesOn = call["willContinue"] === true;
    const open = this.#open;
    const same =
      open !== undefined &&
      (name ?? open.name) === open.name &&
      (sentId === "" || open.sentId === "" || sentId === open.sentId);
    const closed = open !== undefined && !same ? [this.#close(open)] : [];
    const block = same ? open : this.#begin(name ?? "", sentId);
    this.#fill(block, call);
    if (signature !== "") {
      this.#room.take(signature);
      block.signature = signature;
    }
    if (goesOn) {
      this.#open = block;
      return same ? closed : [...closed, this.#delta(block, "")];
    }
    return [...closed, this.#close(block)];
  }

  #begin(name: string, sentId: string): CallBlock {
    const taken = this.#blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const id = freeId(sentId === "" ? this.#idOf(this.#calls) : sentId, taken);
    this.#calls += 1;
    this.#room.takeCall();
    this.#room.takeBlock(id, name);
    const block: CallBlock = { type: "toolCall", id, name, sentId, args: {}, signature: "" };
    this.#blocks.push(block);
    return block;
  }

  #fill(block: CallBlock, call: JsonObject): void {
    const { args } = call;
    if (args !== undefined && args !== null) {
      this.#room.take(JSON.stringify(args));
      block.args = typeof args === "string" ? parseArguments(args) : args;
    }
    const partials = listOf(call["partialArgs"]).map(objectOf);
    const root = objectOf(block.args);
    if (root === undefined) return;
    for (const partial of partials) {
      if (partial === undefined) continue;
      this.#room.take(JSON.stringify(partial));
      putPartial(root as Record<string, unknown>, partial);
    }
  }

  #close(block: CallBlock): ModelDelta {
    this.#open = undefined;
    return this.#delta(block, JSON.stringify(block.args));
  }

  #delta(block: CallBlock, delta: string): ModelDelta {
    return { type: "toolCall", index: this.#blocks.indexOf(block), id: block.id, name: block.name, delta };
  }
}

function contentOf(block: Block): Content {
  if (block.type === "vendor") return block;
  const signed = block.signature !== "" && { signature: block.signature };
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...signed };
    case "thinking":
      return { type: "thinking", thinking: block.text, ...signed };
    case "toolCall":
      return { type: "toolCall", id: block.id, name: block.name, arguments: block.args, ...signed };
  }
}
