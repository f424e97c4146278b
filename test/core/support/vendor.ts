import type { Machine } from "../../../src/devkit/scenario/plain/machine.ts";
import type { StageVendor } from "../../../src/devkit/scenario/plain/vendor.ts";
import type { ModelRequest } from "../../../src/models/provider.ts";
import type { AssistantMessage, Message } from "../../../src/schema/message.ts";
import { long, type Reply, SECRET_OF_TEXT, type Setting, says, TOOLS, usageOf } from "./script.ts";

/** Answers with a test's replies: the same one whenever it is asked for the same command. */
export class ScriptedVendor implements StageVendor {
  readonly id = "test";
  readonly protocol = "anthropic_messages";
  readonly selectOutputMode = () =>
    this.#setting.output === "text" ? ("native" as const) : ("final-tool" as const);
  asker: StageVendor["asker"] = { loop: 0, turn: 0, number: 0, for: "answer" };
  requests = 0;
  /** Of the stage that it answers on. */
  machine: Machine | undefined;
  readonly #setting: Setting;
  readonly #price: number;
  readonly #noteAsked: (messages: readonly Message[]) => void;
  readonly #asked = new Map<string, number>();

  /**
   * @param price - Dollars for a million tokens that are read from a cache.
   * @param asked - Told what each request shows the model.
   */
  constructor(setting: Setting, price: number, asked: (messages: readonly Message[]) => void) {
    this.#noteAsked = asked;
    this.#setting = setting;
    this.#price = price;
  }

  async stream({ messages }: ModelRequest): Promise<AssistantMessage> {
    this.requests += 1;
    this.#noteAsked(messages);
    const key = `${this.machine?.run}/${this.asker.number}`;
    const ordinal = this.#asked.get(key) ?? this.#asked.size;
    this.#asked.set(key, ordinal);
    return this.#answer(this.#setting.replies?.[ordinal] ?? says("done"), ordinal);
  }

  #answer(reply: Reply, ordinal: number): AssistantMessage {
    const { calls = [], usage = usageOf(10, 5), costUsd = 0 } = reply;
    const text = reply.text ?? (calls.length === 0 ? "" : "calling");
    const toolCalls = calls.map(({ name, arguments: given, invalid }, index) => ({
      type: "toolCall" as const,
      id: `c${ordinal}.${index}`,
      name,
      arguments: invalid === true ? {} : (given ?? this.#usualFor(name)),
    }));
    return {
      role: "assistant",
      content: [{ type: "text", text: long(text, this.#setting) }, ...toolCalls],
      stopReason: reply.stopReason ?? (calls.length === 0 ? "stop" : "toolUse"),
      model: "model-1",
      provider: "test",
      usage: { ...usage, cacheRead: usage.cacheRead + (costUsd * 1_000_000) / this.#price },
      timestamp: this.machine?.nowMs ?? 0,
      ...(reply.error === undefined ? {} : { errorMessage: reply.error }),
    };
  }

  #usualFor(name: string): Record<string, unknown> {
    const { tools = TOOLS } = this.#setting;
    if (tools[name]?.child === undefined) return { text: SECRET_OF_TEXT };
    return { task: `look${".".repeat(300)}${SECRET_OF_TEXT}` };
  }
}
