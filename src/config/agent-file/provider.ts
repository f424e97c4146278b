import type { ModelConfig } from "../../schema/model.ts";
import type { Path } from "../source/node.ts";
import { Draft, type Layer } from "./draft.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MODEL, MODEL_FIELDS, vendorOf } from "./fields/model.ts";
import { doubtUnknown, takeKnown } from "./known-model.ts";
import { at, isTable, listAt, type Table, textAt } from "./table.ts";
import type { Workbench } from "./workbench.ts";

const FIELDS_OF_A_MODEL = MODEL_FIELDS.map((field) => ({ ...field, to: field.to.slice(1) }));

/** Puts the model of an agent into its draft: its own provider's, or [provider]'s (CFG-15, CFG-17, X-30). */
export function takeModel(
  bench: Workbench,
  draft: Draft,
  { path, value }: { readonly path: Path; readonly value: Table },
): void {
  const layer = providerOf(bench, value["provider"], [...path, "provider"]) ?? {
    path: ["provider"],
    value: bench.value["provider"] ?? {},
  };
  const place = [...path, "model"];
  const id = textAt(value, ["model"]);
  draft.embed(["model"], modelOf(bench, layer, id === undefined ? undefined : { id, path: place }));
}

/** The models that are asked where the agent's own cannot answer: of the first table that names any, or none with `[]`. */
export function takeFallbacks(bench: Workbench, draft: Draft, layers: readonly Layer[]): void {
  const chosen = layers.find(({ value }) => Array.isArray(at(value, ["fallbacks"])));
  if (chosen === undefined) return;
  const place = [...chosen.path, "fallbacks"];
  const providers = listAt(chosen.value, ["fallbacks"]).flatMap(
    (said, index) => providerOf(bench, said, [...place, index]) ?? [],
  );
  draft.set(["fallbacks"], [], { type: "file", path: place });
  for (const [index, layer] of providers.entries()) {
    draft.embed(["fallbacks", index], modelOf(bench, layer));
  }
  // What a model does not say is by default, and does not come from the list.
  if (providers.length > 0) draft.origins.delete("fallbacks");
}

/** What is said at a path: the name of a provider, or a table as [provider] is. */
function providerOf(bench: Workbench, said: unknown, path: Path): Layer | undefined {
  if (isTable(said)) return { path, value: said };
  if (typeof said !== "string") return undefined;
  const entity = bench.references.resolve(said, "provider", path);
  if (entity === undefined) return undefined;
  return { path: entity.path, value: entity.table, via: `provider ${entity.name}` };
}

/** @param other - Another model of the same provider. */
function modelOf(
  bench: Workbench,
  layer: Layer,
  other?: { readonly id: string; readonly path: Path },
): Draft {
  const model = new Draft();
  model.take(FIELDS_OF_A_MODEL, [layer]);
  if (other !== undefined) {
    model.set(["id"], other.id, { type: "file", path: other.path });
    model.remove(["name"]);
  }
  checkDearer(bench, model, layer);
  const isKnown = fillIn(bench, model);
  if (model.get(["apiKey"]) === "") model.remove(["apiKey"]);
  const place = other?.path ?? [...layer.path, "model"];
  doubts(bench, model, layer.path, place);
  if (!isKnown && bench.surroundings.unknownModels === "doubted") doubtUnknown(bench, model, layer, place);
  return model;
}

/** @returns Whether the catalogue knows the model. */
function fillIn(bench: Workbench, model: Draft): boolean {
  const byDefault = (name: string, value: unknown, note?: string): void => {
    if (model.get([name]) !== undefined) return;
    model.set([name], value, note === undefined ? { type: "default" } : { type: "default", note });
  };
  byDefault("id", DEFAULT_MODEL);
  byDefault("api", "anthropic_messages");
  const api = model.get(["api"]) as ModelConfig["api"];
  const { provider, baseUrl } = vendorOf(api);
  byDefault("provider", provider, `of ${api}`);
  const entry = takeKnown(bench, model);
  byDefault("contextWindow", DEFAULT_CONTEXT_WINDOW);
  if (baseUrl !== undefined) byDefault("baseUrl", baseUrl, `of ${api}`);
  return entry !== undefined;
}

const DEARER = MODEL_FIELDS.flatMap(({ places: [place], to }) => {
  return to[1] === "cost" && to[2] === "dearer" ? [{ key: place?.at(-1), to: to.slice(1) }] : [];
});

/** What a long question costs is said as a whole: a price that is left out is not nothing. */
function checkDearer(bench: Workbench, model: Draft, { path }: Layer): void {
  const missing = DEARER.filter(({ to }) => model.get(to) === undefined).map(({ key }) => key);
  if (missing.length === 0 || missing.length === DEARER.length) return;
  const message = `what a long question costs is said as a whole: add ${missing.join(", ")}`;
  bench.wrong([...path, "cost", "dearer"], message, "above and all four prices");
  model.remove(["cost", "dearer"]);
}

/** Mistakes that are made often (CFG-28). */
function doubts(bench: Workbench, model: Draft, path: Path, place: Path): void {
  const said = (key: string) => at(bench.source.value, [...path, key]);
  const { id, api, baseUrl, apiKey, headers = {} } = model.value as Partial<ModelConfig>;
  if (at(bench.source.value, path) === undefined) return;
  const named = at(bench.source.value, place) !== undefined;
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
    model.set(["baseUrl"], "https://missing.invalid", { type: "default" });
  }
  if (said("api") === undefined && named && id !== DEFAULT_MODEL && !/claude/i.test(id ?? "")) {
    const message = `"${id}" does not look like a model of Anthropic, and the protocol is never guessed: add api = "openai", or api = "anthropic" if it is right`;
    bench.doubt(place, message, { expected: "api = …" });
  }
  const vendor = vendorOf(api as ModelConfig["api"]);
  const atVendor = baseUrl !== undefined && baseUrl === vendor.baseUrl;
  if (
    apiKey === undefined &&
    atVendor &&
    Object.keys(headers).length === 0 &&
    said("api_key") === undefined
  ) {
    const name = `${vendor.provider.toUpperCase()}_API_KEY`;
    bench.doubt(path, `no api_key is named, and ${baseUrl} wants one: add api_key = "\${${name}}"`);
  }
}
