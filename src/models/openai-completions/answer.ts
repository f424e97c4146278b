import type { Content } from "../../schema/message.ts";
import type { AnswerRoom } from "../answer-room.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { ReasoningDetails, reasoningIn } from "./reasoning.ts";
import { ToolCalls } from "./tool-calls.ts";

type Block =
  | { readonly type: "text"; text: string }
  | { readonly type: "thinking"; text: string }
  | { readonly type: "toolCall"; readonly call: number };

/** The content of one answer, in order of appearance. Text and thinking each go on until the other begins. */
export class Answer {
  readonly #blocks: Block[] = [];
  readonly #calls = new ToolCalls();
  readonly #details: ReasoningDetails;
  readonly #room: AnswerRoom;
  #refused = false;

  constructor(room: AnswerRoom) {
    this.#room = room;
    this.#details = new ReasoningDetails(room);
  }

  /** The model has said in so many words that it will not answer. */
  get refused(): boolean {
    return this.#refused;
  }

  add(delta: JsonObject): readonly ModelDelta[] {
    this.#details.add(delta);
    this.#refused ||= textOf(delta["refusal"]) !== undefined;
    const { content } = delta;
    return [
      ...this.#append("thinking", reasoningIn(delta)),
      ...(Array.isArray(content) ? this.#parts(content) : this.#append("text", textOf(content))),
      ...this.#append("text", textOf(delta["refusal"])),
      // What is spoken is kept as its words.
      ...this.#append("text", textOf(objectOf(delta["audio"])?.["transcript"])),
      ...callsIn(delta).map((call) => this.#call(call)),
    ];
  }

  content(): Content[] {
    const signature = this.#details.signature();
    const content = this.#blocks.flatMap((block): Content[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type === "thinking") return [{ type: "thinking", thinking: block.text }];
      const call = this.#calls.content(block.call);
      return call === undefined ? [] : [call];
    });
    if (signature === undefined) return content;
    // The details are one list for the whole answer: it is kept once, with the first of the thinking.
    const first = content.findIndex((part) => part.type === "thinking");
    if (first < 0) return [{ type: "thinking", thinking: "", signature }, ...content];
    return content.map((part, at) => (at === first ? { ...part, signature } : part));
  }

  #append(type: "text" | "thinking", delta: string | undefined): readonly ModelDelta[] {
    if (delta === undefined) return [];
    this.#room.take(delta);
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text += delta;
    else {
      this.#room.takeBlock();
      this.#blocks.push({ type, text: delta });
    }
    return [{ type, index: this.#blocks.length - 1, delta }];
  }

  /** Mistral sends its thinking as parts of the content. */
  #parts(parts: readonly unknown[]): readonly ModelDelta[] {
    return parts.flatMap((item) => {
      const part = objectOf(item) ?? {};
      if (part["type"] !== "thinking") return this.#append("text", textOf(part["text"]));
      const { thinking } = part;
      const texts = listOf(thinking).map((piece) => textOf(objectOf(piece)?.["text"]) ?? "");
      return this.#append("thinking", textOf(thinking) ?? textOf(texts.join("")));
    });
  }

  #call(fragment: JsonObject): ModelDelta {
    const { call, id, name, text } = this.#calls.add(fragment);
    let index = this.#blocks.findIndex((block) => block.type === "toolCall" && block.call === call);
    if (index < 0) {
      this.#room.takeCall();
      this.#room.takeBlock(id, name);
      index = this.#blocks.push({ type: "toolCall", call }) - 1;
    }
    this.#room.take(text);
    return { type: "toolCall", index, id, name, delta: text };
  }
}

/** `function_call` is the form before there could be several. */
function callsIn(delta: JsonObject): readonly JsonObject[] {
  const legacy = objectOf(delta["function_call"]);
  const calls = listOf(delta["tool_calls"])
    .map(objectOf)
    .filter((call) => call !== undefined);
  return legacy === undefined ? calls : [...calls, { index: 0, function: legacy }];
}
