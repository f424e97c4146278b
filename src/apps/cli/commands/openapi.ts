import type { Command } from "commander";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { formatExpected } from "../../../schema/check.ts";
import { OpenApiSettings } from "../../../schema/openapi.ts";
import { type ApiInspection, inspectOpenApi } from "../../../tools/sources/openapi/inspect-open-api.ts";
import { ToolSourceError } from "../../../tools/sources/tool-source.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { stripControls } from "../palette.ts";
import { formatTable } from "../table.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type InspectFlags = {
  readonly id?: string[];
  readonly tag?: string[];
  readonly path?: string;
  readonly prefix?: string;
  readonly baseUrl?: string;
  readonly allowRemoteRefs?: boolean;
  readonly strict?: boolean;
};

export function configureOpenapiCommand(openapi: Command, runAction: RunAction): void {
  openapi.addHelpText(
    "after",
    `
Examples:
  $ holdfast openapi inspect petstore.yaml
  $ holdfast openapi inspect https://api.example.com/openapi.json --tag repos`,
  );
  openapi
    .command("inspect")
    .description(
      "List the operations of an OpenAPI document as tools, and the skipped operations with the reason",
    )
    .argument("<spec>", "a file, or an http(s) address")
    .option("--id <ids...>", "only these operations")
    .option("--tag <tags...>", "only operations with one of these tags")
    .option("--path <prefix>", "only operations whose path begins with this prefix")
    .option("--prefix <name>", "name the tools NAME__OPERATION")
    .option("--base-url <url>", "the address of requests, instead of the document's servers")
    .option("--allow-remote-refs", "also read the remote documents that it references")
    .option("--strict", "treat warnings as errors")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast openapi inspect petstore.yaml
  $ holdfast openapi inspect https://api.example.com/openapi.json --tag repos issues
  $ holdfast openapi inspect api.yaml --path /v1/users --prefix users --json | jq -r .name

With --json: a line {"type":"tool",…} for each tool, {"type":"skipped",…} for each skipped operation, and
{"type":"api",…} with counts and warnings at the end.

Exit codes: 0 readable, 1 warnings with --strict, 2 not readable, or not an OpenAPI 3.0 or 3.1 document.`,
    )
    .action(async (spec: string, flags: InspectFlags) =>
      runAction((context) => inspectSpec(context, spec, flags)),
    );
}

async function inspectSpec(context: Context, spec: string, flags: InspectFlags): Promise<number> {
  const inspection = await runInspection(buildSettings(spec, flags));
  if (context.json) printJson(context, inspection);
  else printTables(context, inspection);
  return flags.strict === true && inspection.warnings.length > 0 ? EXIT.failed : EXIT.ok;
}

async function runInspection(settings: OpenApiSettings): Promise<ApiInspection> {
  try {
    return await inspectOpenApi(settings, process.cwd());
  } catch (error) {
    if (error instanceof ToolSourceError) throw new UsageError(error.message);
    throw error;
  }
}

function buildSettings(spec: string, flags: InspectFlags): OpenApiSettings {
  const { id, tag, path, prefix, baseUrl, allowRemoteRefs } = flags;
  const operations = {
    ...omitUndefined({ ids: id, tags: tag, pathPrefix: path }),
  };
  const parsed = OpenApiSettings.safeParse(
    {
      name: "inspect",
      spec,
      ...(Object.keys(operations).length === 0 ? {} : { operations }),
      ...omitUndefined({ prefix, baseUrl }),
      allowRemoteRefs: allowRemoteRefs === true,
    },
    { error: formatExpected },
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  switch (issue?.path[0]) {
    case "baseUrl":
      throw new UsageError(`--base-url "${baseUrl}" is not a URL such as https://HOST/v1`);
    case "prefix":
      throw new UsageError(`--prefix "${prefix}" must be 1 to 40 letters, digits, - or _`);
    default:
      throw new UsageError(`Invalid arguments: ${issue?.path.join(".")}: ${issue?.message}`);
  }
}

function printJson(context: Context, { title, version, tools, skipped, warnings }: ApiInspection): void {
  for (const { name, remote, replay, description, parameters, data } of tools) {
    const { method, base, path } = data as { method: string; base: string; path: string };
    context.printJson({
      type: "tool",
      name,
      operation: remote,
      method,
      base,
      path,
      replay,
      description,
      parameters,
    });
  }
  for (const { isSelected, ...operation } of skipped) {
    context.printJson({ type: "skipped", ...operation, byFilter: isSelected === true });
  }
  context.printJson({ type: "api", title, version, tools: tools.length, skipped: skipped.length, warnings });
}

function printTables(context: Context, { title, version, tools, skipped, warnings }: ApiInspection): void {
  const { out } = context;
  context.print(out.bold(stripControls(`${title} ${version}`.trim())));
  const bases = [...new Set(tools.map(({ data }) => (data as { base: string }).base))];
  for (const base of bases) context.print(out.dim(stripControls(base)));
  const rows = tools.map(({ name, replay, data }) => {
    const { method, path } = data as { method: string; path: string };
    return [name, replay, method.toUpperCase(), stripControls(path)];
  });
  for (const line of formatTable(rows)) context.print(line);
  const others = skipped.filter(({ isSelected }) => isSelected !== true);
  if (others.length > 0) {
    context.print("");
    context.print(out.bold("skipped"));
    const lines = others.map(({ method, path, id, reason }) =>
      [id ?? "", method.toUpperCase(), path, reason].map((cell) => stripControls(cell)),
    );
    for (const line of formatTable(lines)) context.print(line);
  }
  const byFilter = skipped.length - others.length;
  context.print("");
  context.print(
    `${formatCount(tools.length, "tool")}, ${others.length} skipped${byFilter === 0 ? "" : `, ${byFilter} excluded by the filter`}`,
  );
  for (const warning of warnings)
    context.report(`${context.err.yellow("warning")}: ${stripControls(warning)}`);
}
