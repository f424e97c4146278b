import { asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { assignCallId } from "../call-id.ts";
import { asNonEmptyText, parseArguments } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { putPartialValue } from "./put-partial.ts";

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

/** Fields that are read elsewhere, fields that only describe a part, and one that the vendor only sends. */
const KNOWN_FIELDS = new Set([
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
 * Collects the content of one answer, part by part. A part with a signature stays separate, even an empty one: the vendor
 * requires it back unchanged. Text without a signature continues until another part begins.
 */
export class PartCollector {
  readonly #blocks: Block[] = [];
  readonly #sizeLimit: AnswerSizeLimit;
  readonly #createId: (call: number) => string;
  #calls = 0;
  /** A call whose arguments are still arriving. */
  #openCall: CallBlock | undefined;

  /** @param createId - Creates the id of the n-th call (from 0) if the vendor sends none. */
  constructor(sizeLimit: AnswerSizeLimit, createId: (call: number) => string) {
    this.#sizeLimit = sizeLimit;
    this.#createId = createId;
  }

  add(part: JsonObject): readonly ModelDelta[] {
    const signature = asNonEmptyText(part["thoughtSignature"]) ?? "";
    const call = asObject(part["functionCall"]);
    if (call !== undefined) return this.#addCall(call, signature);
    const { text } = part;
    const type = part["thought"] === true ? "thinking" : "text";
    if (typeof text === "string") return this.#addText(type, text, signature);
    const kind = Object.keys(part).find((name) => !KNOWN_FIELDS.has(name) && asObject(part[name]));
    return kind === undefined ? this.#addText(type, "", signature) : this.#addVendorPart(kind, part);
  }

  getContent(): Content[] {
    return this.#blocks.map(toContent);
  }

  #addText(type: "text" | "thinking", text: string, signature: string): readonly ModelDelta[] {
    if (text === "" && signature === "") return [];
    const last = this.#blocks.at(-1);
    if (signature === "" && last?.type === type && last.signature === "") {
      this.#sizeLimit.add(text);
      last.text += text;
    } else {
      this.#sizeLimit.addBlock(text, signature);
      this.#blocks.push({ type, text, signature });
    }
    return text === "" ? [] : [{ type, index: this.#blocks.length - 1, delta: text }];
  }

  #addVendorPart(kind: string, data: JsonObject): readonly ModelDelta[] {
    this.#sizeLimit.addBlock(JSON.stringify(data));
    this.#blocks.push({ type: "vendor", kind, data });
    return [];
  }

  #addCall(call: JsonObject, signature: string): readonly ModelDelta[] {
    const name = asNonEmptyText(call["name"]);
    const sentId = asNonEmptyText(call["id"]) ?? "";
    const continues = call["willContinue"] === true;
    const open = this.#openCall;
    const isSame =
      open !== undefined &&
      (name ?? open.name) === open.name &&
      (sentId === "" || open.sentId === "" || sentId === open.sentId);
    const closed = open !== undefined && !isSame ? [this.#close(open)] : [];
    const block = isSame ? open : this.#begin(name ?? "", sentId);
    this.#fill(block, call);
    if (signature !== "") {
      this.#sizeLimit.add(signature);
      block.signature = signature;
    }
    if (continues) {
      this.#openCall = block;
      return isSame ? closed : [...closed, this.#createDelta(block, "")];
    }
    return [...closed, this.#close(block)];
  }

  #begin(name: string, sentId: string): CallBlock {
    const taken = this.#blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const id = assignCallId(sentId === "" ? this.#createId(this.#calls) : sentId, taken);
    this.#calls += 1;
    this.#sizeLimit.addCall();
    this.#sizeLimit.addBlock(id, name);
    const block: CallBlock = { type: "toolCall", id, name, sentId, args: {}, signature: "" };
    this.#blocks.push(block);
    return block;
  }

  #fill(block: CallBlock, call: JsonObject): void {
    const { args } = call;
    if (args !== undefined && args !== null) {
      this.#sizeLimit.add(JSON.stringify(args));
      block.args = typeof args === "string" ? parseArguments(args) : args;
    }
    const partials = asList(call["partialArgs"]).map(asObject);
    const root = asObject(block.args);
    if (root === undefined) return;
    for (const partial of partials) {
      if (partial === undefined) continue;
      this.#sizeLimit.add(JSON.stringify(partial));
      putPartialValue(root as Record<string, unknown>, partial);
    }
  }

  #close(block: CallBlock): ModelDelta {
    this.#openCall = undefined;
    return this.#createDelta(block, JSON.stringify(block.args));
  }

  #createDelta(block: CallBlock, delta: string): ModelDelta {
    return { type: "toolCall", index: this.#blocks.indexOf(block), id: block.id, name: block.name, delta };
  }
}

function toContent(block: Block): Content {
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
