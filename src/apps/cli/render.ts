import type { AgentEvent } from "../../client/index.ts";
import { type AnswerPart, diffUpdate } from "../../client/read/answer-diff.ts";
import { PROGRESS_SOURCES } from "../../client/read/progress-sources.ts";
import { formatAttachment, isAttachment } from "../../core/view/attachment.ts";
import type { Content, Message } from "../../schema/message.ts";
import { getMessageText, joinText } from "../../schema/message-text.ts";
import { describeEvent } from "./event-notice.ts";
import { type Palette, stripControls } from "./palette.ts";
import { formatTerminalImage, type ImageProtocol } from "./terminal-image.ts";
import { shortenText, summarizeCall } from "./text.ts";

type EventOfType<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** How many lines of a result are displayed if it was not streamed. */
const RESULT_LINES = 6;
const RESULT_LINE_CHARS = 160;

const SOURCES_WITHOUT_CALL: readonly string[] = Object.values(PROGRESS_SOURCES);

export type RenderOptions = {
  readonly write: (text: string) => void;
  readonly paint: Palette;
  /** Prompts that the user just typed, which are not displayed again. */
  readonly ownPrompts?: ReadonlySet<string>;
  /** How the terminal displays images; without it, an image is a line of text. */
  readonly images?: ImageProtocol | undefined;
};

/** Displays a session while it runs: live output first, then only those recorded parts that were not displayed live. */
export class Renderer {
  readonly #options: RenderOptions;
  #column: "start" | "text" | "dim" = "start";
  /** The displayed parts of each loop's answer. */
  readonly #answers = new Map<string, readonly AnswerPart[]>();
  readonly #startedCalls = new Set<string>();
  readonly #streamed = new Set<string>();

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "MessageUpdate":
        this.#renderUpdate(event);
        break;
      case "MessageEnd":
        this.#renderMessage(event.message, event.loopId);
        break;
      case "ToolExecutionStart":
        this.#renderCallStart(event, summarizeCall(event.args));
        break;
      case "ToolExecutionUpdate":
        this.#renderCallStart(event);
        this.#streamed.add(event.toolCallId);
        this.#writeText(stripControls(joinText(event.partialResult.content)), "dim");
        break;
      case "ToolExecutionEnd":
        this.#renderResult(event);
        break;
      case "ProgressMessage":
        this.#renderProgress(event);
        break;
      default:
        this.#renderNotice(event);
        break;
    }
  }

  /** Ends an incomplete line. */
  endLine(): void {
    if (this.#column !== "start") this.#options.write("\n");
    this.#column = "start";
  }

  #renderNotice(event: AgentEvent): void {
    const notice = describeEvent(event);
    if (notice === undefined) return;
    const { paint } = this.#options;
    this.#writeLine(notice.tone === "error" ? paint.red(notice.text) : paint.yellow(notice.text));
  }

  #renderUpdate(event: EventOfType<"MessageUpdate">): void {
    const { isReset, deltas, parts } = diffUpdate(this.#answers.get(event.loopId) ?? [], event);
    this.#answers.set(event.loopId, parts);
    if (isReset)
      this.#writeLine(this.#options.paint.yellow("(retried: ignore the text of this answer so far)"));
    for (const { type, text } of deltas) {
      if (type !== "toolCall") this.#writeText(stripControls(text), type === "text" ? "text" : "dim");
    }
  }

  #renderMessage(message: Message, loopId: string): void {
    const { paint } = this.#options;
    if (message.role === "user") {
      const text = getMessageText(message);
      if (this.#options.ownPrompts?.has(text) === true) return;
      this.#writeLine(paint.bold(`> ${shortenText(text, RESULT_LINE_CHARS)}`));
      this.#writeAttachments(message.content);
      return;
    }
    if (message.role !== "assistant") return;
    const whole = getMessageText(message);
    const parts = this.#answers.get(loopId) ?? [];
    const streamedText = parts.map(({ type, text }) => (type === "text" ? text : "")).join("");
    this.#answers.delete(loopId);
    if (whole.startsWith(streamedText))
      this.#writeText(stripControls(whole.slice(streamedText.length)), "text");
    else {
      this.endLine();
      this.#writeText(stripControls(whole), "text");
    }
    this.endLine();
    this.#writeAttachments(message.content);
    if (message.errorMessage !== undefined)
      this.#writeLine(paint.red(shortenText(message.errorMessage, 400)));
  }

  #renderCallStart({ toolCallId, toolName }: { toolCallId: string; toolName: string }, summary = ""): void {
    if (this.#startedCalls.has(toolCallId)) return;
    this.#startedCalls.add(toolCallId);
    const { paint } = this.#options;
    this.#writeLine(`${paint.cyan(`● ${toolName}`)}${summary === "" ? "" : ` ${summary}`}`);
  }

  #renderProgress(event: EventOfType<"ProgressMessage">): void {
    const { paint } = this.#options;
    const text = stripControls(event.text).trimEnd();
    if (SOURCES_WITHOUT_CALL.includes(event.toolCallId)) {
      this.#writeLine(paint.dim(`(${text})`));
      return;
    }
    this.#renderCallStart(event);
    this.#writeLine(paint.dim(text));
  }

  #renderResult(event: EventOfType<"ToolExecutionEnd">): void {
    const { paint } = this.#options;
    const { toolCallId: id, toolName: name, isError } = event;
    this.#renderCallStart(event);
    this.endLine();
    const lines = stripControls(joinText(event.result.content)).trimEnd().split("\n");
    if (isError || !this.#streamed.has(id)) {
      for (const line of lines.slice(0, RESULT_LINES)) {
        if (line !== "") this.#writeLine(paint.dim(`  ${shortenText(line, RESULT_LINE_CHARS)}`));
      }
      if (lines.length > RESULT_LINES)
        this.#writeLine(paint.dim(`  … ${lines.length - RESULT_LINES} more lines`));
    }
    this.#writeAttachments(event.result.content);
    this.#writeLine(isError ? paint.red(`✗ ${name}`) : paint.green(`✓ ${name}`));
    this.#startedCalls.delete(id);
    this.#streamed.delete(id);
  }

  #writeAttachments(content: readonly Content[]): void {
    const { paint, images } = this.#options;
    for (const part of content.filter(isAttachment)) {
      this.#writeLine(paint.dim(`  [${shortenText(formatAttachment(part), RESULT_LINE_CHARS)}]`));
      const picture = part.type === "image" && images ? formatTerminalImage(part, images) : undefined;
      if (picture !== undefined) this.#writeLine(picture);
    }
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
