import type { Protocol } from "../../schema/model.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import type { CatalogueEntry } from "../catalogue/entry.ts";
import { knownOf } from "../catalogue/entry.ts";
import type { Path } from "../source/node.ts";
import type { Draft, Layer } from "./draft.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MODEL, MODEL_FIELDS, VENDORS } from "./fields/model.ts";
import { at, isTable, type Table, textAt } from "./table.ts";
import type { Workbench } from "./workbench.ts";

/** Puts the model of an agent into its draft: its own provider's, or [provider]'s (CFG-15, CFG-17, X-30). */
export function takeModel(
  bench: Workbench,
  draft: Draft,
  owner: { readonly path: Path; readonly value: Table },
): void {
  const layer = providerOf(bench, owner);
  draft.take(MODEL_FIELDS, [layer]);
  const { path } = layer;
  if (textAt(owner.value, ["model"]) !== undefined) {
    draft.set(["model", "id"], owner.value["model"], { type: "file", path: [...owner.path, "model"] });
    draft.remove(["model", "name"]);
  }
  const entry = fillIn(bench, draft);
  if (draft.get(["model", "apiKey"]) === "") draft.remove(["model", "apiKey"]);
  const shorthand = textAt(owner.value, ["model"]) !== undefined;
  const named = [...(shorthand ? owner.path : path), "model"];
  doubts(bench, draft, path, named);
  if (entry === undefined && bench.surroundings.unknownModels === "doubted")
    unknown(bench, draft, layer, named);
}

function providerOf(
  bench: Workbench,
  { path, value }: { readonly path: Path; readonly value: Table },
): Layer {
  const own = value["provider"];
  const place = [...path, "provider"];
  if (isTable(own)) return { path: place, value: own };
  const base: Layer = { path: ["provider"], value: bench.value["provider"] ?? {} };
  if (typeof own !== "string") return base;
  const entity = bench.references.resolve(own, "provider", place);
  if (entity === undefined) return base;
  return { path: entity.path, value: entity.table, via: `provider ${entity.name}` };
}

/** @returns What the catalogue knows of the model. */
function fillIn(bench: Workbench, draft: Draft): CatalogueEntry | undefined {
  const byDefault = (name: string, value: unknown, note?: string): void => {
    if (draft.get(["model", name]) !== undefined) return;
    draft.set(["model", name], value, note === undefined ? { type: "default" } : { type: "default", note });
  };
  byDefault("id", DEFAULT_MODEL);
  byDefault("api", "anthropic_messages");
  const api = draft.get(["model", "api"]) as Protocol;
  byDefault("provider", VENDORS[api].provider, `of ${api}`);
  const catalogue = bench.surroundings.catalogue ?? new Catalogue();
  const { id, provider, cost: said } = draft.get(["model"]) as Record<string, unknown>;
  const entry = catalogue.find(String(provider), String(id));
  if (entry !== undefined) {
    const note = `of the catalogue: ${entry.source}${entry.date === "" ? "" : `, ${entry.date}`}`;
    const { cost, ...known } = knownOf(entry);
    for (const [name, value] of Object.entries(known)) byDefault(name, value, note);
    if (said === undefined && cost !== undefined) {
      for (const [name, value] of Object.entries(cost)) {
        draft.set(["model", "cost", name], value, { type: "default", note });
      }
    }
  }
  byDefault("contextWindow", DEFAULT_CONTEXT_WINDOW);
  const { baseUrl } = VENDORS[api];
  if (baseUrl !== undefined) byDefault("baseUrl", baseUrl, `of ${api}`);
  return entry;
}

/** Nothing is known of the model, and the file does not say it either. */
function unknown(bench: Workbench, draft: Draft, { value, path }: Layer, model: Path): void {
  const { id, provider } = draft.get(["model"]) as Record<string, string>;
  const missing = ["context_window", "max_tokens"].filter((key) => at(value, [key]) === undefined);
  if (missing.length === 0 || id === DEFAULT_MODEL || provider === "local") return;
  // The doubt about the protocol is said already, and is the greater one.
  if (at(value, ["api"]) === undefined && !/claude/i.test(id ?? "")) return;
  const place = at(bench.source.value, model) === undefined ? path : model;
  bench.doubt(
    place,
    `${provider}/${id} is not in the catalogue: ${ASSUMED}; say ${missing.join(" and ")} if that is not so`,
    { expected: missing.join(", ") },
  );
}

const ASSUMED = `a context of ${DEFAULT_CONTEXT_WINDOW.toLocaleString("en")} tokens, answers of up to 8,192 and no prices are assumed where the file says none`;

/** Mistakes that are made often (CFG-28). */
function doubts(bench: Workbench, draft: Draft, path: Path, model: Path): void {
  const said = (key: string) => at(bench.source.value, [...path, key]);
  const { id, api, baseUrl, apiKey } = draft.get(["model"]) as Record<string, string | undefined>;
  if (at(bench.source.value, path) === undefined) return;
  const named = at(bench.source.value, model) !== undefined;
  if (!named) {
    bench.doubt(path, `no model is named, so "${DEFAULT_MODEL}" is asked for: add model = "…"`);
  }
  if (baseUrl === undefined && said("base_url") === undefined && said("url") === undefined) {
    bench.wrong(
      path,
      `${api} is served nowhere in particular: base_url must be said`,
      "a URL such as https://HOST",
    );
    // So that its absence is not said a second time.
    draft.set(["model", "baseUrl"], "https://missing.invalid", { type: "default" });
  }
  if (said("api") === undefined && named && id !== DEFAULT_MODEL && !/claude/i.test(id ?? "")) {
    const message = `"${id}" does not look like a model of Anthropic, and the protocol is never guessed: add api = "openai", or api = "anthropic" if it is right`;
    bench.doubt(model, message, { expected: "api = …" });
  }
  const atVendor = baseUrl !== undefined && baseUrl === VENDORS[api as Protocol].baseUrl;
  const headers = Object.keys((draft.get(["model", "headers"]) as object | undefined) ?? {});
  if (apiKey === undefined && atVendor && headers.length === 0 && said("api_key") === undefined) {
    const name = `${VENDORS[api as Protocol].provider.toUpperCase()}_API_KEY`;
    bench.doubt(path, `no api_key is named, and ${baseUrl} wants one: add api_key = "\${${name}}"`);
  }
}
