import type { AgentMessage, Delta, LoopEvent, WatchItem } from "../../client/index.ts";
import { type Palette, stripControls } from "./palette.ts";
import { getText, shortenText, summarizeCall } from "./text.ts";

/** How many lines of a result are displayed if it was not streamed. */
const RESULT_LINES = 6;
const RESULT_LINE_CHARS = 160;

/** The live output of one answer so far. */
type LiveOutput = { text: string };

export type RenderOptions = {
  readonly write: (text: string) => void;
  readonly paint: Palette;
  /** Prompts that the user just typed, which are not displayed again. */
  readonly ownPrompts?: ReadonlySet<string>;
};

/** Displays a session while it runs: live output first, then only those recorded parts that were not displayed live. */
export class Renderer {
  readonly #options: RenderOptions;
  #column: "start" | "text" | "dim" = "start";
  #answer: LiveOutput = { text: "" };
  #answerKey = "";
  readonly #calls = new Map<string, string>();
  readonly #startedCalls = new Set<string>();
  readonly #streamed = new Set<string>();

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  show(item: WatchItem): void {
    if (item.type === "delta") this.#renderDelta(item.delta);
    else if (item.type === "event") this.#renderEvent(item.event, item.message);
  }

  /** Ends an incomplete line. */
  endLine(): void {
    if (this.#column !== "start") this.#options.write("\n");
    this.#column = "start";
  }

  #renderDelta({ body, loopId, turn, attempt }: Delta): void {
    const { paint } = this.#options;
    switch (body.type) {
      case "text":
        this.#getOutput(`${loopId}/${turn}`).text += body.text;
        this.#writeText(stripControls(body.text), "text");
        break;
      case "thinking":
        this.#writeText(stripControls(body.text), "dim");
        break;
      case "attempt":
        if (attempt > 1 || this.#getOutput(`${loopId}/${turn}`).text !== "") {
          this.#writeLine(paint.yellow("(retried: ignore the text of this answer so far)"));
        }
        this.#getOutput(`${loopId}/${turn}`).text = "";
        break;
      case "waiting":
        this.#writeLine(paint.dim(`(${stripControls(body.text)})`));
        break;
      case "tool-start":
        this.#renderCallStart(body.toolCallId, body.toolName);
        break;
      case "progress":
        this.#renderCallStart(body.toolCallId, body.toolName);
        this.#writeLine(paint.dim(stripControls(body.text).trimEnd()));
        break;
      case "tool-output":
        this.#renderCallStart(body.toolCallId, body.toolName);
        this.#streamed.add(body.toolCallId);
        this.#writeText(stripControls(body.text), "dim");
        break;
      case "dropped":
        this.#writeLine(paint.dim(`(${body.count} chunks of live output were dropped)`));
        break;
      case "tool-call":
      case "recorded":
        break;
    }
  }

