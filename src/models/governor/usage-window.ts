/** What a limit a minute counts in. */
const WINDOW_MS = 60_000;

type UsageEntry = { readonly id: number; readonly atMs: number; tokens: number };

/** Questions of the last minute, exact: in no 60 seconds are there more than a limit says. Time arrives as data. */
export class UsageWindow {
  #entries: UsageEntry[] = [];
  #tokens = 0;

  add(id: number, tokens: number, nowMs: number): void {
    this.#entries.push({ id, atMs: nowMs, tokens });
    this.#tokens += tokens;
  }

  /** What it came to, where it was an estimate. */
  correct(id: number, tokens: number): void {
    const entry = this.#entries.find((one) => one.id === id);
    if (entry === undefined) return;
    this.#tokens += tokens - entry.tokens;
    entry.tokens = tokens;
  }

  /** When one more request may go. */
  getRequestCapacityAtMs(perMinute: number, nowMs: number): number {
    this.#dropExpired(nowMs);
    const last = this.#entries[this.#entries.length - perMinute];
    return last === undefined ? nowMs : last.atMs + WINDOW_MS;
  }

  /** When so many tokens more may go; what is more than a whole minute has goes alone. */
  getTokenCapacityAtMs(tokens: number, perMinute: number, nowMs: number): number {
    this.#dropExpired(nowMs);
    let excess = this.#tokens;
    let at = nowMs;
    for (const spent of this.#entries) {
      if (excess + tokens <= perMinute) break;
      excess -= spent.tokens;
      at = spent.atMs + WINDOW_MS;
    }
    return at;
  }

  #dropExpired(nowMs: number): void {
    const remaining = this.#entries.findIndex(({ atMs }) => atMs + WINDOW_MS > nowMs);
    const expired = this.#entries.splice(0, remaining < 0 ? this.#entries.length : remaining);
    for (const { tokens } of expired) this.#tokens -= tokens;
  }
}
