import type { Look, SeenTool } from "../../tools/sources/mcp/look.ts";
import { type Palette, printable } from "./palette.ts";
import { table } from "./table.ts";
import { shortened } from "./words.ts";

const DESCRIPTION_CHARS = 70;
const HASH_CHARS = 12;

type Seen = Extract<Look, { ok: true }>;

/** What a server offers, for a person at a terminal. */
export function offerLines(name: string, look: Seen, paint: Palette): readonly string[] {
  const { facts, tools, prompts, resources, templates, warnings } = look;
  const rows = tools.map((tool) => [
    tool.name,
    tool.replay,
    tool.confirm === true ? "asks" : "",
    hintsOf(tool),
    tool.hash.slice(0, HASH_CHARS),
    shortened(oneLine(tool.description), DESCRIPTION_CHARS),
  ]);
  const [head, ...lines] = table([["TOOL", "REPLAY", "CONFIRM", "IT SAYS", "HASH", "DESCRIPTION"], ...rows]);
  return [
    `${paint.bold(name)}: ${printable(facts.name)} ${printable(facts.version)}, protocol ${facts.protocolVersion}`,
    ...(tools.length === 0 ? ["no tools"] : [paint.dim(head ?? ""), ...lines]),
    ...named("prompts", prompts),
    ...named("resources", resources),
    ...named("resource templates", templates),
    ...warnings.map((warning) => paint.yellow(`warning: ${printable(warning)}`)),
  ];
}

/** Whether a server can be used, a line for each thing that was tried. */
export function checkLines(name: string, look: Look, paint: Palette): readonly string[] {
  if (!look.ok) {
    return [
      `${paint.red("fail")}  ${name}  ${printable(look.message)}`,
      paint.dim(`      ${" ".repeat(name.length)}→ ${adviceOn(look.fault)}`),
    ];
  }
  const { facts, tools, startMs, warnings } = look;
  const classes = ["pure", "idempotent", "unsafe"]
    .map((replay) => [replay, tools.filter((tool) => tool.replay === replay).length] as const)
    .filter(([, count]) => count > 0)
    .map(([replay, count]) => `${count} ${replay}`);
  const count = `${tools.length} tools${classes.length === 0 ? "" : ` (${classes.join(", ")})`}`;
  return [
    `${paint.green("ok  ")}  ${name}  ${printable(facts.name)} ${printable(facts.version)}, protocol ${facts.protocolVersion}, ready in ${startMs} ms, ${count}`,
    ...warnings.map((warning) => `${paint.yellow("warn")}  ${name}  ${printable(warning)}`),
  ];
}

function adviceOn(fault: Extract<Look, { ok: false }>["fault"]): string {
  switch (fault) {
    case "definition":
      return "set the variable where the worker runs, and here for this command";
    case "auth":
      return "check the credentials: `auth` and `headers` of the definition, and the variables that they name";
    case "transport":
      return "check the address, and that the server runs";
    case "timed-out":
      return "a longer start_timeout_ms in the definition, or --timeout here";
    case "io":
    case "closed":
      return "start the command by hand: it must speak MCP over its standard input and output, and print nothing else there";
    default:
      return "the server breaks the protocol: its own log may say why";
  }
}

function hintsOf({ hints }: SeenTool): string {
  const said = [
    hints.readOnly === true ? "reads" : "",
    hints.idempotent === true ? "repeatable" : "",
    hints.destructive === true ? "destroys" : "",
  ];
  return said.filter((word) => word !== "").join(", ");
}

function named(what: string, items: readonly { readonly name: string }[]): readonly string[] {
  if (items.length === 0) return [];
  const names = items.map(({ name }) => printable(name));
  return [`${items.length} ${what}: ${shortened(names.join(", "), 200)}`];
}

function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, " ").trim();
}
