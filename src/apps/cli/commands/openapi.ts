import type { Command } from "commander";
import { wanted } from "../../../schema/check.ts";
import { OpenApiSettings } from "../../../schema/openapi.ts";
import { type Inspected, inspectOpenApi } from "../../../tools/sources/openapi/inspect.ts";
import { OutsideError } from "../../../tools/sources/source.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../palette.ts";
import { table } from "../table.ts";
import { UsageError } from "../usage-error.ts";
import { count } from "../words.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type InspectFlags = {
  readonly id?: string[];
  readonly tag?: string[];
  readonly path?: string;
  readonly prefix?: string;
  readonly baseUrl?: string;
  readonly allowRemoteRefs?: boolean;
  readonly strict?: boolean;
};

export function openapiCommand(program: Command, act: Act): void {
  const openapi = program
    .command("openapi")
    .description("Look at APIs as agents see them")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast openapi inspect petstore.yaml
  $ holdfast openapi inspect https://api.example.com/openapi.json --tag repos`,
    );
  openapi
    .command("inspect")
    .description("List the operations of an OpenAPI document as tools, and what is left out and why")
    .argument("<spec>", "a file, or an http(s) address")
    .option("--id <ids...>", "only these operations")
    .option("--tag <tags...>", "only operations with one of these tags")
    .option("--path <prefix>", "only operations whose path begins so")
    .option("--prefix <name>", "tools are called NAME__OPERATION")
    .option("--base-url <url>", "where requests would go, in place of the document's servers")
    .option("--allow-remote-refs", "read the documents that it refers to")
    .option("--strict", "a warning is a failure")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast openapi inspect petstore.yaml
  $ holdfast openapi inspect https://api.example.com/openapi.json --tag repos issues
  $ holdfast openapi inspect api.yaml --path /v1/users --prefix users --json | jq -r .name

With --json: a line {"type":"tool",…} for each tool, {"type":"left-out",…} for each operation that is none, and
{"type":"api",…} with counts and warnings at the end.

Exit codes: 0 readable, 1 warnings with --strict, 2 not readable, or no document of OpenAPI 3.0 or 3.1.`,
    )
    .action(async (spec: string, flags: InspectFlags) => act((context) => inspect(context, spec, flags)));
}

async function inspect(context: Context, spec: string, flags: InspectFlags): Promise<number> {
  const found = await inspected(settingsOf(spec, flags));
  if (context.json) printJson(context, found);
  else printTables(context, found);
  return flags.strict === true && found.warnings.length > 0 ? EXIT.failed : EXIT.ok;
}

async function inspected(settings: OpenApiSettings): Promise<Inspected> {
  try {
    return await inspectOpenApi(settings, process.cwd());
  } catch (error) {
    if (error instanceof OutsideError) throw new UsageError(error.message);
    throw error;
  }
}

function settingsOf(spec: string, flags: InspectFlags): OpenApiSettings {
  const { id, tag, path, prefix, baseUrl, allowRemoteRefs } = flags;
  const operations = {
    ...(id === undefined ? {} : { ids: id }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(path === undefined ? {} : { pathPrefix: path }),
  };
  const parsed = OpenApiSettings.safeParse(
    {
      name: "inspect",
      spec,
      ...(Object.keys(operations).length === 0 ? {} : { operations }),
      ...(prefix === undefined ? {} : { prefix }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      allowRemoteRefs: allowRemoteRefs === true,
    },
    { error: wanted },
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  switch (issue?.path[0]) {
    case "baseUrl":
      throw new UsageError(`--base-url "${baseUrl}" is not a URL such as https://HOST/v1`);
    case "prefix":
      throw new UsageError(`--prefix "${prefix}" must be 1 to 40 letters, digits, - or _`);
    default:
      throw new UsageError(`bad arguments: ${issue?.path.join(".")}: ${issue?.message}`);
  }
}

function printJson(context: Context, { title, version, tools, leftOut, warnings }: Inspected): void {
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
  for (const { chosen, ...operation } of leftOut) {
    context.printJson({ type: "left-out", ...operation, byFilter: chosen === true });
  }
  context.printJson({ type: "api", title, version, tools: tools.length, leftOut: leftOut.length, warnings });
}

function printTables(context: Context, { title, version, tools, leftOut, warnings }: Inspected): void {
  const { out } = context;
  context.print(out.bold(printable(`${title} ${version}`.trim())));
  const bases = [...new Set(tools.map(({ data }) => (data as { base: string }).base))];
  for (const base of bases) context.print(out.dim(printable(base)));
  const rows = tools.map(({ name, replay, data }) => {
    const { method, path } = data as { method: string; path: string };
    return [name, replay, method.toUpperCase(), printable(path)];
  });
  for (const line of table(rows)) context.print(line);
  const others = leftOut.filter(({ chosen }) => chosen !== true);
  if (others.length > 0) {
    context.print("");
    context.print(out.bold("left out"));
    const lines = others.map(({ method, path, id, why }) =>
      [id ?? "", method.toUpperCase(), path, why].map((cell) => printable(cell)),
    );
    for (const line of table(lines)) context.print(line);
  }
  const byFilter = leftOut.length - others.length;
  context.print("");
  context.print(
    `${count(tools.length, "tool")}, ${others.length} left out${byFilter === 0 ? "" : `, ${byFilter} by the filter`}`,
  );
  for (const warning of warnings) context.tell(`${context.err.yellow("warning")}: ${printable(warning)}`);
}
