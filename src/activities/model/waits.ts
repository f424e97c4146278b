import { type VendorWait, waitWords } from "../../conversation/waits.ts";
import type { Wait } from "../../models/provider.ts";
import type { DeltaBody } from "../../store/stream/stream.ts";

/** A wait that is over sooner is nobody's business. */
const TELL_AFTER_MS = 1000;

/** What a step waits for before it asks a vendor: for its heartbeat, and for those who watch. */
export class Waits {
  readonly #publish: (body: DeltaBody) => void;
  #now: VendorWait | undefined;
  /** What those who watch were told last. */
  #told: VendorWait["for"] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(publish: (body: DeltaBody) => void) {
    this.#publish = publish;
  }

  /** For the heartbeat. */
  get details(): { readonly waits?: VendorWait } {
    return this.#now === undefined ? {} : { waits: this.#now };
  }

  readonly onWait = (wait: Wait | undefined): void => {
    if (wait === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#now = undefined;
      this.#told = undefined;
      return;
    }
    const nowMs = Date.now();
    const { forMs, ...what } = wait;
    const sinceMs = this.#now?.sinceMs ?? nowMs;
    this.#now = { ...what, sinceMs, ...(forMs === undefined ? {} : { untilMs: nowMs + forMs }) };
    this.#timer ??= setTimeout(() => this.#tell(), TELL_AFTER_MS);
    if (nowMs - sinceMs >= TELL_AFTER_MS) this.#tell();
  };

  /** Once, and again when it is another cause. */
  #tell(): void {
    if (this.#now === undefined || this.#now.for === this.#told) return;
    this.#told = this.#now.for;
    this.#publish({ type: "waiting", text: waitWords(this.#now, Date.now()) });
  }
}
