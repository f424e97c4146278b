import type { CallToolCommand } from "../../../core/machine/state/command.ts";
import type { StepCommand } from "../../../core/machine/steps.ts";
import type { NewEntry } from "../../../store/transcript/store-write.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import { Interrupted } from "./interrupted.ts";
import type { Happening, Machine } from "./machine.ts";

/** How far a step comes before its worker dies: it has begun, or it has stored its result too. */
export type Reached = "claimed" | "stored";

/** What a step has come to, and what it writes with that. */
export type Made = { readonly happening: Happening; readonly entry?: NewEntry };

type Asked = StepCommand | CallToolCommand;

/** Results of steps by run, command and call: one that is asked for again is not done again. */
export class Results {
  /** Where the step that is at work is lost. */
  dies: Reached | undefined;
  readonly #machine: Pick<Machine, "run">;
  readonly #transcript: MemoryTranscript;
  readonly #stored = new Map<string, Happening>();
  readonly #claimed = new Set<string>();

  constructor(machine: Pick<Machine, "run">, transcript: MemoryTranscript) {
    this.#machine = machine;
    this.#transcript = transcript;
  }

  /** Whether a worker has begun with it. */
  wasClaimed(command: Asked): boolean {
    return this.#claimed.has(this.#key(command));
  }

  claim(command: Asked): void {
    this.#claimed.add(this.#key(command));
  }

  /**
   * Writes what has waited and does the step, unless its result is stored already.
   *
   * @throws Interrupted - Where the worker dies over it.
   */
  async once(
    command: Exclude<Asked, { type: "open-loop" }>,
    work: (branch: string) => Promise<Made> | Made,
  ): Promise<Happening> {
    const stored = this.recall(command);
    if (stored !== undefined) return stored;
    const branch = this.#transcript.write(command);
    const made = await work(branch);
    this.claim(command);
    return this.keep(command, branch, made);
  }

  /** What is stored of a step, with what has waited written first. */
  recall(command: Exclude<Asked, { type: "open-loop" }>): Happening | undefined {
    const stored = this.stored(command);
    return stored === undefined ? undefined : onBranch(stored, this.#transcript.write(command));
  }

  stored(command: Asked): Happening | undefined {
    return this.#stored.get(this.#key(command));
  }

  /** @throws Interrupted - Where the worker dies over the step that is at work. */
  mustLive(): void {
    if (this.dies === "claimed") throw new Interrupted("lost");
  }

  keep(command: Asked, branch: string, { happening, entry }: Made): Happening {
    this.mustLive();
    if (!("digest" in happening)) return happening;
    if (entry !== undefined) this.#transcript.store(branch, entry);
    const result = onBranch(happening, branch);
    this.#stored.set(this.#key(command), result);
    if (this.dies === "stored") throw new Interrupted("lost");
    return result;
  }

  #key(command: Asked): string {
    return `${this.#machine.run}/${command.number}/${"call" in command ? command.call : 0}`;
  }
}

/** Other steps may have left the branch since a result was stored. */
function onBranch(happening: Happening, branch: string): Happening {
  return "digest" in happening
    ? ({ ...happening, digest: { ...happening.digest, branch } } as Happening)
    : happening;
}
