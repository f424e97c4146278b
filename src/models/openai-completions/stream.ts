import type { AssistantMessage, StopReason, Usage } from "../../schema/message.ts";
import type { ServerEvent } from "../answer-form.ts";
import { AnswerRoom } from "../answer-room.ts";
import type { AnswerContext, Assembler } from "../assembler.ts";
import { brokenStream, streamError } from "../classify.ts";
import { countOf, type JsonObject, listOf, objectOf, ownOf, parseJson, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { ProviderError } from "../provider-error.ts";
import { settledReason } from "../stop-reason.ts";
import { Answer } from "./answer.ts";
import { NO_USAGE, usageOf } from "./usage.ts";

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

/** What servers say when nothing else was asked for: OpenAI's and Groq's own names. */
const DEFAULT_TIERS: ReadonlySet<string> = new Set(["default", "auto", "standard", "on_demand"]);

/** Ends that are failures of the server, told in the place of a reason. */
const FAILED = {
  error: "api",
  network_error: "network",
  insufficient_system_resource: "rate-limited",
} as const;

/** Puts an answer of the chat completions API together, whoever's (PROV-13). */
export class CompletionsAssembler implements Assembler {
  state: "open" | "complete" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #answer: Answer;
  #finish: string | undefined;
  #usage: Usage = NO_USAGE;
  #id: string | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#answer = new Answer(new AnswerRoom(context.vendor));
  }

  push({ event, data }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    if (data.trim() === "[DONE]") {
      // Without a finish reason it closes a stream that was cut behind the server, not an answer.
      if (this.state === "complete") this.state = "ended";
      return [];
    }
    const chunk = objectOf(parseJson(data));
    if (event === "error") throw streamError(vendor, chunk ?? { error: data }, requestId);
    if (chunk === undefined) {
      if (data.trim() === "") return [];
      throw brokenStream(vendor, `a piece of the stream is not JSON: ${data}`);
    }
    if (failureIn(chunk)) throw streamError(vendor, chunk, requestId);
    return this.#take(chunk);
  }

  #take(chunk: JsonObject): readonly ModelDelta[] {
    this.#id ??= textOf(chunk["id"]);
    this.#tier = textOf(chunk["service_tier"]) ?? this.#tier;
    // One answer was asked for; a server that sends several means the first.
    const choice = listOf(chunk["choices"])
      .map(objectOf)
      .find((one) => (countOf(one?.["index"]) ?? 0) === 0);
    const usage =
      objectOf(chunk["usage"]) ??
      objectOf(choice?.["usage"]) ??
      objectOf(objectOf(chunk["x_groq"])?.["usage"]);
    // Reports are cumulative: the last one counts.
    if (usage !== undefined) this.#usage = usageOf(usage);
    const deltas = this.#answer.add(objectOf(choice?.["delta"]) ?? {});
    const reason = textOf(choice?.["finish_reason"]);
    if (reason !== undefined) this.#end(reason);
    return deltas;
  }

  #end(reason: string): void {
    const { vendor, requestId } = this.#context;
    if (Object.hasOwn(FAILED, reason)) {
      const said = `${vendor.name} ended its answer with "${reason}"`;
      throw new ProviderError(FAILED[reason as keyof typeof FAILED], said, { requestId, vendorType: reason });
    }
    this.#finish = reason;
    this.state = "complete";
  }

  finish(): AssistantMessage {
    const { model, provider, timestamp, vendor } = this.#context;
    if (this.state === "open") throw brokenStream(vendor, "the stream ended before the answer was complete");
    const content = this.#answer.content();
    const settled = settledReason(ownOf(STOP_REASONS, this.#finish) ?? "stop", content);
    const refused = settled === "stop" && this.#answer.refused;
    const stopReason = refused ? "guardRail" : settled;
    const filtered = refused ? `${provider} refused to answer` : `the answer was filtered (${this.#finish})`;
    return {
      role: "assistant",
      content,
      stopReason,
      model,
      provider,
      usage: this.#usage,
      timestamp,
      ...(stopReason === "guardRail" && { errorMessage: filtered }),
      ...(this.#id !== undefined && { responseId: this.#id }),
      ...(this.#tier !== undefined && !DEFAULT_TIERS.has(this.#tier) && { serviceTier: this.#tier }),
    };
  }
}

/** An error in place of a piece of the answer: `{error: …}`, or vLLM's `{object: "error", message}`. */
function failureIn(chunk: JsonObject): boolean {
  return (chunk["error"] !== undefined && chunk["error"] !== null) || chunk["object"] === "error";
}
