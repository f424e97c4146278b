import { printFrame } from "../output.ts";
import type { FrameAdapter } from "./frame-adapter.ts";
import { ProcessTerminal } from "./pi-tui.ts";

/** The terminal of this process. What the library draws passes through the adapter. */
export class ChatTerminal extends ProcessTerminal {
  readonly #frames: FrameAdapter;

  constructor(frames: FrameAdapter) {
    super();
    this.#frames = frames;
  }

  override write(data: string): void {
    printFrame(process.stdout, this.#frames.adapt(data, this.rows));
  }
}
