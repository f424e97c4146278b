import { asFields, asObject, getOwn, type JsonObject, parseJson } from "../../platform/text/json.ts";
import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import { AnswerSizeLimit } from "../answer-size-limit.ts";
import { type AnswerContext, type Assembler, assertComplete, buildAnswer } from "../assembler.ts";
import { asCount, asNonEmptyText } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { createBrokenStreamError } from "../provider-error-from-response.ts";
import { reconcileStopReason } from "../reconcile-stop-reason.ts";
import type { ServerEvent } from "../stream-format.ts";
import { BlockCollector } from "./block-collector.ts";
import { createFrameError } from "./create-frame-error.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  guardrail_intervened: "guardRail",
  content_filtered: "guardRail",
};

const GUARDRAIL_MESSAGES: Readonly<Record<string, string>> = {
  guardrail_intervened: "a guardrail of the account has intervened",
  content_filtered: "the answer was filtered",
};

/** Assembles an answer of ConverseStream (PROV-25). */
export class ConverseAssembler implements Assembler {
  state: "open" | "complete" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #blocks: BlockCollector;
  #stopReason = "";
  #usage: JsonObject | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#blocks = new BlockCollector(new AnswerSizeLimit(context.vendor));
  }

  push({ event, data, isError }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    if (isError === true) throw createFrameError(vendor, event ?? "", data, requestId);
    const index = (fields: JsonObject) => asCount(fields["contentBlockIndex"]) ?? 0;
    switch (event) {
      case "contentBlockStart": {
        const fields = this.#parseFields(event, data);
        return this.#blocks.start(index(fields), asFields(fields["start"]));
      }
      case "contentBlockDelta": {
        const fields = this.#parseFields(event, data);
        return this.#blocks.extend(index(fields), asFields(fields["delta"]));
      }
      case "contentBlockStop":
        this.#blocks.stop(index(this.#parseFields(event, data)));
        return [];
      case "messageStop":
        this.#stopReason = asNonEmptyText(this.#parseFields(event, data)["stopReason"]) ?? "";
        this.state = "complete";
        return [];
      case "metadata": {
        const fields = this.#parseFields(event, data);
        this.#usage = asObject(fields["usage"]) ?? this.#usage;
        this.#tier = asNonEmptyText(asObject(fields["serviceTier"])?.["type"]) ?? this.#tier;
        // The last event of an answer; before the stop event it ends nothing.
        if (this.state === "complete") this.state = "ended";
        return [];
      }
      default:
        return [];
    }
  }

  finish(): AssistantMessage {
    assertComplete(this, this.#context);
    const { provider, vendor, requestId } = this.#context;
    if (this.#stopReason.startsWith("malformed_"))
      throw createBrokenStreamError(vendor, `the model's answer could not be read (${this.#stopReason})`);
    const content = this.#blocks.getContent();
    const stopReason = reconcileStopReason(getOwn(STOP_REASONS, this.#stopReason) ?? "stop", content);
    const guarded = `${provider}: ${getOwn(GUARDRAIL_MESSAGES, this.#stopReason) ?? "no reason given"} (${this.#stopReason})`;
    return buildAnswer(this.#context, {
      content,
      stopReason,
      usage: toUsage(this.#usage),
      errorMessage: stopReason === "guardRail" ? guarded : undefined,
      // The API identifies the request, not the answer.
      responseId: requestId,
      serviceTier: this.#tier === "default" ? undefined : this.#tier,
    });
  }

  #parseFields(event: string, data: string): JsonObject {
    const fields = asObject(parseJson(data));
    if (fields === undefined)
      throw createBrokenStreamError(this.#context.vendor, `an event "${event}" that is not JSON: ${data}`);
    return fields;
  }
}

/** `inputTokens` excludes tokens that were read from a cache or written to one. The API does not count reasoning. */
function toUsage(usage: JsonObject | undefined): Usage {
  const input = asCount(usage?.["inputTokens"]) ?? 0;
  const output = asCount(usage?.["outputTokens"]) ?? 0;
  const cacheRead = asCount(usage?.["cacheReadInputTokens"]) ?? 0;
  const cacheWrite = asCount(usage?.["cacheWriteInputTokens"]) ?? 0;
  const totalTokens = asCount(usage?.["totalTokens"]) ?? input + output + cacheRead + cacheWrite;
  return { input, output, reasoning: 0, cacheRead, cacheWrite, totalTokens };
}
