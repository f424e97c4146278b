/** Named gates at which answers wait. A released gate stays open until `hold` closes it. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** Calls `go` when the gate opens. Returns a function that cancels the wait. */
  enter(name: string, go: () => void): () => void {
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting);
    waiting.add(go);
    return () => waiting.delete(go);
  }

  release(name: string): void {
    this.#open.add(name);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const go of waiting ?? []) go();
  }

  hold(name: string): void {
    this.#open.delete(name);
  }
}
