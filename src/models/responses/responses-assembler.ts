import { NO_USAGE } from "../../core/budget/usage.ts";
import { asObject, getOwn, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import { AnswerSizeLimit } from "../answer-size-limit.ts";
import { type AnswerContext, type Assembler, assertComplete, buildAnswer } from "../assembler.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { createBrokenStreamError, quoteVendor } from "../provider-error-from-response.ts";
import { reconcileStopReason } from "../reconcile-stop-reason.ts";
import type { ServerEvent } from "../stream-format.ts";
import { createEventError, createResponseError } from "./create-event-error.ts";
import { ItemCollector } from "./item-collector.ts";

/** End events of a stream. The response's status decides; the event's name is used if there is none. */
const STATUS_BY_EVENT: Readonly<Record<string, string>> = {
  "response.completed": "completed",
  "response.done": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
  "response.cancelled": "cancelled",
};

/** The vendor's names of the default tier. */
const DEFAULT_TIERS: ReadonlySet<string> = new Set(["auto", "default"]);

/** Assembles an answer of the Responses API from any server (PROV-18). */
export class ResponsesAssembler implements Assembler {
  state: "open" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #answer: ItemCollector;
  #usage: Usage = NO_USAGE;
  #id: string | undefined;
  #tier: string | undefined;
  #stopReason: StopReason = "stop";
  #filterReason: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#answer = new ItemCollector(new AnswerSizeLimit(context.vendor));
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    const parsed = asObject(parseJson(data));
    const type = asNonEmptyText(parsed?.["type"]) ?? event ?? "";
    if (type === "error" || event === "error" || type === "response.error")
      throw createEventError(vendor, parsed, data, requestId);
    if (parsed === undefined) {
      // Some servers end with the marker of chat completions; it closes the stream, but does not complete an answer.
      if (data.trim() === "" || data.trim() === "[DONE]" || type === "ping") return [];
      throw createBrokenStreamError(vendor, `a piece of the stream is not JSON: ${data}`);
    }
    if (!type.startsWith("response.") && asObject(parsed["error"]) !== undefined)
      throw createEventError(vendor, parsed, data, requestId);
    return this.#handle(type, parsed);
  }

  #handle(type: string, event: JsonObject): readonly ModelDelta[] {
    const content = `content ${asCount(event["content_index"]) ?? 0}` as const;
    const summary = `summary ${asCount(event["summary_index"]) ?? 0}` as const;
    const answer = this.#answer;
    switch (type) {
      case "response.output_item.added":
        return answer.begin(event);
      case "response.output_item.done":
        return answer.end(event);
      case "response.output_text.delta":
        return answer.extend(event, "message", content, false);
      case "response.output_text.done":
        return answer.complete(event, "message", content, event["text"], false);
      case "response.output_text.annotation.added":
        answer.annotate(event, content);
        return [];
      case "response.refusal.delta":
        return answer.extend(event, "message", content, true);
      case "response.refusal.done":
        return answer.complete(event, "message", content, event["refusal"], true);
      // Reasoning events had shorter names, which servers that imitate the API still use (GAP-07).
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        return answer.extend(event, "reasoning", content, false);
      case "response.reasoning_text.done":
      case "response.reasoning.done":
        return answer.complete(event, "reasoning", content, event["text"], false);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_summary.delta":
        return answer.extend(event, "reasoning", summary, false);
      case "response.reasoning_summary_text.done":
      case "response.reasoning_summary.done":
        return answer.complete(event, "reasoning", summary, event["text"], false);
      case "response.function_call_arguments.delta":
        return answer.extendCall(event);
      case "response.function_call_arguments.done":
        return answer.completeCall(event);
      default:
        return this.#handleLifecycle(type, event);
    }
  }

  /** Handles the response as a whole: its start and its end. */
  #handleLifecycle(type: string, event: JsonObject): readonly ModelDelta[] {
    const response = asObject(event["response"]);
    this.#id ??= asNonEmptyText(response?.["id"]);
    this.#tier = asNonEmptyText(response?.["service_tier"]) ?? this.#tier;
    const usage = asObject(response?.["usage"]) ?? asObject(event["usage"]);
    if (usage !== undefined) this.#usage = toUsage(usage);
    const end = getOwn(STATUS_BY_EVENT, type);
    if (end === undefined) return [];
    return this.#recordEnd(end, response ?? {});
  }

  #recordEnd(named: string, response: JsonObject): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    const given = asNonEmptyText(response["status"]);
    // An end event with a running status ends the response nevertheless.
    const status = given === undefined || given === "in_progress" || given === "queued" ? named : given;
    if (status === "failed" || status === "cancelled")
      throw createResponseError(vendor, response, status, requestId);
    const deltas = this.#answer.endAll(response["output"]);
    if (status === "incomplete") {
      const reason = asNonEmptyText(asObject(response["incomplete_details"])?.["reason"]);
      // For any other reason that cuts an answer: its last call may be incomplete.
      this.#stopReason = reason === "content_filter" ? "guardRail" : "length";
      if (reason === "content_filter") this.#filterReason = `the answer was filtered (${reason})`;
    }
    this.state = "ended";
    return deltas;
  }

  finish(): AssistantMessage {
    assertComplete(this, this.#context);
    const { vendor } = this.#context;
    const content = this.#answer.getContent();
    const refusal = this.#answer.getRefusal();
    const errorMessage = refusal === "" ? this.#filterReason : `refused: ${quoteVendor(vendor, refusal)}`;
    return buildAnswer(this.#context, {
      content,
      stopReason: errorMessage === undefined ? reconcileStopReason(this.#stopReason, content) : "guardRail",
      usage: this.#usage,
      errorMessage,
      responseId: this.#id,
      serviceTier: DEFAULT_TIERS.has(this.#tier ?? "") ? undefined : this.#tier,
    });
  }
}

/** Converts the counters. The vendor's input count includes cache reads and writes; Holdfast's does not. */
function toUsage(usage: JsonObject): Usage {
  const all = asCount(usage["input_tokens"]) ?? 0;
  const output = asCount(usage["output_tokens"]) ?? 0;
  const details = asObject(usage["input_tokens_details"]);
  const cacheRead = Math.min(asCount(details?.["cached_tokens"]) ?? 0, all);
  const cacheWrite = Math.min(asCount(details?.["cache_write_tokens"]) ?? 0, all - cacheRead);
  const thought = asCount(asObject(usage["output_tokens_details"])?.["reasoning_tokens"]) ?? 0;
  return {
    input: all - cacheRead - cacheWrite,
    output,
    reasoning: Math.min(thought, output),
    cacheRead,
    cacheWrite,
    totalTokens: asCount(usage["total_tokens"]) ?? all + output,
  };
}
