import { asList, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { AnswerSizeLimit } from "../answer-size-limit.ts";
import { type AnswerContext, type Assembler, assertComplete, buildAnswer } from "../assembler.ts";
import { asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { createBrokenStreamError, createStreamError } from "../provider-error-from-response.ts";
import { reconcileStopReason } from "../reconcile-stop-reason.ts";
import type { ServerEvent } from "../stream-format.ts";
import { PartCollector } from "./part-collector.ts";
import { type Finish, toStopReason } from "./to-stop-reason.ts";
import { type Counters, findTier, readCounters, toUsage } from "./usage.ts";

/** Assembles an answer of `streamGenerateContent`: each event is a piece of one response (PROV-21). */
export class GeminiAssembler implements Assembler {
  readonly #context: AnswerContext;
  readonly #parts: PartCollector;
  #counters: Counters = {};
  #finish: Finish | undefined;
  #blockReason: string | undefined;
  #tier: string | undefined;
  #id: string | undefined;

  constructor(context: AnswerContext, callId: (call: number) => string) {
    this.#context = context;
    this.#parts = new PartCollector(new AnswerSizeLimit(context.vendor), callId);
  }

  /** Only the end of the stream shows that it is complete. */
  get state(): "open" | "complete" {
    return this.#finish === undefined && this.#blockReason === undefined ? "open" : "complete";
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (data.trim() === "" || data === "[DONE]") return [];
    const parsed = parseJson(data);
    const chunk = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
    const failed = chunk?.["error"] !== undefined && chunk["error"] !== null;
    if (failed || event === "error") throw createStreamError(vendor, chunk ?? { error: data }, requestId);
    if (chunk === undefined) throw createBrokenStreamError(vendor, `an event that is not JSON: ${data}`);
    return this.#handle(chunk);
  }

  finish(): AssistantMessage {
    assertComplete(this, this.#context);
    const { provider, vendor } = this.#context;
    const content = this.#parts.getContent();
    const { reason, message } = this.#finish ?? { reason: "", message: undefined };
    const named = this.#blockReason === undefined ? toStopReason(vendor, { reason, message }) : "guardRail";
    const stopReason = reconcileStopReason(named, content);
    const refusal = `${provider} stopped its answer (${reason})${message === undefined ? "" : `: ${message}`}`;
    return buildAnswer(this.#context, {
      content,
      stopReason,
      usage: toUsage(this.#counters),
      errorMessage: stopReason === "guardRail" ? (this.#blockReason ?? refusal) : undefined,
      responseId: this.#id,
      serviceTier: this.#tier,
    });
  }

  #handle(chunk: JsonObject): readonly ModelDelta[] {
    this.#id = asNonEmptyText(chunk["responseId"]) ?? this.#id;
    this.#readUsage(asObject(chunk["usageMetadata"]));
    this.#readFeedback(asObject(chunk["promptFeedback"]));
    // The request asks for one candidate.
    const candidate = asList(chunk["candidates"])
      .map(asObject)
      .find((one) => (one?.["index"] ?? 0) === 0);
    if (candidate === undefined) return [];
    const parts = asList(asObject(candidate["content"])?.["parts"]).map(asObject);
    const deltas = parts.flatMap((part) => (part === undefined ? [] : this.#parts.add(part)));
    const reason = asNonEmptyText(candidate["finishReason"]);
    if (reason !== undefined && reason !== "FINISH_REASON_UNSPECIFIED") {
      this.#finish = { reason, message: asNonEmptyText(candidate["finishMessage"]) };
    }
    return deltas;
  }

  #readUsage(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    this.#counters = readCounters(this.#counters, usage);
    this.#tier = findTier(usage) ?? this.#tier;
  }

  #readFeedback(feedback: JsonObject | undefined): void {
    const reason = asNonEmptyText(feedback?.["blockReason"]);
    if (reason === undefined || reason === "BLOCKED_REASON_UNSPECIFIED") return;
    const message = asNonEmptyText(feedback?.["blockReasonMessage"]);
    const { provider } = this.#context;
    this.#blockReason = `${provider} blocked the prompt (${reason})${message === undefined ? "" : `: ${message}`}`;
  }
}
