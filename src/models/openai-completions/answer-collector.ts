import { asFields, asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Content } from "../../schema/message.ts";
import type { AnswerSizeLimit } from "../answer-size-limit.ts";
import { asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { getReasoning, ReasoningDetails } from "./reasoning.ts";
import { ToolCallCollector } from "./tool-call-collector.ts";

type Block =
  | { readonly type: "text"; text: string }
  | { readonly type: "thinking"; text: string }
  | { readonly type: "toolCall"; readonly call: number };

/** The content of one answer, in order of appearance. Text and thinking each continue until the other begins. */
export class AnswerCollector {
  readonly #blocks: Block[] = [];
  readonly #calls = new ToolCallCollector();
  readonly #details: ReasoningDetails;
  readonly #sizeLimit: AnswerSizeLimit;
  #isRefused = false;

  constructor(sizeLimit: AnswerSizeLimit) {
    this.#sizeLimit = sizeLimit;
    this.#details = new ReasoningDetails(sizeLimit);
  }

  /** The model has explicitly refused to answer. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  add(delta: JsonObject): readonly ModelDelta[] {
    this.#details.add(delta);
    this.#isRefused ||= asNonEmptyText(delta["refusal"]) !== undefined;
    const { content } = delta;
    return [
      ...this.#append("thinking", getReasoning(delta)),
      ...(Array.isArray(content) ? this.#addParts(content) : this.#append("text", asNonEmptyText(content))),
      ...this.#append("text", asNonEmptyText(delta["refusal"])),
      // Audio is stored as its transcript.
      ...this.#append("text", asNonEmptyText(asObject(delta["audio"])?.["transcript"])),
      ...listCalls(delta).map((call) => this.#addCall(call)),
    ];
  }

  getContent(): Content[] {
    const signature = this.#details.formatSignature();
    const content = this.#blocks.flatMap((block): Content[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type === "thinking") return [{ type: "thinking", thinking: block.text }];
      const call = this.#calls.getContent(block.call);
      return call === undefined ? [] : [call];
    });
    if (signature === undefined) return content;
    // The details are one list for the whole answer: it is stored once, with the first block of thinking.
    const first = content.findIndex((part) => part.type === "thinking");
    if (first < 0) return [{ type: "thinking", thinking: "", signature }, ...content];
    return content.map((part, at) => (at === first ? { ...part, signature } : part));
  }

  #append(type: "text" | "thinking", delta: string | undefined): readonly ModelDelta[] {
    if (delta === undefined) return [];
    this.#sizeLimit.add(delta);
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text += delta;
    else {
      this.#sizeLimit.addBlock();
      this.#blocks.push({ type, text: delta });
    }
    return [{ type, index: this.#blocks.length - 1, delta }];
  }

  /** Mistral sends its thinking as parts of the content. */
  #addParts(parts: readonly unknown[]): readonly ModelDelta[] {
    return parts.flatMap((item) => {
      const part = asFields(item);
      if (part["type"] !== "thinking") return this.#append("text", asNonEmptyText(part["text"]));
      const { thinking } = part;
      const texts = asList(thinking).map((piece) => asNonEmptyText(asObject(piece)?.["text"]) ?? "");
      return this.#append("thinking", asNonEmptyText(thinking) ?? asNonEmptyText(texts.join("")));
    });
  }

  #addCall(fragment: JsonObject): ModelDelta {
    const { call, id, name, text } = this.#calls.add(fragment);
    let index = this.#blocks.findIndex((block) => block.type === "toolCall" && block.call === call);
    if (index < 0) {
      this.#sizeLimit.addCall();
      this.#sizeLimit.addBlock(id, name);
      index = this.#blocks.push({ type: "toolCall", call }) - 1;
    }
    this.#sizeLimit.add(text);
    return { type: "toolCall", index, id, name, delta: text };
  }
}

/** `function_call` is the older form, with a single call. */
function listCalls(delta: JsonObject): readonly JsonObject[] {
  const legacy = asObject(delta["function_call"]);
  const calls = asList(delta["tool_calls"])
    .map(asObject)
    .filter((call) => call !== undefined);
  return legacy === undefined ? calls : [...calls, { index: 0, function: legacy }];
}
