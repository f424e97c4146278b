import type { AgentMessage, Delta, LoopEvent, WatchItem } from "../../client/index.ts";
import { type Palette, printable } from "./palette.ts";
import { callSummary, shortened, textOf } from "./words.ts";

/** Lines of a result that are shown when it was not seen live. */
const RESULT_LINES = 6;
const RESULT_LINE_CHARS = 160;

/** What live output of one answer or one tool looked like so far. */
type Shown = { text: string };

export type RenderOptions = {
  readonly write: (text: string) => void;
  readonly paint: Palette;
  /** A prompt that the person has just typed is not shown again. */
  readonly ownWords?: ReadonlySet<string>;
};

/** Shows a session as it happens: live output first, and of what is recorded only what was not seen yet. */
export class Renderer {
  readonly #options: RenderOptions;
  #column: "start" | "text" | "dim" = "start";
  #answer: Shown = { text: "" };
  #answerKey = "";
  readonly #calls = new Map<string, string>();
  readonly #begun = new Set<string>();
  readonly #streamed = new Set<string>();

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  show(item: WatchItem): void {
    if (item.type === "delta") this.#delta(item.delta);
    else if (item.type === "event") this.#event(item.event, item.message);
  }

  /** Ends a line that is under way. */
  endLine(): void {
    if (this.#column !== "start") this.#options.write("\n");
    this.#column = "start";
  }

  #delta({ body, loopId, turn, attempt }: Delta): void {
    const { paint } = this.#options;
    switch (body.type) {
      case "text":
        this.#of(`${loopId}/${turn}`).text += body.text;
        this.#say(printable(body.text), "text");
        break;
      case "thinking":
        this.#say(printable(body.text), "dim");
        break;
      case "attempt":
        if (attempt > 1 || this.#of(`${loopId}/${turn}`).text !== "") {
          this.#line(paint.yellow("(asked again: what was shown of this answer is void)"));
        }
        this.#of(`${loopId}/${turn}`).text = "";
        break;
      case "waiting":
        this.#line(paint.dim(`(${printable(body.text)})`));
        break;
      case "tool-start":
        this.#begin(body.toolCallId, body.toolName);
        break;
      case "progress":
        this.#begin(body.toolCallId, body.toolName);
        this.#line(paint.dim(printable(body.text).trimEnd()));
        break;
      case "tool-output":
        this.#begin(body.toolCallId, body.toolName);
        this.#streamed.add(body.toolCallId);
        this.#say(printable(body.text), "dim");
        break;
      case "dropped":
        this.#line(paint.dim(`(${body.count} pieces of live output were left out)`));
        break;
      case "tool-call":
      case "recorded":
        break;
    }
  }

  #event({ body, loopId }: LoopEvent, message: AgentMessage | undefined): void {
    switch (body.type) {
      case "MessageEnd":
        if (message !== undefined) this.#message(message, loopId);
        break;
      case "ToolExecutionStart":
        this.#begin(body.toolCallId, body.toolName);
        break;
      case "ToolExecutionEnd":
        this.#result(body.toolCallId, body.toolName, body.isError, message);
        break;
      case "InputRejected":
        this.#line(this.#options.paint.red(`input rejected: ${shortened(body.reason, RESULT_LINE_CHARS)}`));
        break;
      case "ModelFellBack":
        this.#line(this.#options.paint.yellow(fallbackLine(body)));
        break;
      case "MessageRefused":
        this.#line(this.#options.paint.yellow(refusedLine(body)));
        break;
      case "DefinitionChanged":
        this.#line(this.#options.paint.yellow(movedLine(body)));
        break;
      default:
        break;
    }
  }

  #message(message: AgentMessage, loopId: string): void {
    const { paint } = this.#options;
    if (message.role === "user") {
      const text = textOf(message);
      if (this.#options.ownWords?.has(text) === true) return;
      this.#line(paint.bold(`> ${shortened(text, RESULT_LINE_CHARS)}`));
      return;
    }
    if (message.role !== "assistant") return;
    for (const part of message.content) {
      if (part.type === "toolCall") this.#calls.set(part.id, callSummary(part.arguments));
    }
    const whole = textOf(message);
    const seen = this.#of(`${loopId}/${message.turnId?.turnIndex ?? -1}`).text;
    if (whole.startsWith(seen)) this.#say(printable(whole.slice(seen.length)), "text");
    else {
      this.endLine();
      this.#say(printable(whole), "text");
    }
    this.endLine();
    if (message.errorMessage !== undefined) this.#line(paint.red(shortened(message.errorMessage, 400)));
  }

  #begin(id: string, name: string): void {
    if (this.#begun.has(id)) return;
    this.#begun.add(id);
    const { paint } = this.#options;
    const summary = this.#calls.get(id) ?? "";
    this.#line(`${paint.cyan(`● ${name}`)}${summary === "" ? "" : ` ${summary}`}`);
  }

  #result(id: string, name: string, isError: boolean, message: AgentMessage | undefined): void {
    const { paint } = this.#options;
    this.#begin(id, name);
    this.endLine();
    const lines = printable(message === undefined ? "" : textOf(message))
      .trimEnd()
      .split("\n");
    if (isError || !this.#streamed.has(id)) {
      for (const line of lines.slice(0, RESULT_LINES)) {
        if (line !== "") this.#line(paint.dim(`  ${shortened(line, RESULT_LINE_CHARS)}`));
      }
      if (lines.length > RESULT_LINES) this.#line(paint.dim(`  … ${lines.length - RESULT_LINES} lines more`));
    }
    this.#line(isError ? paint.red(`✗ ${name}`) : paint.green(`✓ ${name}`));
    this.#calls.delete(id);
    this.#begun.delete(id);
    this.#streamed.delete(id);
  }

  #of(key: string): Shown {
    if (key !== this.#answerKey) {
      this.#answerKey = key;
      this.#answer = { text: "" };
    }
    return this.#answer;
  }

  #say(text: string, kind: "text" | "dim"): void {
    if (text === "") return;
    if (this.#column !== "start" && this.#column !== kind) this.endLine();
    this.#options.write(kind === "dim" ? this.#options.paint.dim(text) : text);
    this.#column = text.endsWith("\n") ? "start" : kind;
  }

  #line(text: string): void {
    this.endLine();
    this.#options.write(`${text}\n`);
  }
}

function fallbackLine({
  to,
  from,
  for: purpose,
}: Extract<LoopEvent["body"], { type: "ModelFellBack" }>): string {
  const why = from.map(({ provider, model, fault }) => `${provider}/${model}: ${fault}`).join(", ");
  const did = purpose === undefined ? "answered" : "summarised";
  return printable(`(${did} by ${to.provider}/${to.model}; ${why})`);
}

function refusedLine(body: Extract<LoopEvent["body"], { type: "MessageRefused" }>): string {
  const { messageId, queue, waiting, refused } = body;
  const total = refused > 1 ? `; ${refused} refused so far` : "";
  const what = `${queue === "steering" ? "steering message" : "follow-up"} ${shortened(messageId, 80)}`;
  return printable(`(the queue is full with ${waiting.messages} messages: ${what} was refused${total})`);
}

function movedLine(body: Extract<LoopEvent["body"], { type: "DefinitionChanged" }>): string {
  if (!body.applied) {
    return `(not moved to another definition: ${shortened(body.reason ?? "", RESULT_LINE_CHARS)})`;
  }
  const fields = body.changes.map(({ field }) => field).join(", ");
  return printable(`(moved to another definition: ${fields})`);
}
