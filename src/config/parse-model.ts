import { findNearestName } from "../platform/text/nearest-name.ts";
import type { ModelConfig } from "../schema/model.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import { readCatalogue } from "./catalogue/user-file.ts";
import {
  anthropic,
  azure,
  bedrock,
  google,
  local,
  ModelError,
  type ModelOptions,
  openai,
  openaiResponses,
  openrouter,
  trimTrailingSlash,
  vertex,
} from "./vendor-models.ts";

const FACTORIES = {
  anthropic,
  openai,
  "openai-responses": openaiResponses,
  azure: (rest: string, options: ModelOptions, catalogue: Catalogue) => {
    const { id, url } = parseUrlSuffix(rest);
    const baseUrl = options.baseUrl ?? url;
    return azure(id, { ...options, ...(baseUrl !== undefined && { baseUrl }) }, catalogue);
  },
  openrouter,
  google,
  vertex,
  bedrock,
  local: (rest: string, options: ModelOptions, catalogue: Catalogue) => {
    const { id, url: said } = parseUrlSuffix(rest);
    const url = options.baseUrl ?? said;
    if (url === undefined || id === "") {
      throw new ModelError(
        `The model's address is missing: write local/${id || "ID"}@http://127.0.0.1:8080/v1`,
      );
    }
    return local(trimTrailingSlash(url), id, options, catalogue);
  },
} as const satisfies Record<string, (id: string, options: ModelOptions, catalogue: Catalogue) => ModelConfig>;

/** Splits `ID@http://HOST` into its parts. */
function parseUrlSuffix(rest: string): { readonly id: string; readonly url: string | undefined } {
  const at = rest.search(/@https?:\/\//);
  return at < 0 ? { id: rest, url: undefined } : { id: rest.slice(0, at), url: rest.slice(at + 1) };
}

/**
 * Parses the name of a model: `anthropic/ID`, `openai/ID`, `openai-responses/ID`, `azure/DEPLOYMENT`,
 * `openrouter/VENDOR/ID`, `google/ID`, `vertex/ID`, `bedrock/ID`, `local/ID@http://HOST:PORT/v1`. The catalogue supplies
 * values that the options do not set; for a model that is not in it, the factory of its vendor does.
 *
 * @param catalogue - By default the built-in catalogue and the user's own file.
 */
export function parseModel(
  name: string,
  options: ModelOptions = {},
  catalogue: Catalogue = readCatalogue(),
): ModelConfig {
  const slash = name.indexOf("/");
  const provider = slash < 0 ? name : name.slice(0, slash);
  const known = Object.keys(FACTORIES);
  if (!Object.hasOwn(FACTORIES, provider)) {
    const suggestion = findNearestName(provider, known);
    const hint = suggestion === undefined ? "" : ` Did you mean "${suggestion}"?`;
    throw new ModelError(
      `Unknown provider "${provider}" in model "${name}".${hint} Known: ${known.join(", ")}.`,
    );
  }
  const id = slash < 0 ? "" : name.slice(slash + 1).trim();
  if (id === "") throw new ModelError(`Model "${name}" has a provider but no model id: write ${provider}/ID`);
  return FACTORIES[provider as keyof typeof FACTORIES](id, options, catalogue);
}
