import { isObject, type JsonObject } from "../../platform/text/json.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { Draft, type Layer } from "./draft.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MODEL, getVendor, MODEL_FIELDS } from "./fields/model.ts";
import { applyKnownModel, warnUnknownModel } from "./known-model.ts";
import { getAt, getListAt, getTextAt } from "./table-paths.ts";

const FIELDS_OF_A_MODEL = MODEL_FIELDS.map((field) => ({ ...field, target: field.target.slice(1) }));

/** Adds an agent's model to its draft: that of its own provider, or of [provider] (CFG-15, CFG-17, X-30). */
export function applyModel(
  loader: AgentFileLoader,
  draft: Draft,
  { path, value }: { readonly path: Path; readonly value: JsonObject },
): void {
  const layer = resolveProvider(loader, value["provider"], [...path, "provider"]) ?? {
    path: ["provider"],
    value: loader.value["provider"] ?? {},
  };
  const modelPath = [...path, "model"];
  const id = getTextAt(value, ["model"]);
  draft.addDraft(
    ["model"],
    draftModel(loader, layer, id === undefined ? undefined : { id, path: modelPath }),
  );
}

/** Adds the fallback models of the first table that specifies any; `[]` specifies none. */
export function applyFallbacks(loader: AgentFileLoader, draft: Draft, layers: readonly Layer[]): void {
  const chosen = layers.find(({ value }) => Array.isArray(getAt(value, ["fallbacks"])));
  if (chosen === undefined) return;
  const path = [...chosen.path, "fallbacks"];
  const providers = getListAt(chosen.value, ["fallbacks"]).flatMap(
    (given, index) => resolveProvider(loader, given, [...path, index]) ?? [],
  );
  draft.set(["fallbacks"], [], { type: "file", path: path });
  for (const [index, layer] of providers.entries()) {
    draft.addDraft(["fallbacks", index], draftModel(loader, layer));
  }
  // Values that a model does not specify are defaults; they do not come from the list.
  if (providers.length > 0) draft.origins.delete("fallbacks");
}

/** Resolves the value at a path: the name of a provider, or a table like [provider]. */
function resolveProvider(loader: AgentFileLoader, value: unknown, path: Path): Layer | undefined {
  if (isObject(value)) return { path, value: value };
  if (typeof value !== "string") return undefined;
  const entity = loader.references.resolve(value, "provider", path);
  if (entity === undefined) return undefined;
  return { path: entity.path, value: entity.table, suppliedBy: `provider ${entity.name}` };
}

/** @param other - Another model of the same provider. */
function draftModel(
  loader: AgentFileLoader,
  layer: Layer,
  other?: { readonly id: string; readonly path: Path },
): Draft {
  const model = new Draft();
  model.applyFields(FIELDS_OF_A_MODEL, [layer]);
  if (other !== undefined) {
    model.set(["id"], other.id, { type: "file", path: other.path });
    model.remove(["name"]);
  }
  checkHighRates(loader, model, layer);
  const isKnown = fillDefaults(loader, model);
  if (model.get(["apiKey"]) === "") model.remove(["apiKey"]);
  const path = other?.path ?? [...layer.path, "model"];
  warnAboutProvider(loader, model, layer.path, path);
  if (!isKnown && loader.environment.unknownModels === "doubted")
    warnUnknownModel(loader, model, layer, path);
  return model;
}

/** @returns Whether the catalogue knows the model. */
function fillDefaults(loader: AgentFileLoader, model: Draft): boolean {
  const setDefault = (name: string, value: unknown, note?: string): void => {
    if (model.get([name]) !== undefined) return;
    model.set([name], value, note === undefined ? { type: "default" } : { type: "default", note });
  };
  setDefault("id", DEFAULT_MODEL);
  setDefault("api", "anthropic_messages");
  const api = model.get(["api"]) as ModelConfig["api"];
  const { provider, baseUrl } = getVendor(api);
  setDefault("provider", provider, `of ${api}`);
  const entry = applyKnownModel(loader, model);
  setDefault("contextWindow", DEFAULT_CONTEXT_WINDOW);
  if (baseUrl !== undefined) setDefault("baseUrl", baseUrl, `of ${api}`);
  return entry !== undefined;
}

const HIGH_RATE_KEYS = MODEL_FIELDS.flatMap(({ paths: [place], target }) => {
  return target[1] === "cost" && target[2] === "dearer" ? [{ key: place?.at(-1), to: target.slice(1) }] : [];
});

/** Checks that the prices of long requests are complete: a missing price is not zero. */
function checkHighRates(loader: AgentFileLoader, model: Draft, { path }: Layer): void {
  const missing = HIGH_RATE_KEYS.filter(({ to }) => model.get(to) === undefined).map(({ key }) => key);
  if (missing.length === 0 || missing.length === HIGH_RATE_KEYS.length) return;
  const message = `the prices of long requests are incomplete: add ${missing.join(", ")}`;
  loader.reportError([...path, "cost", "dearer"], message, "above and all four prices");
  model.remove(["cost", "dearer"]);
}

/** Reports common mistakes (CFG-28). */
function warnAboutProvider(loader: AgentFileLoader, model: Draft, path: Path, modelPath: Path): void {
  const getText = (key: string) => getAt(loader.source.value, [...path, key]);
  const { id, api, baseUrl, apiKey, headers = {} } = model.value as Partial<ModelConfig>;
  if (getAt(loader.source.value, path) === undefined) return;
  const named = getAt(loader.source.value, modelPath) !== undefined;
  if (!named) {
    loader.reportWarning(path, `no model is specified, so "${DEFAULT_MODEL}" is used: add model = "…"`);
  }
  if (baseUrl === undefined && getText("base_url") === undefined && getText("url") === undefined) {
    loader.reportError(path, `${api} has no default address: add base_url`, "a URL such as https://HOST");
    // This value prevents a second report of the missing address.
    model.set(["baseUrl"], "https://missing.invalid", { type: "default" });
  }
  if (getText("api") === undefined && named && id !== DEFAULT_MODEL && !/claude/i.test(id ?? "")) {
    const message = `"${id}" does not look like an Anthropic model, and the protocol is never inferred: add api = "openai", or api = "anthropic" if that is right`;
    loader.reportWarning(modelPath, message, { expected: "api = …" });
  }
  const vendor = getVendor(api as ModelConfig["api"]);
  const atVendor = baseUrl !== undefined && baseUrl === vendor.baseUrl;
  if (
    apiKey === undefined &&
    atVendor &&
    Object.keys(headers).length === 0 &&
    getText("api_key") === undefined
  ) {
    const name = `${vendor.provider.toUpperCase()}_API_KEY`;
    loader.reportWarning(
      path,
      `no api_key is specified, and ${baseUrl} requires one: add api_key = "\${${name}}"`,
    );
  }
}
