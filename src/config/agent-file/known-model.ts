import { Catalogue } from "../catalogue/catalogue.ts";
import type { CatalogueEntry } from "../catalogue/entry.ts";
import { knownOf } from "../catalogue/entry.ts";
import type { Path } from "../source/node.ts";
import type { Draft, Layer } from "./draft.ts";
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MODEL } from "./fields/model.ts";
import { at } from "./table.ts";
import type { Workbench } from "./workbench.ts";

/** Puts in what the catalogue knows and the file does not say. @returns What the catalogue knows of the model. */
export function takeKnown(bench: Workbench, model: Draft): CatalogueEntry | undefined {
  const catalogue = bench.surroundings.catalogue ?? new Catalogue();
  const { id, provider, cost: said } = model.value as Record<string, unknown>;
  const entry = catalogue.find(String(provider), String(id));
  if (entry === undefined) return undefined;
  const origin = {
    type: "default" as const,
    note: `of the catalogue: ${entry.source}${entry.date === "" ? "" : `, ${entry.date}`}`,
  };
  const { cost: { dearer = {}, ...cost } = {}, ...known } = knownOf(entry);
  for (const [name, value] of Object.entries(known)) {
    if (model.get([name]) === undefined) model.set([name], value, origin);
  }
  if (said !== undefined) return entry;
  for (const [name, value] of Object.entries(cost)) model.set(["cost", name], value, origin);
  for (const [name, value] of Object.entries(dearer)) model.set(["cost", "dearer", name], value, origin);
  return entry;
}

const ASSUMED = `a context of ${DEFAULT_CONTEXT_WINDOW.toLocaleString("en")} tokens and answers of up to 8,192 are assumed, and its prices are unknown, where the file does not say`;

/** Nothing is known of the model, and the file does not say it either. */
export function doubtUnknown(bench: Workbench, model: Draft, { value, path }: Layer, place: Path): void {
  const { id, provider } = model.value as Record<string, string>;
  const missing = ["context_window", "max_tokens"].filter((key) => at(value, [key]) === undefined);
  if (missing.length === 0 || id === DEFAULT_MODEL || provider === "local") return;
  // The doubt about the protocol is said already, and is the greater one.
  if (at(value, ["api"]) === undefined && !/claude/i.test(id ?? "")) return;
  bench.doubt(
    at(bench.source.value, place) === undefined ? path : place,
    `${provider}/${id} is not in the catalogue: ${ASSUMED}; say ${missing.join(" and ")} if that is not so`,
    { expected: missing.join(", ") },
  );
}
