/** Named places where answers wait. A gate that was released stays open until `hold` closes it again. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** Calls `go` when the gate opens; the result takes the wish back. */
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
