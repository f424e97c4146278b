import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import type { ServerEvent } from "../answer-form.ts";
import { AnswerRoom } from "../answer-room.ts";
import type { AnswerContext, Assembler } from "../assembler.ts";
import { brokenStream, quote } from "../classify.ts";
import { countOf, type JsonObject, objectOf, ownOf, parseJson, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { settledReason } from "../stop-reason.ts";
import { Answer } from "./answer.ts";
import { eventError, responseError } from "./failure.ts";
import { NO_USAGE, usageOf } from "./usage.ts";

/** Ends of a stream. The status of the response says which it is; the event's name, where it has none. */
const ENDS: Readonly<Record<string, string>> = {
  "response.completed": "completed",
  "response.done": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
  "response.cancelled": "cancelled",
};

/** Names of the vendor's own tiers that say nothing: what everybody gets. */
const USUAL_TIERS: ReadonlySet<string> = new Set(["auto", "default"]);

/** Puts an answer of the Responses API together, whoever's (PROV-18). */
export class ResponsesAssembler implements Assembler {
  state: "open" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #answer: Answer;
  #usage: Usage = NO_USAGE;
  #id: string | undefined;
  #tier: string | undefined;
  #stop: StopReason = "stop";
  #filter: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#answer = new Answer(new AnswerRoom(context.vendor));
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    const parsed = objectOf(parseJson(data));
    const type = textOf(parsed?.["type"]) ?? event ?? "";
    if (type === "error" || event === "error" || type === "response.error")
      throw eventError(vendor, parsed, data, requestId);
    if (parsed === undefined) {
      // Some end with the word of chat completions; it closes a stream, and is no end of an answer.
      if (data.trim() === "" || data.trim() === "[DONE]" || type === "ping") return [];
      throw brokenStream(vendor, `a piece of the stream is not JSON: ${data}`);
    }
    if (!type.startsWith("response.") && objectOf(parsed["error"]) !== undefined)
      throw eventError(vendor, parsed, data, requestId);
    return this.#take(type, parsed);
  }

  #take(type: string, event: JsonObject): readonly ModelDelta[] {
    const content = `content ${countOf(event["content_index"]) ?? 0}` as const;
    const summary = `summary ${countOf(event["summary_index"]) ?? 0}` as const;
    const answer = this.#answer;
    switch (type) {
      case "response.output_item.added":
        return answer.begin(event);
      case "response.output_item.done":
        return answer.end(event);
      case "response.output_text.delta":
        return answer.extend(event, "message", content, false);
      case "response.output_text.done":
        return answer.settle(event, "message", content, event["text"], false);
      case "response.output_text.annotation.added":
        answer.annotate(event, content);
        return [];
      case "response.refusal.delta":
        return answer.extend(event, "message", content, true);
      case "response.refusal.done":
        return answer.settle(event, "message", content, event["refusal"], true);
      // Reasoning had shorter names once, and servers that imitate the API still use them (GAP-07).
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        return answer.extend(event, "reasoning", content, false);
      case "response.reasoning_text.done":
      case "response.reasoning.done":
        return answer.settle(event, "reasoning", content, event["text"], false);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_summary.delta":
        return answer.extend(event, "reasoning", summary, false);
      case "response.reasoning_summary_text.done":
      case "response.reasoning_summary.done":
        return answer.settle(event, "reasoning", summary, event["text"], false);
      case "response.function_call_arguments.delta":
        return answer.extendCall(event);
      case "response.function_call_arguments.done":
        return answer.settleCall(event);
      default:
        return this.#lifecycle(type, event);
    }
  }

  /** The response as a whole: when it begins, and when it ends. */
  #lifecycle(type: string, event: JsonObject): readonly ModelDelta[] {
    const response = objectOf(event["response"]);
    this.#id ??= textOf(response?.["id"]);
    this.#tier = textOf(response?.["service_tier"]) ?? this.#tier;
    const usage = objectOf(response?.["usage"]) ?? objectOf(event["usage"]);
    if (usage !== undefined) this.#usage = usageOf(usage);
    const end = ownOf(ENDS, type);
    if (end === undefined) return [];
    return this.#end(end, response ?? {});
  }

  #end(named: string, response: JsonObject): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    const given = textOf(response["status"]);
    // An end that says that it is still going on has ended nevertheless.
    const status = given === undefined || given === "in_progress" || given === "queued" ? named : given;
    if (status === "failed" || status === "cancelled")
      throw responseError(vendor, response, status, requestId);
    const deltas = this.#answer.endAll(response["output"]);
    if (status === "incomplete") {
      const reason = textOf(objectOf(response["incomplete_details"])?.["reason"]);
      // Whatever else cuts an answer off: its last call may not be whole.
      this.#stop = reason === "content_filter" ? "guardRail" : "length";
      if (reason === "content_filter") this.#filter = `the answer was filtered (${reason})`;
    }
    this.state = "ended";
    return deltas;
  }

  finish(): AssistantMessage {
    const { model, provider, timestamp, vendor } = this.#context;
    if (this.state === "open") throw brokenStream(vendor, "the stream ended before the answer was complete");
    const content = this.#answer.content();
    const refusal = this.#answer.refusal();
    const refused = refusal === "" ? this.#filter : `refused: ${quote(vendor, refusal)}`;
    const tier = this.#tier;
    return {
      role: "assistant",
      content,
      stopReason: refused === undefined ? settledReason(this.#stop, content) : "guardRail",
      model,
      provider,
      usage: this.#usage,
      timestamp,
      ...(refused !== undefined && { errorMessage: refused }),
      ...(this.#id !== undefined && { responseId: this.#id }),
      ...(tier !== undefined && !USUAL_TIERS.has(tier) && { serviceTier: tier }),
    };
  }
}
