import { formatWait, type VendorWait } from "../../conversation/step-wait.ts";
import type { RequestWait } from "../../models/provider.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { DeltaBody } from "../../store/stream/stream-hub.ts";

/** A shorter wait is not reported. */
const REPORT_AFTER_MS = 1000;

/** Reports the waits of a step before it calls a vendor, to its heartbeat and to watchers. */
export class WaitReporter {
  readonly #publish: (body: DeltaBody) => void;
  #current: VendorWait | undefined;
  /** The wait that was last reported to watchers. */
  #reported: VendorWait["type"] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(publish: (body: DeltaBody) => void) {
    this.#publish = publish;
  }

  /** The details for the heartbeat. */
  get details(): { readonly wait?: VendorWait } {
    return omitUndefined({ wait: this.#current });
  }

  readonly onWait = (wait: RequestWait | undefined): void => {
    if (wait === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#current = undefined;
      this.#reported = undefined;
      return;
    }
    const nowMs = Date.now();
    const { forMs, ...what } = wait;
    const sinceMs = this.#current?.sinceMs ?? nowMs;
    this.#current = { ...what, sinceMs, ...(forMs === undefined ? {} : { untilMs: nowMs + forMs }) };
    this.#timer ??= setTimeout(() => this.#report(), REPORT_AFTER_MS);
    if (nowMs - sinceMs >= REPORT_AFTER_MS) this.#report();
  };

  /** Reports a wait once, and again when its cause changes. */
  #report(): void {
    if (this.#current === undefined || this.#current.type === this.#reported) return;
    this.#reported = this.#current.type;
    this.#publish({ type: "waiting", text: formatWait(this.#current, Date.now()) });
  }
}
