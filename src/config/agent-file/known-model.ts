import { computeEditDistance, findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import type { CatalogueEntry } from "../catalogue/catalogue-entry.ts";
import { toKnownModel } from "../catalogue/catalogue-entry.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import type { Draft, Layer } from "./draft.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MODEL } from "./fields/model.ts";
import { getAt } from "./table-paths.ts";

/** Adds the catalogue's values that the file does not set. @returns The catalogue's entry of the model. */
export function applyKnownModel(loader: AgentFileLoader, model: Draft): CatalogueEntry | undefined {
  const catalogue = loader.environment.catalogue ?? new Catalogue();
  const { id, provider, cost: declaredCost } = model.value as Record<string, unknown>;
  const entry = catalogue.find(String(provider), String(id));
  if (entry === undefined) return undefined;
  const origin = {
    type: "default" as const,
    note: `from the catalogue: ${entry.source}${entry.date === "" ? "" : `, ${entry.date}`}`,
  };
  const { cost: { dearer = {}, ...cost } = {}, ...known } = toKnownModel(entry);
  for (const [name, value] of Object.entries(known)) {
    if (model.get([name]) === undefined) model.set([name], value, origin);
  }
  if (declaredCost !== undefined) return entry;
  for (const [name, value] of Object.entries(cost)) model.set(["cost", name], value, origin);
  for (const [name, value] of Object.entries(dearer)) model.set(["cost", "dearer", name], value, origin);
  return entry;
}

const DEFAULT_FIELDS = `a context of ${DEFAULT_CONTEXT_WINDOW.toLocaleString("en")} tokens and answers of up to 8,192 tokens are assumed, and its prices are unknown, unless the file specifies them`;

/** Warns that neither the catalogue nor the file describes the model. */
export function warnUnknownModel(
  loader: AgentFileLoader,
  model: Draft,
  { value, path }: Layer,
  modelPath: Path,
): void {
  const { id, provider } = model.value as Record<string, string>;
  const missing = ["context_window", "max_tokens"].filter((key) => getAt(value, [key]) === undefined);
  if (missing.length === 0 || id === DEFAULT_MODEL || provider === "local") return;
  // The warning about the protocol takes precedence.
  if (getAt(value, ["api"]) === undefined && !/claude/i.test(id ?? "")) return;
  const nearest = findNearestModel(loader.environment.catalogue ?? new Catalogue(), `${provider}/${id}`);
  const hint = nearest === undefined ? "" : `did you mean ${nearest}? Otherwise `;
  loader.reportWarning(
    getAt(loader.source.value, modelPath) === undefined ? path : modelPath,
    `${provider}/${id} is not in the catalogue: ${hint}${DEFAULT_FIELDS}; add ${missing.join(" and ")} if that is wrong`,
    { expected: missing.join(", "), ...omitUndefined({ nearest }) },
  );
}

/** Models of one family differ by a digit, so that only a small difference is a slip. */
const MAX_DISTANCE = 2;

function findNearestModel(catalogue: Catalogue, name: string): string | undefined {
  const names = catalogue.entries().map((entry) => entry.name);
  const nearest = findNearestName(name, names);
  return nearest !== undefined && computeEditDistance(name, nearest) <= MAX_DISTANCE ? nearest : undefined;
}
