import type { AssistantMessage, StopReason } from "../../schema/message.ts";
import type { ServerEvent } from "../answer-form.ts";
import { AnswerRoom } from "../answer-room.ts";
import type { AnswerContext, Assembler } from "../assembler.ts";
import { brokenStream } from "../classify.ts";
import { countOf, type JsonObject, objectOf, ownOf, parseJson, textOf } from "../json.ts";
import type { ModelDelta } from "../provider.ts";
import { settledReason } from "../stop-reason.ts";
import { Blocks } from "./blocks.ts";
import { frameError } from "./failure.ts";
import { usageOf } from "./usage.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  guardrail_intervened: "guardRail",
  content_filtered: "guardRail",
};

const GUARDED: Readonly<Record<string, string>> = {
  guardrail_intervened: "a guardrail of the account has intervened",
  content_filtered: "the answer was filtered",
};

/** Puts an answer of ConverseStream together (PROV-25). */
export class ConverseAssembler implements Assembler {
  state: "open" | "complete" | "ended" = "open";
  readonly #context: AnswerContext;
  readonly #blocks: Blocks;
  #stop = "";
  #usage: JsonObject | undefined;
  #tier: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#blocks = new Blocks(new AnswerRoom(context.vendor));
  }

  push({ event, data, failed }: ServerEvent): readonly ModelDelta[] {
    const { vendor, requestId } = this.#context;
    if (this.state === "ended") return [];
    if (failed === true) throw frameError(vendor, event ?? "", data, requestId);
    const index = (fields: JsonObject) => countOf(fields["contentBlockIndex"]) ?? 0;
    switch (event) {
      case "contentBlockStart": {
        const fields = this.#fields(event, data);
        return this.#blocks.start(index(fields), objectOf(fields["start"]) ?? {});
      }
      case "contentBlockDelta": {
        const fields = this.#fields(event, data);
        return this.#blocks.extend(index(fields), objectOf(fields["delta"]) ?? {});
      }
      case "contentBlockStop":
        this.#blocks.stop(index(this.#fields(event, data)));
        return [];
      case "messageStop":
        this.#stop = textOf(this.#fields(event, data)["stopReason"]) ?? "";
        this.state = "complete";
        return [];
      case "metadata": {
        const fields = this.#fields(event, data);
        this.#usage = objectOf(fields["usage"]) ?? this.#usage;
        this.#tier = textOf(objectOf(fields["serviceTier"])?.["type"]) ?? this.#tier;
        // The last event of all; before the stop it would end nothing.
        if (this.state === "complete") this.state = "ended";
        return [];
      }
      default:
        return [];
    }
  }

  finish(): AssistantMessage {
    const { model, provider, timestamp, vendor, requestId } = this.#context;
    if (this.state === "open") throw brokenStream(vendor, "the stream ended before the answer was complete");
    if (this.#stop.startsWith("malformed_"))
      throw brokenStream(vendor, `the model's answer could not be read (${this.#stop})`);
    const content = this.#blocks.content();
    const stopReason = settledReason(ownOf(STOP_REASONS, this.#stop) ?? "stop", content);
    const guarded = `${provider}: ${ownOf(GUARDED, this.#stop) ?? "no reason given"} (${this.#stop})`;
    return {
      role: "assistant",
      content,
      stopReason,
      model,
      provider,
      usage: usageOf(this.#usage),
      timestamp,
      ...(stopReason === "guardRail" && { errorMessage: guarded }),
      // The API names no answer, only the request.
      ...(requestId !== undefined && { responseId: requestId }),
      ...(this.#tier !== undefined && this.#tier !== "default" && { serviceTier: this.#tier }),
    };
  }

  #fields(event: string, data: string): JsonObject {
    const fields = objectOf(parseJson(data));
    if (fields === undefined)
      throw brokenStream(this.#context.vendor, `an event "${event}" that is not JSON: ${data}`);
    return fields;
  }
}
