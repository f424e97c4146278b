import { asFields, asObject, getOwn, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AssistantMessage, StopReason } from "../../schema/message.ts";
import { AnswerSizeLimit } from "../answer-size-limit.ts";
import { type AnswerContext, type Assembler, assertComplete, buildAnswer } from "../assembler.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { createBrokenStreamError, createStreamError } from "../provider-error-from-response.ts";
import { reconcileStopReason } from "../reconcile-stop-reason.ts";
import type { ServerEvent } from "../stream-format.ts";
import { BlockCollector } from "./block-collector.ts";
import { type Counters, readCounters, toUsage } from "./usage.ts";

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

/** Assembles an answer of the Messages API (PROV-09, PROV-10). */
export class AnthropicAssembler implements Assembler {
  state: "open" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #blocks: BlockCollector;
  #counters: Counters = {};
  #stopReason: string | undefined;
  #refusal: string | undefined;
  #id: string | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#blocks = new BlockCollector(new AnswerSizeLimit(context.vendor));
  }

  /** The vendor's own tools were interrupted, or it has compacted. Sent the content so far, the model continues. */
  get isPaused(): boolean {
    return this.#stopReason === "pause_turn" || this.#stopReason === "compaction";
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    const parsed = asObject(parseJson(data));
    if (event === "error" || parsed?.["type"] === "error")
      throw createStreamError(vendor, parsed ?? { error: data }, requestId);
    if (parsed === undefined) {
      // Only an event that is named as one of the API must be JSON.
      if (event === undefined || event === "ping") return [];
      throw createBrokenStreamError(vendor, `an event "${event}" that is not JSON: ${data}`);
    }
    return this.#handle(parsed);
  }

  #handle(event: JsonObject): readonly ModelDelta[] {
    const index = asCount(event["index"]) ?? 0;
    switch (event["type"]) {
      case "message_start": {
        const message = asObject(event["message"]);
        this.#id = asNonEmptyText(message?.["id"]);
        this.#addUsage(asObject(message?.["usage"]));
        return [];
      }
      case "content_block_start":
        return this.#blocks.start(index, asFields(event["content_block"]));
      case "content_block_delta":
        return this.#blocks.extend(index, asFields(event["delta"]));
      case "content_block_stop":
        this.#blocks.end(index);
        return [];
      case "message_delta": {
        const delta = asObject(event["delta"]);
        this.#stopReason = asNonEmptyText(delta?.["stop_reason"]) ?? this.#stopReason;
        this.#refusal = formatRefusal(asObject(delta?.["stop_details"])) ?? this.#refusal;
        this.#addUsage(asObject(event["usage"]));
        return [];
      }
      case "message_stop":
        this.state = "ended";
        return [];
      default:
        return [];
    }
  }

  #addUsage(usage: JsonObject | undefined): void {
    this.#counters = readCounters(this.#counters, usage);
    const tier = asNonEmptyText(usage?.["service_tier"]);
    if (tier !== undefined && tier !== DEFAULT_TIER) this.#tier = tier;
  }

  finish(): AssistantMessage {
    assertComplete(this, this.#context);
    const content = this.#blocks.getContent();
    const stopReason = reconcileStopReason(getOwn(STOP_REASONS, this.#stopReason) ?? "stop", content);
    const refusal = this.#refusal ?? `${this.#context.provider} refused to answer`;
    return buildAnswer(this.#context, {
      content,
      stopReason,
      usage: toUsage(this.#counters),
      errorMessage: stopReason === "guardRail" ? refusal : undefined,
      responseId: this.#id,
      serviceTier: this.#tier,
    });
  }
}

function formatRefusal(details: JsonObject | undefined): string | undefined {
  if (details?.["type"] !== "refusal") return undefined;
  const category = asNonEmptyText(details["category"]);
  const explanation = asNonEmptyText(details["explanation"]) ?? "no explanation";
  return `refused${category === undefined ? "" : ` (${category})`}: ${explanation}`;
}
