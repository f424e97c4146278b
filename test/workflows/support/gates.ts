import { z } from "zod";
import { defineTool } from "../../../src/tools/tool.ts";

/** Gates at which a tool of the test's own process waits until the test opens them. */
export class Gates {
  readonly #gates = new Map<string, Gate>();

  get(name: string): Gate {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = new Gate();
      this.#gates.set(name, gate);
    }
    return gate;
  }

  /** A tool whose argument names its gate: `hold({ gate })`. */
  createTool(options: { name?: string; quick?: boolean } = {}) {
    return defineTool({
      name: options.name ?? "hold",
      description: "Waits at a gate",
      inputSchema: z.object({ gate: z.string() }),
      replay: "pure",
      quick: options.quick ?? false,
      summarise: ({ gate }) => `at ${gate}`,
      execute: async ({ gate }, { signal }) => {
        const cancelled = new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("cancelled")), { once: true });
        });
        await Promise.race([this.get(gate).pass(), cancelled]);
        return `passed ${gate}`;
      },
    });
  }
}

export class Gate {
  passCount = 0;
  /** Resolves when a call waits at this gate. */
  readonly arrived: Promise<void>;
  readonly #opened: Promise<void>;
  #arrive: () => void = () => undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.arrived = new Promise((resolve) => {
      this.#arrive = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  async pass(): Promise<void> {
    this.#arrive();
    await this.#opened;
    this.passCount += 1;
  }
}
