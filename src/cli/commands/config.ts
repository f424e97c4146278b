import type { Command } from "commander";
import { definitionHash, type LoadedAgent, type ResolvedValue, readAgents } from "../../client/index.ts";
import { writeAgent } from "../../config/agent-file/write.ts";
import { secretVariables } from "../../config/secret-variables.ts";
import { REDACTED } from "../../core/redact.ts";
import { SecretMatcher } from "../../core/secret-matcher.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import { AgentFileError, chosenAgent, KNOWN } from "../agent-file.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../palette.ts";
import { problemsView, problemView } from "../problem-view.ts";
import { UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { count } from "../words.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type CheckFlags = UntrustedFlag & { readonly strict?: boolean };
type ShowFlags = UntrustedFlag & {
  readonly agent?: string;
  readonly resolved?: boolean;
  readonly toml?: boolean;
  readonly yaml?: boolean;
};

export function configCommand(program: Command, act: Act): void {
  const config = program
    .command("config")
    .description("Check agent files, and show what they mean")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast config check agent.toml
  $ holdfast config show agent.toml --resolved`,
    );
  config
    .command("check")
    .description("Say everything that is wrong or doubtful in agent files")
    .argument("<file...>", "TOML, YAML or JSON")
    .option("--strict", "a warning is a failure")
    .option(...UNTRUSTED)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast config check agent.toml
  $ holdfast config check agents/*.yaml --strict --json

Exit codes: 0 valid, 1 warnings with --strict, 2 not valid.`,
    )
    .action(async (files: string[], flags: CheckFlags) => act((context) => check(context, files, flags)));
  config
    .command("show")
    .description("Print the definitions that an agent file means")
    .argument("<file>", "TOML, YAML or JSON")
    .option("--agent <name>", "one agent of several")
    .option(...UNTRUSTED)
    .option("--resolved", "every value, and where it comes from")
    .option("--toml", "as a file of one agent, without what is by default")
    .option("--yaml", "the same as YAML")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast config show agent.toml
  $ holdfast config show agents.toml --agent reviewer --resolved
  $ holdfast config show agents.toml --agent reviewer --yaml > reviewer.yaml
  $ holdfast config show agent.yaml --json`,
    )
    .action(async (file: string, flags: ShowFlags) => act((context) => show(context, file, flags)));
}

async function check(
  context: Context,
  files: readonly string[],
  { strict, untrusted }: CheckFlags,
): Promise<number> {
  let code: number = EXIT.ok;
  for (const file of files) {
    const known = { untrusted, knownStrategies: BUILT_IN_STRATEGIES };
    const { agents, mode, problems } = read(context, file, known);
    const valid = agents.length > 0;
    if (!valid) code = EXIT.usage;
    else if (strict === true && problems.length > 0 && code === EXIT.ok) code = EXIT.failed;
    if (context.json) {
      const told = agents.map(({ name, definition }) => ({ name, hash: definitionHash(definition) }));
      context.printJson({
        type: "check",
        file,
        valid,
        agents: told,
        ...(mode === undefined ? {} : { mode: mode.type }),
        problems,
      });
      continue;
    }
    if (problems.length > 0) for (const line of problemsView(problems, context.out)) context.print(line);
    if (valid)
      context.print(
        `${context.out.green("ok")}  ${file}: ${count(agents.length, "agent")}: ${names(agents)}${mode === undefined ? "" : ` · ${mode.type}`}`,
      );
  }
  return code;
}

function names(agents: readonly LoadedAgent[]): string {
  return printable(agents.map(({ name }) => name).join(", "));
}

async function show(context: Context, file: string, flags: ShowFlags): Promise<number> {
  const { agent, resolved, untrusted } = flags;
  const { agents, problems } = read(context, file, { untrusted });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  const shown = agent === undefined ? agents : [chosenAgent(agents, file, agent)];
  // A variable that holds a secret may have been put into any text of the file.
  const secrets = secretVariables(context.streams.env).flatMap((variable) => variable.secrets);
  const matcher = new SecretMatcher(secrets);
  const mask = (text: string) => matcher.mask(text, REDACTED);
  for (const loaded of shown) {
    const { name, definition, values } = loaded;
    const hash = definitionHash(definition);
    if (context.json) {
      const found = { type: "agent", name, hash, definition, ...(resolved === true ? { values } : {}) };
      context.printJson(JSON.parse(mask(JSON.stringify(found))));
    } else {
      context.print(context.out.bold(`# ${printable(name)} · ${hash.slice(0, 12)}`));
      for (const line of linesOf(loaded, flags, context)) context.print(mask(line));
    }
  }
  return EXIT.ok;
}

function linesOf(
  { definition, values }: LoadedAgent,
  { resolved, toml, yaml }: ShowFlags,
  { out }: Context,
): readonly string[] {
  if (resolved === true) return resolvedLines(values, out);
  if (toml === true) return [writeAgent(definition, "toml")];
  if (yaml === true) return [writeAgent(definition, "yaml")];
  return [JSON.stringify(definition, undefined, 2)];
}

type Known = { readonly knownStrategies?: readonly string[]; readonly untrusted?: boolean | undefined };

function read(context: Context, file: string, known: Known = {}) {
  return readAgents(file, { cwd: process.cwd(), env: context.streams.env, ...KNOWN, ...known });
}

/** Longer values are cut: the whole is in the definition. */
const MAX_VALUE_CHARS = 60;
/** Values of most lines fit; longer ones push what is behind them. */
const MAX_COLUMN_CHARS = 44;

function resolvedLines(values: readonly ResolvedValue[], paint: Context["out"]): readonly string[] {
  const rows = values.map((value) => [value.path, shortValue(value.value), whence(value)] as const);
  const widths = [0, 1].map((column) =>
    Math.min(MAX_COLUMN_CHARS, Math.max(0, ...rows.map((row) => row[column]!.length))),
  );
  return rows.map(
    ([path, value, from]) => `${path.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${paint.dim(from)}`,
  );
}

function shortValue(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? "");
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS - 1)}…`;
}

function whence({ from, field, via, read: file, environment, note }: ResolvedValue): string {
  const parts = [
    from,
    field,
    via === undefined ? undefined : `by ${via}`,
    file === undefined ? undefined : `read from ${file}`,
    environment === undefined ? undefined : `with ${environment.map((name) => `$${name}`).join(", ")}`,
    note,
  ];
  return printable(parts.filter((part) => part !== undefined).join(" · "));
}
