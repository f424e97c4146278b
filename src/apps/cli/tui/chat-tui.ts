import { ChatTerminal } from "./chat-terminal.ts";
import { FrameAdapter } from "./frame-adapter.ts";
import { LineGuard } from "./line-guard.ts";
import { setCapabilities, TUI } from "./pi-tui.ts";

/** The library's screen, with lines that are safe for a terminal. */
export class ChatTui extends TUI {
  readonly #frames: FrameAdapter;
  readonly #guard = new LineGuard();

  constructor(frames = new FrameAdapter()) {
    // Addresses stay visible beside the text of a link: a model writes both.
    setCapabilities({ images: null, trueColor: false, hyperlinks: false });
    super(new ChatTerminal(frames));
    this.#frames = frames;
  }

  override render(width: number): string[] {
    const lines = this.#guard.guard(super.render(width), width);
    this.#frames.setLines(lines);
    // The library writes the lines after this function.
    setImmediate(this.#onDrawn);
    return lines;
  }
  #onDrawn: () => void = () => undefined;

  /** Resolves when the present state is on the terminal. */
  drawNow(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrawn = resolve;
      this.requestRender();
    });
  }

  /** Draws the whole screen again; what other programs wrote to the terminal stays in its scrollback. */
  redrawAll(): void {
    this.#frames.share();
    this.requestRender(true);
  }

  /** @param lines - How many lines the conversation loses at its beginning with the next screen. */
  dropLines(lines: number): void {
    this.#frames.dropLines(lines);
  }

  /** Draws all lines that have changed, also those that the user has to scroll up to. */
  reprint(): void {
    this.#frames.reprint();
    this.requestRender();
  }
}
