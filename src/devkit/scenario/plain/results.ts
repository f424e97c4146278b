import type { CallToolCommand } from "../../../core/machine/state/activity-command.ts";
import type { StepCommand } from "../../../core/machine/state/step-forms.ts";
import type { NewEntry } from "../../../store/transcript/store-write.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import { Interrupted } from "./interrupted.ts";
import type { Happening, Machine } from "./machine.ts";

/** The progress of a step when its worker dies: claimed, or its result also stored. */
export type Reached = "claimed" | "stored";

/** The event of a step, and the entry that it writes. */
export type Made = { readonly happening: Happening; readonly entry?: NewEntry };

type Asked = StepCommand | CallToolCommand;

/** The results of steps by run, command and call: a repeated step is not performed again. */
export class Results {
  /** The progress at which the current step is lost. */
  dies: Reached | undefined;
  readonly #machine: Pick<Machine, "run">;
  readonly #transcript: MemoryTranscript;
  readonly #stored = new Map<string, Happening>();
  readonly #claimed = new Set<string>();

  constructor(machine: Pick<Machine, "run">, transcript: MemoryTranscript) {
    this.#machine = machine;
    this.#transcript = transcript;
  }

  /** Reports whether a worker has claimed the step. */
  wasClaimed(command: Asked): boolean {
    return this.#claimed.has(this.#key(command));
  }

  claim(command: Asked): void {
    this.#claimed.add(this.#key(command));
  }

  /**
   * Writes the outbox and performs the step, unless its result is already stored.
   *
   * @throws Interrupted - If the worker dies during the step.
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

  /** Writes the outbox, and returns the stored result of the step. */
  recall(command: Exclude<Asked, { type: "open-loop" }>): Happening | undefined {
    const stored = this.stored(command);
    return stored === undefined ? undefined : onBranch(stored, this.#transcript.write(command));
  }

  stored(command: Asked): Happening | undefined {
    return this.#stored.get(this.#key(command));
  }

  /** @throws Interrupted - If the worker dies during the current step. */
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

/** Sets the branch of a stored result: other steps may have switched to another branch since. */
function onBranch(happening: Happening, branch: string): Happening {
  return "digest" in happening
    ? ({ ...happening, digest: { ...happening.digest, branch } } as Happening)
    : happening;
}
