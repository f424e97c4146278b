import type { AssistantMessage } from "../../schema/message.ts";
import type { ServerEvent } from "../answer-form.ts";
import { AnswerRoom } from "../answer-room.ts";
import type { AnswerContext, Assembler } from "../assembler.ts";
import { brokenStream, streamError } from "../classify.ts";
import { type JsonObject, listOf, objectOf, parseJson, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { settledReason } from "../stop-reason.ts";
import { type Finish, stopReasonOf } from "./finish.ts";
import { Parts } from "./parts.ts";
import { type Counters, readCounters, tierIn, usageOf } from "./usage.ts";

/** Puts an answer of `streamGenerateContent` together: each event is a piece of one response (PROV-21). */
export class GeminiAssembler implements Assembler {
  readonly #context: AnswerContext;
  readonly #parts: Parts;
  #counters: Counters = {};
  #finish: Finish | undefined;
  #blocked: string | undefined;
  #tier: string | undefined;
  #id: string | undefined;

  constructor(context: AnswerContext, callId: (call: number) => string) {
    this.#context = context;
    this.#parts = new Parts(new AnswerRoom(context.vendor), callId);
  }

  /** Nothing says that the stream is over but its end. */
  get state(): "open" | "complete" {
    return this.#finish === undefined && this.#blocked === undefined ? "open" : "complete";
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (data.trim() === "" || data === "[DONE]") return [];
    const parsed = parseJson(data);
    const chunk = objectOf(Array.isArray(parsed) ? parsed[0] : parsed);
    const failed = chunk?.["error"] !== undefined && chunk["error"] !== null;
    if (failed || event === "error") throw streamError(vendor, chunk ?? { error: data }, requestId);
    if (chunk === undefined) throw brokenStream(vendor, `an event that is not JSON: ${data}`);
    return this.#take(chunk);
  }

  finish(): AssistantMessage {
    const { model, provider, timestamp, vendor } = this.#context;
    if (this.state === "open") throw brokenStream(vendor, "the stream ended before the answer was complete");
    const content = this.#parts.content();
    const { reason, message } = this.#finish ?? { reason: "", message: undefined };
    const named = this.#blocked === undefined ? stopReasonOf(vendor, { reason, message }) : "guardRail";
    const stopReason = settledReason(named, content);
    const refusal = `${provider} stopped its answer (${reason})${message === undefined ? "" : `: ${message}`}`;
    return {
      role: "assistant",
      content,
      stopReason,
      model,
      provider,
      usage: usageOf(this.#counters),
      timestamp,
      ...(stopReason === "guardRail" && { errorMessage: this.#blocked ?? refusal }),
      ...(this.#id !== undefined && { responseId: this.#id }),
      ...(this.#tier !== undefined && { serviceTier: this.#tier }),
    };
  }

  #take(chunk: JsonObject): readonly ModelDelta[] {
    this.#id = textOf(chunk["responseId"]) ?? this.#id;
    this.#readUsage(objectOf(chunk["usageMetadata"]));
    this.#readFeedback(objectOf(chunk["promptFeedback"]));
    // We ask for one candidate.
    const candidate = listOf(chunk["candidates"])
      .map(objectOf)
      .find((one) => (one?.["index"] ?? 0) === 0);
    if (candidate === undefined) return [];
    const parts = listOf(objectOf(candidate["content"])?.["parts"]).map(objectOf);
    const deltas = parts.flatMap((part) => (part === undefined ? [] : this.#parts.add(part)));
    const reason = textOf(candidate["finishReason"]);
    if (reason !== undefined && reason !== "FINISH_REASON_UNSPECIFIED") {
      this.#finish = { reason, message: textOf(candidate["finishMessage"]) };
    }
    return deltas;
  }

  #readUsage(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    this.#counters = readCounters(this.#counters, usage);
    this.#tier = tierIn(usage) ?? this.#tier;
  }

  #readFeedback(feedback: JsonObject | undefined): void {
    const reason = textOf(feedback?.["blockReason"]);
    if (reason === undefined || reason === "BLOCKED_REASON_UNSPECIFIED") return;
    const message = textOf(feedback?.["blockReasonMessage"]);
    const { provider } = this.#context;
    this.#blocked = `${provider} blocked the prompt (${reason})${message === undefined ? "" : `: ${message}`}`;
  }
}
