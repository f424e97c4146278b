import type { AnswerPiece, ChatBlock } from "../chat/chat-blocks.ts";
import { getFirstLines, getLastLines } from "../chat/tool-output.ts";
import { formatCount } from "../text.ts";
import type { ChatTheme } from "./chat-theme.ts";
import { sanitizeText } from "./line-guard.ts";
import { Markdown, truncateToWidth, wrapTextWithAnsi } from "./pi-tui.ts";

type BlockOfType<Type extends ChatBlock["type"]> = Extract<ChatBlock, { type: Type }>;

/** How many lines of an output, of thinking and of a message are displayed until the user expands them. */
const OUTPUT_LINES = 6;
const RUNNING_OUTPUT_LINES = 5;
const THINKING_LINES = 3;
const MESSAGE_LINES = 20;
/** How many lines of each are displayed when expanded. `holdfast show` prints all of them. */
const EXPANDED_LINES = 200;

const EXPAND_HINT = "Ctrl-O";

/** The lines of one block, which are computed when the block, the width or the expansion has changed. */
export class BlockView {
  readonly #theme: ChatTheme;
  readonly #markdowns: Markdown[] = [];
  #block: ChatBlock | undefined;
  #width = 0;
  #isExpanded = false;
  #lines: readonly string[] = [];

  constructor(theme: ChatTheme) {
    this.#theme = theme;
  }

  render(block: ChatBlock, width: number, isExpanded: boolean): readonly string[] {
    if (block === this.#block && width === this.#width && isExpanded === this.#isExpanded) return this.#lines;
    this.#block = block;
    this.#width = width;
    this.#isExpanded = isExpanded;
    this.#lines = this.#format(block, Math.max(1, width));
    return this.#lines;
  }

  #format(block: ChatBlock, width: number): readonly string[] {
    switch (block.type) {
      case "user":
        return this.#formatUser(block, width);
      case "answer":
        return this.#formatAnswer(block, width);
      case "tool":
        return this.#formatTool(block, width);
      case "notice": {
        const { yellow, red, dim } = this.#theme;
        const paint = { info: dim, warning: yellow, error: red }[block.tone];
        return wrap(block.text.trimEnd(), width).map(paint);
      }
    }
  }

  #formatUser({ text }: BlockOfType<"user">, width: number): readonly string[] {
    const { cyan, bold, dim } = this.#theme;
    const lines = wrap(text.trimEnd(), width - 2);
    const shown = lines.slice(0, this.#isExpanded ? EXPANDED_LINES : MESSAGE_LINES);
    const more = lines.length - shown.length;
    return [
      ...shown.map((line, index) => `${index === 0 ? cyan("› ") : "  "}${bold(line)}`),
      ...(more === 0 ? [] : [dim(`  … ${formatCount(more, "more line")} (${EXPAND_HINT})`)]),
    ];
  }

  #formatAnswer({ pieces, isComplete }: BlockOfType<"answer">, width: number): readonly string[] {
    let texts = 0;
    return pieces.flatMap((piece, index) => {
      const lines = piece.type === "text" ? this.#formatText(texts++, piece.text, width) : undefined;
      const other = lines ?? this.#formatPiece(piece, isComplete, width);
      return index === 0 ? other : ["", ...other];
    });
  }

  /** @param at - Which of the answer's texts it is: a Markdown component parses only a text that has changed. */
  #formatText(at: number, text: string, width: number): readonly string[] {
    const safe = sanitizeText(text).trim();
    const markdown = this.#markdowns[at] ?? new Markdown(safe, 0, 0, this.#theme.markdown);
    this.#markdowns[at] = markdown;
    markdown.setText(safe);
    return markdown.render(width);
  }

  #formatPiece(piece: AnswerPiece, isComplete: boolean, width: number): readonly string[] {
    const { dim, italic } = this.#theme;
    if (piece.type === "call")
      return [
        dim(
          `… writes a call of ${sanitizeText(piece.name)} (${piece.chars.toLocaleString("en")} characters)`,
        ),
      ];
    const lines = wrap(piece.type === "thinking" ? piece.text.trim() : "", width - 2);
    const count = this.#isExpanded ? EXPANDED_LINES : THINKING_LINES;
    const shown = isComplete ? lines.slice(0, count) : lines.slice(-count);
    const more = lines.length - shown.length;
    const hint =
      more === 0 ? [] : [dim(`  … ${formatCount(more, "more line")} of thinking (${EXPAND_HINT})`)];
    const text = shown.map((line) => dim(italic(`  ${line}`)));
    return isComplete ? [...text, ...hint] : [...hint, ...text];
  }

  #formatTool(block: BlockOfType<"tool">, width: number): readonly string[] {
    const { cyan, green, red, dim } = this.#theme;
    const { name, summary, state, startedAtMs, endedAtMs, output } = block;
    const mark = { running: cyan("●"), done: green("✓"), failed: red("✗") }[state];
    const time =
      startedAtMs === undefined || endedAtMs === undefined ? "" : formatDuration(endedAtMs - startedAtMs);
    const head = [`${mark} ${cyan(sanitizeText(name))}`, joinLines(summary), dim(time)]
      .filter(Boolean)
      .join(" ");
    const count = this.#isExpanded
      ? EXPANDED_LINES
      : state === "running"
        ? RUNNING_OUTPUT_LINES
        : OUTPUT_LINES;
    const { lines, more } = (state === "running" ? getLastLines : getFirstLines)(output, count);
    const body = lines.map((line) =>
      dim(`  ${truncateToWidth(joinLines(line), Math.max(1, width - 2), "…")}`),
    );
    const hint = this.#isExpanded ? "holdfast show" : EXPAND_HINT;
    const rest = more === 0 ? [] : [dim(`  … ${formatCount(more, "more line")} (${hint})`)];
    return [
      truncateToWidth(head, width, "…"),
      ...(state === "running" ? [...rest, ...body] : [...body, ...rest]),
    ];
  }
}

function wrap(text: string, width: number): readonly string[] {
  return wrapTextWithAnsi(sanitizeText(text), Math.max(1, width));
}

function joinLines(text: string): string {
  return sanitizeText(text).replaceAll("\n", " ");
}

/** Formats how long a call took; short calls have no time. */
function formatDuration(ms: number): string {
  if (ms < 1_000) return "";
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}
