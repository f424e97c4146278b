import type { AssistantMessage, StopReason } from "../../schema/message.ts";
import type { ServerEvent } from "../answer-form.ts";
import { AnswerRoom } from "../answer-room.ts";
import type { AnswerContext, Assembler } from "../assembler.ts";
import { brokenStream, streamError } from "../classify.ts";
import { countOf, type JsonObject, objectOf, ownOf, parseJson, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { settledReason } from "../stop-reason.ts";
import { Blocks } from "./blocks.ts";
import { type Counters, readCounters, usageOf } from "./usage.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  compaction: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  refusal: "guardRail",
};

const DEFAULT_TIER = "standard";

/** Puts an answer of the Messages API together (PROV-09, PROV-10). */
export class AnthropicAssembler implements Assembler {
  state: "open" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #blocks: Blocks;
  #counters: Counters = {};
  #stop: string | undefined;
  #refusal: string | undefined;
  #id: string | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#blocks = new Blocks(new AnswerRoom(context.vendor));
  }

  /** The vendor's own tools were interrupted, or it has compacted; asked again with what is here, the model goes on. */
  get paused(): boolean {
    return this.#stop === "pause_turn" || this.#stop === "compaction";
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    const parsed = objectOf(parseJson(data));
    if (event === "error" || parsed?.["type"] === "error")
      throw streamError(vendor, parsed ?? { error: data }, requestId);
    if (parsed === undefined) {
      // Only what is named as an event of the API must be one.
      if (event === undefined || event === "ping") return [];
      throw brokenStream(vendor, `an event "${event}" that is not JSON: ${data}`);
    }
    return this.#take(parsed);
  }

  #take(event: JsonObject): readonly ModelDelta[] {
    const index = countOf(event["index"]) ?? 0;
    switch (event["type"]) {
      case "message_start": {
        const message = objectOf(event["message"]);
        this.#id = textOf(message?.["id"]);
        this.#use(objectOf(message?.["usage"]));
        return [];
      }
      case "content_block_start":
        return this.#blocks.start(index, objectOf(event["content_block"]) ?? {});
      case "content_block_delta":
        return this.#blocks.extend(index, objectOf(event["delta"]) ?? {});
      case "content_block_stop":
        this.#blocks.end(index);
        return [];
      case "message_delta": {
        const delta = objectOf(event["delta"]);
        this.#stop = textOf(delta?.["stop_reason"]) ?? this.#stop;
        this.#refusal = refusalIn(objectOf(delta?.["stop_details"])) ?? this.#refusal;
        this.#use(objectOf(event["usage"]));
        return [];
      }
      case "message_stop":
        this.state = "ended";
        return [];
      default:
        return [];
    }
  }

  #use(usage: JsonObject | undefined): void {
    this.#counters = readCounters(this.#counters, usage);
    const tier = textOf(usage?.["service_tier"]);
    if (tier !== undefined && tier !== DEFAULT_TIER) this.#tier = tier;
  }

  finish(): AssistantMessage {
    const { model, provider, timestamp, vendor } = this.#context;
    if (this.state === "open") throw brokenStream(vendor, "the stream ended before the answer was complete");
    const content = this.#blocks.content();
    const stopReason = settledReason(ownOf(STOP_REASONS, this.#stop) ?? "stop", content);
    return {
      role: "assistant",
      content,
      stopReason,
      model,
      provider,
      usage: usageOf(this.#counters),
      timestamp,
      ...(stopReason === "guardRail" && { errorMessage: this.#refusal ?? `${provider} refused to answer` }),
      ...(this.#id !== undefined && { responseId: this.#id }),
      ...(this.#tier !== undefined && { serviceTier: this.#tier }),
    };
  }
}

function refusalIn(details: JsonObject | undefined): string | undefined {
  if (details?.["type"] !== "refusal") return undefined;
  const category = textOf(details["category"]);
  const explanation = textOf(details["explanation"]) ?? "no explanation";
  return `refused${category === undefined ? "" : ` (${category})`}: ${explanation}`;
}