  #renderEvent({ body, loopId }: LoopEvent, message: AgentMessage | undefined): void {
    switch (body.type) {
      case "MessageEnd":
        if (message !== undefined) this.#renderMessage(message, loopId);
        break;
      case "ToolExecutionStart":
        this.#renderCallStart(body.toolCallId, body.toolName);
        break;
      case "ToolExecutionEnd":
        this.#renderResult(body.toolCallId, body.toolName, body.isError, message);
        break;
      case "InputRejected":
        this.#writeLine(
          this.#options.paint.red(`input rejected: ${shortenText(body.reason, RESULT_LINE_CHARS)}`),
        );
        break;
      case "ModelFallback":
        this.#writeLine(this.#options.paint.yellow(formatFallback(body)));
        break;
      case "MessageRejected":
        this.#writeLine(this.#options.paint.yellow(formatRefusedMessage(body)));
        break;
      case "DefinitionChanged":
        this.#writeLine(this.#options.paint.yellow(formatDefinitionUpdate(body)));
        break;
      default:
        break;
    }
  }

  #renderMessage(message: AgentMessage, loopId: string): void {
    const { paint } = this.#options;
    if (message.role === "user") {
      const text = getText(message);
      if (this.#options.ownPrompts?.has(text) === true) return;
      this.#writeLine(paint.bold(`> ${shortenText(text, RESULT_LINE_CHARS)}`));
      return;
    }
    if (message.role !== "assistant") return;
    for (const part of message.content) {
      if (part.type === "toolCall") this.#calls.set(part.id, summarizeCall(part.arguments));
    }
    const whole = getText(message);
    const streamedText = this.#getOutput(`${loopId}/${message.turnId?.turnIndex ?? -1}`).text;
    if (whole.startsWith(streamedText))
      this.#writeText(stripControls(whole.slice(streamedText.length)), "text");
    else {
      this.endLine();
      this.#writeText(stripControls(whole), "text");
    }
    this.endLine();
    if (message.errorMessage !== undefined)
      this.#writeLine(paint.red(shortenText(message.errorMessage, 400)));
  }

  #renderCallStart(id: string, name: string): void {
    if (this.#startedCalls.has(id)) return;
    this.#startedCalls.add(id);
    const { paint } = this.#options;
    const summary = this.#calls.get(id) ?? "";
    this.#writeLine(`${paint.cyan(`● ${name}`)}${summary === "" ? "" : ` ${summary}`}`);
  }

  #renderResult(id: string, name: string, isError: boolean, message: AgentMessage | undefined): void {
    const { paint } = this.#options;
    this.#renderCallStart(id, name);
    this.endLine();
    const lines = stripControls(message === undefined ? "" : getText(message))
      .trimEnd()
      .split("\n");
    if (isError || !this.#streamed.has(id)) {
      for (const line of lines.slice(0, RESULT_LINES)) {
        if (line !== "") this.#writeLine(paint.dim(`  ${shortenText(line, RESULT_LINE_CHARS)}`));
      }
      if (lines.length > RESULT_LINES)
        this.#writeLine(paint.dim(`  … ${lines.length - RESULT_LINES} more lines`));
    }
    this.#writeLine(isError ? paint.red(`✗ ${name}`) : paint.green(`✓ ${name}`));
    this.#calls.delete(id);
    this.#startedCalls.delete(id);
    this.#streamed.delete(id);
  }

  #getOutput(key: string): LiveOutput {
    if (key !== this.#answerKey) {
      this.#answerKey = key;
      this.#answer = { text: "" };
    }
    return this.#answer;
  }

  #writeText(text: string, kind: "text" | "dim"): void {
    if (text === "") return;
    if (this.#column !== "start" && this.#column !== kind) this.endLine();
    this.#options.write(kind === "dim" ? this.#options.paint.dim(text) : text);
    this.#column = text.endsWith("\n") ? "start" : kind;
  }

  #writeLine(text: string): void {
    this.endLine();
    this.#options.write(`${text}\n`);
  }
}

function formatFallback({
  to,
  from,
  for: purpose,
}: Extract<LoopEvent["body"], { type: "ModelFallback" }>): string {
  const reasons = from.map(({ provider, model, fault }) => `${provider}/${model}: ${fault}`).join(", ");
  const did = purpose === undefined ? "answered" : "summarised";
  return stripControls(`(${did} by ${to.provider}/${to.model}; ${reasons})`);
}

function formatRefusedMessage(body: Extract<LoopEvent["body"], { type: "MessageRejected" }>): string {
  const { messageId, queue, waiting, rejected } = body;
  const total = rejected > 1 ? `; ${rejected} rejected so far` : "";
  const what = `${queue === "steering" ? "steering message" : "follow-up"} ${shortenText(messageId, 80)}`;
  return stripControls(`(the queue is full with ${waiting.messages} messages: ${what} was rejected${total})`);
}

function formatDefinitionUpdate(body: Extract<LoopEvent["body"], { type: "DefinitionChanged" }>): string {
  if (!body.applied) {
    return `(definition not updated: ${shortenText(body.reason ?? "", RESULT_LINE_CHARS)})`;
  }
  const fields = body.changes.map(({ field }) => field).join(", ");
  return stripControls(`(definition updated: ${fields})`);
}
