import { BUILT_IN } from "./built-in.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";

/** Providers that serve the models of another provider's list under the same names. */
const SAME_LIST: Readonly<Record<string, string>> = {
  "openai-responses": "openai",
  azure: "openai",
  vertex: "google",
};

/** Known models. A user's own entries precede the built-in ones. Workers never use it. */
export class Catalogue {
  readonly #entries = new Map<string, CatalogueEntry>();

  constructor(own: readonly CatalogueEntry[] = []) {
    for (const entry of BUILT_IN) this.#entries.set(entry.name, entry);
    for (const entry of own) {
      this.#entries.set(entry.name, { ...this.find(entry.provider, entry.id), ...entry });
    }
  }

  entries(): readonly CatalogueEntry[] {
    return [...this.#entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @param provider - The provider's name in a model's configuration. */
  find(provider: string, id: string): CatalogueEntry | undefined {
    const lists = [provider, SAME_LIST[provider]].filter((list) => list !== undefined);
    for (const list of lists) {
      for (const name of listModelNames(id)) {
        const found = this.#entries.get(`${list}/${name}`);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
}

/** Lists a model's names, the exact one first, then without a date, `-latest`, Bedrock's region, or Vertex's path. */
function listModelNames(id: string): readonly string[] {
  const last = /^(?:publishers|models)\//.test(id) ? id.slice(id.lastIndexOf("/") + 1) : id;
  const here = last.replace(/^(?:us|us-gov|eu|apac|jp|au|ca)\.(?=[a-z0-9]+\.)/, "");
  const plain = here.replace(/(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-preview-\d{2}-\d{4}|-latest|-00\d)$/, "");
  const first = /^claude-(?:opus|sonnet)-4$/.test(plain) ? [`${plain}-0`] : [];
  return [...new Set([id, last, here, plain, ...first])];
}
