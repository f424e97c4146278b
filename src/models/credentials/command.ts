import { redact } from "../../platform/text/redact.ts";
import { maskFor } from "../mask.ts";
import { ProviderError } from "../provider-error.ts";
import { type Fetched, type FetchedCredential, readFetched } from "./credential.ts";
import { type Ran, runCommand } from "./run-command.ts";

/** A value is fetched anew this long before it ends, so that no question is asked with one that ends on its way. */
const MARGIN_MS = 60_000;
/** Of one that holds for minutes only, as a share of that time. */
const MARGIN_SHARE = 0.1;

const MAX_SAID_CHARS = 300;

export type CommandOptions = {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Of a value whose end the command does not name. */
  readonly keepMs?: number | undefined;
};

type Kept = Fetched & { readonly staleAtMs: number };

/** What a program prints. It runs once at a time, however many ask. */
export class CommandCredential implements FetchedCredential {
  readonly #name: string;
  readonly #options: CommandOptions;
  readonly #run: typeof runCommand;
  readonly #now: () => number;
  /** For what must be hidden, a value is known after it was forgotten. */
  #last: Kept | undefined;
  #isForgotten = false;
  #running: Promise<void> | undefined;

  constructor(name: string, options: CommandOptions, run = runCommand, now: () => number = Date.now) {
    this.#name = name;
    this.#options = options;
    this.#run = run;
    this.#now = now;
  }

  get value(): string | undefined {
    return this.#last?.value;
  }

  async prepare(): Promise<void> {
    if (!this.#isForgotten && this.#last !== undefined && this.#now() < this.#last.staleAtMs) return;
    this.#running ??= this.#fetch().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  forget(refused: string | undefined): void {
    if (refused === undefined || refused === this.#last?.value) this.#isForgotten = true;
  }

  async #fetch(): Promise<void> {
    const { command, timeoutMs, keepMs } = this.#options;
    const ran = await this.#run(command, timeoutMs);
    const now = this.#now();
    const fetched = ran.type === "printed" ? readFetched(ran.stdout) : undefined;
    if (fetched === undefined || fetched.value === "" || (fetched.expiresAtMs ?? now + 1) <= now) {
      // Not fetched anew, and still good: the next question tries again.
      if (!this.#isForgotten && now < (this.#last?.expiresAtMs ?? 0)) return;
      throw this.#failed(ran, fetched);
    }
    const holdsMs = (fetched.expiresAtMs ?? Number.POSITIVE_INFINITY) - now;
    const margin = Math.min(MARGIN_MS, holdsMs * MARGIN_SHARE);
    const keptMs = Number.isFinite(holdsMs) ? holdsMs - margin : (keepMs ?? Number.POSITIVE_INFINITY);
    this.#last = { ...fetched, staleAtMs: now + keptMs };
    this.#isForgotten = false;
  }

  #failed(ran: Ran, fetched: Fetched | undefined): ProviderError {
    const { command, timeoutMs } = this.#options;
    const what = `${this.#name}: the command ${command[0]}`;
    const byHand = "run it by hand as the user of the worker, and mend it or its credentials entry";
    switch (ran.type) {
      case "not-started":
        return new ProviderError("auth", `${what} could not be started (${ran.why}): ${byHand}`);
      case "timed-out":
        return new ProviderError("network", `${what} had not ended after ${timeoutMs / 1000} s: ${byHand}`);
      case "too-long":
        return new ProviderError("auth", `${what} printed more than a key can be: ${byHand}`);
      case "exited":
        return new ProviderError("network", `${what} ${ran.how}${this.#said(ran)}: ${byHand}`);
      case "printed": {
        const why = fetched?.value === "" ? "printed nothing" : "printed a value that has ended already";
        return new ProviderError("auth", `${what} ${why}${this.#said(ran)}: ${byHand}`);
      }
    }
  }

  /** Its own complaint, without what it may have printed as the value. */
  #said({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
    const mask = maskFor([stdout, readFetched(stdout).value, this.#last?.value]);
    const said = redact(mask(stderr)).replace(/\s+/g, " ").trim();
    return said === "" ? "" : ` (${said.slice(0, MAX_SAID_CHARS)})`;
  }
}
