import { redact } from "../../platform/text/redact.ts";
import { ProviderError } from "../provider-error.ts";
import { createMask } from "../secret-masks.ts";
import { type FetchedCredential, type FetchedValue, parseFetchedValue } from "./fetched-credential.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

/** A value is renewed this long before it expires, so that no request is sent with one that expires on the way. */
const REFRESH_MARGIN_MS = 60_000;
/** The margin for a short-lived value, as a share of its lifetime. */
const REFRESH_MARGIN_SHARE = 0.1;

const MAX_QUOTED_CHARS = 300;

export type CommandOptions = {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** The lifetime of a value for which the command names no expiry. */
  readonly keepMs?: number | undefined;
};

type CachedValue = FetchedValue & { readonly staleAtMs: number };

/** A credential that a program prints. The program runs once at a time, however many callers wait. */
export class CommandCredential implements FetchedCredential {
  readonly #name: string;
  readonly #options: CommandOptions;
  readonly #run: typeof runCommand;
  readonly #now: () => number;
  /** Retained after invalidation, so that the value is still masked. */
  #last: CachedValue | undefined;
  #isInvalidated = false;
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
    if (!this.#isInvalidated && this.#last !== undefined && this.#now() < this.#last.staleAtMs) return;
    this.#running ??= this.#fetch().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  invalidate(rejected: string | undefined): void {
    if (rejected === undefined || rejected === this.#last?.value) this.#isInvalidated = true;
  }

  async #fetch(): Promise<void> {
    const { command, timeoutMs, keepMs } = this.#options;
    const result = await this.#run(command, timeoutMs);
    const now = this.#now();
    const fetched = result.type === "printed" ? parseFetchedValue(result.stdout) : undefined;
    if (fetched === undefined || fetched.value === "" || (fetched.expiresAtMs ?? now + 1) <= now) {
      // The value was not renewed but is still valid: the next request tries again.
      if (!this.#isInvalidated && now < (this.#last?.expiresAtMs ?? 0)) return;
      throw this.#createError(result, fetched);
    }
    const validMs = (fetched.expiresAtMs ?? Number.POSITIVE_INFINITY) - now;
    const margin = Math.min(REFRESH_MARGIN_MS, validMs * REFRESH_MARGIN_SHARE);
    const maxAgeMs = Number.isFinite(validMs) ? validMs - margin : (keepMs ?? Number.POSITIVE_INFINITY);
    this.#last = { ...fetched, staleAtMs: now + maxAgeMs };
    this.#isInvalidated = false;
  }

  #createError(result: CommandResult, fetched: FetchedValue | undefined): ProviderError {
    const { command, timeoutMs } = this.#options;
    const what = `${this.#name}: the command ${command[0]}`;
    const hint = "run it manually as the user of the worker, and fix it or its credentials entry";
    switch (result.type) {
      case "not-started":
        return new ProviderError("auth", `${what} could not be started (${result.reason}): ${hint}`);
      case "timed-out":
        return new ProviderError("network", `${what} did not exit within ${timeoutMs / 1000} s: ${hint}`);
      case "too-long":
        return new ProviderError("auth", `${what} printed more than a key can be: ${hint}`);
      case "exited":
        return new ProviderError("network", `${what} ${result.exit}${this.#quoteOutput(result)}: ${hint}`);
      case "printed": {
        const reason = fetched?.value === "" ? "printed nothing" : "printed a value that has already expired";
        return new ProviderError("auth", `${what} ${reason}${this.#quoteOutput(result)}: ${hint}`);
      }
    }
  }

  /** Quotes the program's error output, without the part that may be the value. */
  #quoteOutput({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
    const mask = createMask([stdout, parseFetchedValue(stdout).value, this.#last?.value]);
    const output = redact(mask(stderr)).replace(/\s+/g, " ").trim();
    return output === "" ? "" : ` (${output.slice(0, MAX_QUOTED_CHARS)})`;
  }
}
