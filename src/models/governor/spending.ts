/** What a limit a minute counts in. */
const WINDOW_MS = 60_000;

type Spent = { readonly id: number; readonly atMs: number; tokens: number };

/** Questions of the last minute, exact: in no 60 seconds are there more than a limit says. Time arrives as data. */
export class Spending {
  #spent: Spent[] = [];
  #tokens = 0;

  add(id: number, tokens: number, nowMs: number): void {
    this.#spent.push({ id, atMs: nowMs, tokens });
    this.#tokens += tokens;
  }

  /** What it came to, where it was an estimate. */
  correct(id: number, tokens: number): void {
    const spent = this.#spent.find((one) => one.id === id);
    if (spent === undefined) return;
    this.#tokens += tokens - spent.tokens;
    spent.tokens = tokens;
  }

  /** When one more request may go. */
  roomForRequestAtMs(perMinute: number, nowMs: number): number {
    this.#forget(nowMs);
    const last = this.#spent[this.#spent.length - perMinute];
    return last === undefined ? nowMs : last.atMs + WINDOW_MS;
  }

  /** When so many tokens more may go; what is more than a whole minute has goes alone. */
  roomForTokensAtMs(tokens: number, perMinute: number, nowMs: number): number {
    this.#forget(nowMs);
    let left = this.#tokens;
    let at = nowMs;
    for (const spent of this.#spent) {
      if (left + tokens <= perMinute) break;
      left -= spent.tokens;
      at = spent.atMs + WINDOW_MS;
    }
    return at;
  }

  #forget(nowMs: number): void {
    const kept = this.#spent.findIndex(({ atMs }) => atMs + WINDOW_MS > nowMs);
    const gone = this.#spent.splice(0, kept < 0 ? this.#spent.length : kept);
    for (const { tokens } of gone) this.#tokens -= tokens;
  }
}
