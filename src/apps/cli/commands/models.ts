import { type Command, Option } from "commander";
import type { Catalogue } from "../../../config/catalogue/catalogue.ts";
import type { CatalogueEntry } from "../../../config/catalogue/catalogue-entry.ts";
import { CatalogueError, getModelsFile, readCatalogue } from "../../../config/catalogue/user-file.ts";
import { findNearestName } from "../../../platform/text/nearest-name.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { formatTable } from "../table.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly provider?: string };

export function configureModelsCommand(command: Command, runAction: RunAction): void {
  command
    .argument("[pattern]", "a part of the name; * matches any text")
    .addOption(new Option("--provider <name>", "only models of this provider"))
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast models
  $ holdfast models sonnet --provider anthropic
  $ holdfast models 'gpt-*-sol' --json

IN, OUT, READ and WRITE are dollars per million tokens; READ and WRITE are the prices of the vendor's cache.
You can also use a model that is not listed. docs/models.md explains which facts Holdfast assumes for it, and how to
declare them in ~/.holdfast/models.toml (or the file that HOLDFAST_MODELS specifies).

Exit codes: 0 at least one model matches, 1 none does.`,
    )
    .action(async (pattern: string | undefined, flags: Flags) =>
      runAction(async (context) => listModels(context, pattern, flags)),
    );
}

function listModels(context: Context, pattern: string | undefined, { provider }: Flags): number {
  const catalogue = readModelCatalogue(context.streams.env);
  const entries = catalogue.entries();
  const providers = [...new Set(entries.map((entry) => entry.provider))];
  if (provider !== undefined && !providers.includes(provider)) {
    const meant = findNearestName(provider, providers);
    const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
    throw new UsageError(
      `No model of the provider "${provider}" is known.${hint} Known providers: ${providers.join(", ")}.`,
    );
  }
  const fits = createMatcher(pattern);
  const matches = entries.filter(
    (entry) => fits(entry.name) && (provider ?? entry.provider) === entry.provider,
  );
  if (context.json) for (const entry of matches) context.printJson({ type: "model", ...entry });
  else if (matches.length > 0) for (const line of formatModels(matches)) context.print(line);
  if (matches.length > 0) return EXIT.ok;
  context.report(
    `No known model matches "${pattern}". You can use an unknown model, or add it to ${getModelsFile(context.streams.env)}.`,
  );
  return EXIT.failed;
}

export function readModelCatalogue(env: NodeJS.ProcessEnv): Catalogue {
  try {
    return readCatalogue(env);
  } catch (error) {
    if (error instanceof CatalogueError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function createMatcher(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const expression = new RegExp(parts.join(".*"), "i");
  return (name) => expression.test(name);
}

const HEAD = ["MODEL", "CONTEXT", "ANSWER", "IN", "OUT", "READ", "WRITE", "THINKING", "TAKES", "AS OF"];

function formatModels(entries: readonly CatalogueEntry[]): readonly string[] {
  const dearer = entries.some(({ cost }) => cost?.dearer !== undefined);
  return [
    ...formatTable([HEAD, ...entries.map(formatModel)]),
    ...(dearer
      ? [
          "",
          "* For requests up to the size in cost.dearer (see --json); longer requests have the prices in cost.dearer.",
        ]
      : []),
  ];
}

function formatModel(entry: CatalogueEntry): readonly string[] {
  const { name, contextWindow, maxTokens, cost, thinking, date } = entry;
  const formatPrice = (rate: number | undefined) => (rate === undefined ? "?" : String(rate));
  const takes = [
    ...(entry.tools === true ? ["tools"] : []),
    ...(entry.images === true ? ["images"] : []),
    ...(entry.pdf === true ? ["pdf"] : []),
    ...(entry.structuredOutput === true ? ["schema"] : []),
  ];
  return [
    name,
    formatTokens(contextWindow),
    formatTokens(maxTokens),
    `${formatPrice(cost?.input)}${cost?.dearer === undefined ? "" : "*"}`,
    formatPrice(cost?.output),
    formatPrice(cost?.cacheRead),
    formatPrice(cost?.cacheWrite),
    thinking ?? "?",
    takes.join(" "),
    date,
  ];
}

function formatTokens(count: number | undefined): string {
  return count === undefined ? "?" : count.toLocaleString("en");
}
