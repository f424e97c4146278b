import type { InspectedTool, ServerInspection } from "../../tools/sources/mcp/inspect-server.ts";
import { type Palette, stripControls } from "./palette.ts";
import { formatTable } from "./table.ts";
import { shortenText } from "./text.ts";

const DESCRIPTION_CHARS = 70;
const HASH_CHARS = 12;

type UsableServer = Extract<ServerInspection, { ok: true }>;

/** Formats the tools, prompts and resources of a server for a terminal. */
export function formatServer(name: string, inspection: UsableServer, paint: Palette): readonly string[] {
  const { serverInfo, tools, prompts, resources, templates, warnings } = inspection;
  const rows = tools.map((tool) => [
    tool.name,
    tool.replay,
    tool.confirm === true ? "yes" : "",
    formatHints(tool),
    tool.hash.slice(0, HASH_CHARS),
    shortenText(toOneLine(tool.description), DESCRIPTION_CHARS),
  ]);
  const [head, ...lines] = formatTable([
    ["TOOL", "REPLAY", "CONFIRM", "IT SAYS", "HASH", "DESCRIPTION"],
    ...rows,
  ]);
  return [
    `${paint.bold(name)}: ${stripControls(serverInfo.name)} ${stripControls(serverInfo.version)}, protocol ${serverInfo.protocolVersion}`,
    ...(tools.length === 0 ? ["no tools"] : [paint.dim(head ?? ""), ...lines]),
    ...formatNames("prompts", prompts),
    ...formatNames("resources", resources),
    ...formatNames("resource templates", templates),
    ...warnings.map((warning) => paint.yellow(`warning: ${stripControls(warning)}`)),
  ];
}

/** Formats whether a server is usable, with its warnings or with the failure and advice. */
export function formatServerCheck(
  name: string,
  inspection: ServerInspection,
  paint: Palette,
): readonly string[] {
  if (!inspection.ok) {
    return [
      `${paint.red("fail")}  ${name}  ${stripControls(inspection.message)}`,
      paint.dim(`      ${" ".repeat(name.length)}→ ${formatAdvice(inspection.fault)}`),
    ];
  }
  const { serverInfo, tools, startMs, warnings } = inspection;
  const classes = ["pure", "idempotent", "unsafe"]
    .map((replay) => [replay, tools.filter((tool) => tool.replay === replay).length] as const)
    .filter(([, count]) => count > 0)
    .map(([replay, count]) => `${count} ${replay}`);
  const count = `${tools.length} tools${classes.length === 0 ? "" : ` (${classes.join(", ")})`}`;
  return [
    `${paint.green("ok  ")}  ${name}  ${stripControls(serverInfo.name)} ${stripControls(serverInfo.version)}, protocol ${serverInfo.protocolVersion}, ready in ${startMs} ms, ${count}`,
    ...warnings.map((warning) => `${paint.yellow("warn")}  ${name}  ${stripControls(warning)}`),
  ];
}

function formatAdvice(fault: Extract<ServerInspection, { ok: false }>["fault"]): string {
  switch (fault) {
    case "definition":
      return "set the variable where the worker runs, and here for this command";
    case "auth":
      return "check the credentials: `auth` and `headers` of the definition, and the variables that they use";
    case "transport":
      return "check the address, and that the server runs";
    case "timed-out":
      return "set a longer start_timeout_ms in the definition, or a longer --timeout for this command";
    case "io":
    case "closed":
      return "start the command yourself: it must speak MCP over its standard input and output, and print nothing else there; here it ran in the sandbox of the agent, unless that is off";
    default:
      return "the server violates the protocol: its own log may contain the reason";
  }
}

function formatHints({ hints }: InspectedTool): string {
  const hintTexts = [
    hints.readOnly === true ? "reads" : "",
    hints.idempotent === true ? "repeatable" : "",
    hints.destructive === true ? "destroys" : "",
  ];
  return hintTexts.filter((word) => word !== "").join(", ");
}

function formatNames(what: string, items: readonly { readonly name: string }[]): readonly string[] {
  if (items.length === 0) return [];
  const names = items.map(({ name }) => stripControls(name));
  return [`${items.length} ${what}: ${shortenText(names.join(", "), 200)}`];
}

function toOneLine(text: string): string {
  return stripControls(text).replace(/\s+/g, " ").trim();
}
