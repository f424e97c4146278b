const MAX_CHARS = 200;

/**
 * Makes names of documents that the API accepts: letters, digits, single spaces, hyphens, parentheses and brackets, and each
 * name once in a request, whatever its case. The same conversation has the same names, whatever follows.
 */
export class DocumentNames {
  readonly #taken = new Set<string>();

  next(fileName: string): string {
    const base = clean(fileName.replace(/\.[^.]*$/, "")) || "document";
    let name = base.slice(0, MAX_CHARS).trim();
    for (let copy = 2; this.#taken.has(name.toLowerCase()); copy += 1) {
      const suffix = ` (${copy})`;
      name = `${base.slice(0, MAX_CHARS - suffix.length).trim()}${suffix}`;
    }
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

function clean(name: string): string {
  return name
    .replace(/[^a-zA-Z0-9\s()[\]-]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
