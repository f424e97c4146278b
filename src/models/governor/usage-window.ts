/** The period of a limit per minute. */
const WINDOW_MS = 60_000;

type UsageEntry = { readonly id: number; readonly atMs: number; tokens: number };

/** The requests of the last minute, exact: no 60 seconds exceed a limit. Time arrives as data. */
export class UsageWindow {
  #entries: UsageEntry[] = [];
  #tokens = 0;

  add(id: number, tokens: number, nowMs: number): void {
    this.#entries.push({ id, atMs: nowMs, tokens });
    this.#tokens += tokens;
  }

  /** Replaces an estimate with the actual tokens. */
  correct(id: number, tokens: number): void {
    const entry = this.#entries.find((one) => one.id === id);
    if (entry === undefined) return;
    this.#tokens += tokens - entry.tokens;
    entry.tokens = tokens;
  }

  /** Returns when one more request may go. */
  getRequestCapacityAtMs(perMinute: number, nowMs: number): number {
    this.#dropExpired(nowMs);
    const last = this.#entries[this.#entries.length - perMinute];
    return last === undefined ? nowMs : last.atMs + WINDOW_MS;
  }

  /** Returns when this many more tokens may go. A request larger than a whole minute's limit goes alone. */
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
