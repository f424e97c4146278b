import { NO_USAGE } from "../../core/budget/usage.ts";
import { asList, asObject, getOwn, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import { AnswerSizeLimit } from "../answer-size-limit.ts";
import { type AnswerContext, type Assembler, assertComplete, buildAnswer } from "../assembler.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import { createBrokenStreamError, createStreamError } from "../provider-error-from-response.ts";
import { reconcileStopReason } from "../reconcile-stop-reason.ts";
import type { ServerEvent } from "../stream-format.ts";
import { AnswerCollector } from "./answer-collector.ts";
import { toUsage } from "./usage.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  // Mistral, for the end of the model's window.
  model_length: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
  content_filter: "guardRail",
  // Z.ai.
  sensitive: "guardRail",
};

/** The default tiers that servers report: OpenAI's and Groq's own names. */
const DEFAULT_TIERS: ReadonlySet<string> = new Set(["default", "auto", "standard", "on_demand"]);

/** Finish reasons that report a server failure. */
const FAULT_BY_FINISH_REASON = {
  error: "api",
  network_error: "network",
  insufficient_system_resource: "rate-limited",
} as const;

/** Assembles an answer of the chat completions API from any server (PROV-13). */
export class CompletionsAssembler implements Assembler {
  state: "open" | "complete" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #answer: AnswerCollector;
  #finish: string | undefined;
  #usage: Usage = NO_USAGE;
  #id: string | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#answer = new AnswerCollector(new AnswerSizeLimit(context.vendor));
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    if (data.trim() === "[DONE]") {
      // Without a finish reason it ends a stream that was cut before the server, not an answer.
      if (this.state === "complete") this.state = "ended";
      return [];
    }
    const chunk = asObject(parseJson(data));
    if (event === "error") throw createStreamError(vendor, chunk ?? { error: data }, requestId);
    if (chunk === undefined) {
      if (data.trim() === "") return [];
      throw createBrokenStreamError(vendor, `a piece of the stream is not JSON: ${data}`);
    }
    if (isFailure(chunk)) throw createStreamError(vendor, chunk, requestId);
    return this.#handle(chunk);
  }

  #handle(chunk: JsonObject): readonly ModelDelta[] {
    this.#id ??= asNonEmptyText(chunk["id"]);
    this.#tier = asNonEmptyText(chunk["service_tier"]) ?? this.#tier;
    // The request asks for one answer; if a server sends several, the first one counts.
    const choice = asList(chunk["choices"])
      .map(asObject)
      .find((one) => (asCount(one?.["index"]) ?? 0) === 0);
    const usage =
      asObject(chunk["usage"]) ??
      asObject(choice?.["usage"]) ??
      asObject(asObject(chunk["x_groq"])?.["usage"]);
    // Reports are cumulative: the last one counts.
    if (usage !== undefined) this.#usage = toUsage(usage);
    const deltas = this.#answer.add(asObject(choice?.["delta"]) ?? {});
    const reason = asNonEmptyText(choice?.["finish_reason"]);
    if (reason !== undefined) this.#recordFinish(reason);
    return deltas;
  }

  #recordFinish(reason: string): void {
    const { vendor, requestId } = this.#context;
    if (Object.hasOwn(FAULT_BY_FINISH_REASON, reason)) {
      const message = `${vendor.name} ended its answer with "${reason}"`;
      throw new ProviderError(
        FAULT_BY_FINISH_REASON[reason as keyof typeof FAULT_BY_FINISH_REASON],
        message,
        { requestId, vendorType: reason },
      );
    }
    this.#finish = reason;
    this.state = "complete";
  }

  finish(): AssistantMessage {
    assertComplete(this, this.#context);
    const content = this.#answer.getContent();
    const reconciled = reconcileStopReason(getOwn(STOP_REASONS, this.#finish) ?? "stop", content);
    const isRefused = reconciled === "stop" && this.#answer.isRefused;
    const stopReason = isRefused ? "guardRail" : reconciled;
    const filtered = isRefused
      ? `${this.#context.provider} refused to answer`
      : `the answer was filtered (${this.#finish})`;
    return buildAnswer(this.#context, {
      content,
      stopReason,
      usage: this.#usage,
      errorMessage: stopReason === "guardRail" ? filtered : undefined,
      responseId: this.#id,
      serviceTier: DEFAULT_TIERS.has(this.#tier ?? "") ? undefined : this.#tier,
    });
  }
}

/** Returns whether a piece is an error: `{error: …}`, or vLLM's `{object: "error", message}`. */
function isFailure(chunk: JsonObject): boolean {
  return (chunk["error"] !== undefined && chunk["error"] !== null) || chunk["object"] === "error";
}
