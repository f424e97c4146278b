// Writes src/config/catalogue/data: the current models, from the price list of @pydantic/genai-prices (MIT)
// and from catalogue-facts.mjs. With --check, it reports whether the files are up to date.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProvider } from "@pydantic/genai-prices";
import { AS_OF, FACTS, getAbilities, getThinking, PRICES, VENDORS } from "./catalogue-facts.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "src", "config", "catalogue", "data");
const { version } = JSON.parse(
  readFileSync(join(root, "node_modules", PRICES.package, "package.json"), "utf8"),
);
if (version !== PRICES.version) {
  fail(`${PRICES.package} is ${version}; first write its version and date into scripts/catalogue-facts.mjs`);
}

const check = process.argv.includes("--check");
// A temporary file next to the data, so that the same formatting rules apply.
const folder = check ? mkdtempSync(join(target, "..", "check-")) : target;
mkdirSync(folder, { recursive: true });
try {
  for (const vendor of VENDORS) writeFileSync(join(folder, `${vendor.provider}.ts`), buildFile(vendor));
  format(folder);
  const stale = VENDORS.filter(({ provider }) => readText(folder, provider) !== readText(target, provider));
  if (stale.length > 0) fail(`not up to date: ${stale.map(({ provider }) => provider).join(", ")}`);
} finally {
  if (check) rmSync(folder, { recursive: true });
}

function readText(folder, provider) {
  return readFileSync(join(folder, `${provider}.ts`), "utf8");
}

function buildFile(vendor) {
  const rows = buildRows(vendor).map((row) => `  ${JSON.stringify(row)},`);
  return `// Written by scripts/catalogue.mjs. Prices of ${AS_OF}, from ${PRICES.package} ${PRICES.version}.
import type { Row } from "../catalogue-row.ts";

export const ${vendor.provider.toUpperCase()}: readonly Row[] = [
${rows.join("\n")}
];
`;
}

function buildRows({ provider, list, current, other }) {
  const { models } = findProvider({ providerId: list });
  const listed = models
    .filter(({ id, deprecated }) => !deprecated && current.test(id) && !findDifferingRow(id, other, provider))
    .map(({ id, context_window: window, prices }) =>
      buildRow(id.replace(/^regional\./, ""), window, getRates(prices)),
    );
  return listed.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Bedrock's ids end in `:0`. */
function findDifferingRow(id, other, provider) {
  return other.test(provider === "bedrock" ? id.replace(/:\d+$/, "") : id);
}

function buildRow(id, window, { rates, dearer }) {
  const fact = FACTS.find((one) => one.id.test(id));
  const abilities = [getThinking(id), ...getAbilities(id)].join(" ");
  const whole = [id, window ?? fact?.window ?? null, fact?.output ?? null, ...rates, abilities];
  return dearer === undefined ? whole : [...whole, dearer];
}

/** Cached tokens without a separate price cost as much as other tokens. */
function getRates(prices) {
  const now = Array.isArray(prices) ? getLatestPrices(prices) : prices;
  const rates = getFourRates((key) => (typeof now[key] === "object" ? now[key].base : now[key]));
  const tiers = Object.values(now).filter((price) => typeof price === "object");
  if (tiers.length === 0) return { rates };
  const starts = new Set(tiers.flatMap((price) => price.tiers.map(({ start }) => start)));
  if (starts.size > 1)
    fail(`prices change at several sizes, but the catalogue supports only one: ${[...starts]}`);
  const dearer = getFourRates((key) => (typeof now[key] === "object" ? now[key].tiers[0].price : now[key]));
  return { rates, dearer: [Math.round([...starts][0] / 1000) * 1000, ...dearer] };
}

function getFourRates(price) {
  const input = price("input_mtok") ?? 0;
  const [read, write] = [price("cache_read_mtok"), price("cache_write_mtok")];
  return [input, price("output_mtok") ?? 0, read ?? input, write ?? input];
}

function getLatestPrices(prices) {
  const begun = prices.filter(({ constraint }) => {
    if (constraint === undefined) return true;
    return constraint.type === "start_date" && constraint.start_date <= AS_OF;
  });
  return (begun.at(-1) ?? prices[0]).prices;
}

function format(folder) {
  const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
  const { status, stderr } = spawnSync(process.execPath, [biome, "format", "--write", folder], { cwd: root });
  if (status !== 0) fail(String(stderr));
}

function fail(reason) {
  console.error(`catalogue: ${reason}`);
  process.exit(1);
}
