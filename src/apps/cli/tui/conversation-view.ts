import type { ChatBlock } from "../chat/chat-blocks.ts";
import { BlockView } from "./block-view.ts";
import type { ChatTheme } from "./chat-theme.ts";
import type { Component } from "./pi-tui.ts";

/** The blocks of the conversation, one below the other. */
export class ConversationView implements Component {
  readonly #theme: ChatTheme;
  #views = new Map<number, BlockView>();
  #blocks: readonly ChatBlock[] = [];
  #isExpanded = false;
  #width = 0;

  constructor(theme: ChatTheme) {
    this.#theme = theme;
  }

  get isExpanded(): boolean {
    return this.#isExpanded;
  }

  set isExpanded(expanded: boolean) {
    this.#isExpanded = expanded;
  }

  /** @returns How many lines left the beginning of the view with the oldest blocks. */
  setBlocks(blocks: readonly ChatBlock[]): number {
    const first = blocks[0]?.number ?? Number.POSITIVE_INFINITY;
    const dropped = this.#blocks.filter(({ number }) => number < first).length;
    const lines = dropped === 0 ? 0 : this.#renderBlocks(this.#blocks.slice(0, dropped)).length;
    const present = new Set(blocks.map(({ number }) => number));
    for (const number of this.#views.keys()) if (!present.has(number)) this.#views.delete(number);
    this.#blocks = blocks;
    return lines;
  }

  render(width: number): string[] {
    this.#width = width;
    return this.#renderBlocks(this.#blocks);
  }

  /** Blocks cache their lines by what they depend on. */
  invalidate(): void {}

  #renderBlocks(blocks: readonly ChatBlock[]): string[] {
    const lines: string[] = [];
    let before: ChatBlock["type"] | undefined;
    for (const block of blocks) {
      const view = this.#views.get(block.number) ?? new BlockView(this.#theme);
      this.#views.set(block.number, view);
      const isCompact = block.type === before && (block.type === "tool" || block.type === "notice");
      if (!isCompact) lines.push("");
      for (const line of view.render(block, this.#width, this.#isExpanded)) lines.push(line);
      before = block.type;
    }
    return lines;
  }
}
