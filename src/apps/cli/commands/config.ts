import type { Command } from "commander";
import type { LoadedAgent, ResolvedValue } from "../../../client/index.ts";
import { hashDefinition } from "../../../client/runs/hash-definition.ts";
import { readAgents } from "../../../config/agent-file/read-agents.ts";
import { writeAgent } from "../../../config/agent-file/write-agent.ts";
import { findSecretVariables } from "../../../config/secret-variables.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { REDACTED } from "../../../platform/text/redact.ts";
import { SecretMatcher } from "../../../platform/text/secret-matcher.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import { BUILT_IN_STRATEGIES } from "../../../schema/context.ts";
import { AGENT_FILE_CHECKS, selectAgent } from "../agent-file.ts";
import { AgentFileError } from "../agent-file-error.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { stripControls } from "../palette.ts";
import { formatProblem, formatProblems } from "../problem-view.ts";
import { formatCount } from "../text.ts";
import { UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";

type CheckFlags = UntrustedFlag & { readonly strict?: boolean };
type ShowFlags = UntrustedFlag & {
  readonly agent?: string;
  readonly resolved?: boolean;
  readonly toml?: boolean;
  readonly yaml?: boolean;
};

export function configureConfigCommand(config: Command, runAction: RunAction): void {
  config.addHelpText(
    "after",
    `
Examples:
  $ holdfast config check agent.toml
  $ holdfast config show agent.toml --resolved`,
  );
  config
    .command("check")
    .description("List the errors and warnings of agent files")
    .argument("<file...>", "TOML, YAML or JSON")
    .option("--strict", "treat warnings as errors")
    .option(...UNTRUSTED)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast config check agent.toml
  $ holdfast config check agents/*.yaml --strict --json

Exit codes: 0 valid, 1 warnings with --strict, 2 invalid.`,
    )
    .action(async (files: string[], flags: CheckFlags) =>
      runAction((context) => checkFiles(context, files, flags)),
    );
  config
    .command("show")
    .description("Print the definitions of an agent file")
    .argument("<file>", "TOML, YAML or JSON")
    .option("--agent <name>", "print only this agent")
    .option(...UNTRUSTED)
    .option("--resolved", "print every value with its source")
    .option("--toml", "print an agent file in TOML, without default values")
    .option("--yaml", "print an agent file in YAML, without default values")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast config show agent.toml
  $ holdfast config show agents.toml --agent reviewer --resolved
  $ holdfast config show agents.toml --agent reviewer --yaml > reviewer.yaml
  $ holdfast config show agent.yaml --json`,
    )
    .action(async (file: string, flags: ShowFlags) =>
      runAction((context) => showAgents(context, file, flags)),
    );
}

async function checkFiles(
  context: Context,
  files: readonly string[],
  { strict, untrusted }: CheckFlags,
): Promise<number> {
  let code: number = EXIT.ok;
  for (const file of files) {
    const known = { untrusted, knownStrategies: BUILT_IN_STRATEGIES };
    const { agents, mode, problems } = readAgentFile(context, file, known);
    const valid = agents.length > 0;
    if (!valid) code = EXIT.usage;
    else if (strict === true && problems.length > 0 && code === EXIT.ok) code = EXIT.failed;
    if (context.json) {
      const agentFacts = agents.map(({ name, definition }) => ({ name, hash: hashDefinition(definition) }));
      context.printJson({
        type: "check",
        file,
        valid,
        agents: agentFacts,
        ...omitUndefined({ mode: mode?.type }),
        problems,
      });
      continue;
    }
    if (problems.length > 0) for (const line of formatProblems(problems, context.out)) context.print(line);
    if (valid)
      context.print(
        `${context.out.green("ok")}  ${file}: ${formatCount(agents.length, "agent")}: ${formatNames(agents)}${mode === undefined ? "" : ` · ${mode.type}`}`,
      );
  }
  return code;
}

function formatNames(agents: readonly LoadedAgent[]): string {
  return stripControls(agents.map(({ name }) => name).join(", "));
}

async function showAgents(context: Context, file: string, flags: ShowFlags): Promise<number> {
  const { agent, resolved, untrusted } = flags;
  const { agents, problems } = readAgentFile(context, file, { untrusted });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const selected = agent === undefined ? agents : [selectAgent(agents, file, agent)];
  // Any text of the file may contain the value of a variable that holds a secret.
  const secrets = findSecretVariables(context.streams.env).flatMap((variable) => variable.secrets);
  const matcher = new SecretMatcher(secrets);
  const maskSecrets = (text: string) => matcher.mask(text, REDACTED);
  for (const loaded of selected) {
    const { name, definition, resolvedValues } = loaded;
    const hash = hashDefinition(definition);
    if (context.json) {
      const output = {
        type: "agent",
        name,
        hash,
        definition,
        ...(resolved === true ? { values: resolvedValues } : {}),
      };
      context.printJson(JSON.parse(maskSecrets(JSON.stringify(output))));
    } else {
      context.print(context.out.bold(`# ${stripControls(name)} · ${hash.slice(0, 12)}`));
      for (const line of formatAgent(loaded, flags, context)) context.print(maskSecrets(line));
    }
  }
  return EXIT.ok;
}

function formatAgent(
  { definition, resolvedValues }: LoadedAgent,
  { resolved, toml, yaml }: ShowFlags,
  { out }: Context,
): readonly string[] {
  if (resolved === true) return formatResolvedValues(resolvedValues, out);
  if (toml === true) return [writeAgent(definition, "toml")];
  if (yaml === true) return [writeAgent(definition, "yaml")];
  return [JSON.stringify(definition, undefined, 2)];
}

type ReadChecks = { readonly knownStrategies?: readonly string[]; readonly untrusted?: boolean | undefined };

function readAgentFile(context: Context, file: string, checks: ReadChecks = {}) {
  return readAgents(file, { cwd: process.cwd(), env: context.streams.env, ...AGENT_FILE_CHECKS, ...checks });
}

/** Longer values are truncated; the definition has them in full. */
const MAX_VALUE_CHARS = 60;
/** Most values fit; longer ones move the next column of their line. */
const MAX_COLUMN_CHARS = 44;

function formatResolvedValues(values: readonly ResolvedValue[], paint: Context["out"]): readonly string[] {
  const rows = values.map(
    (value) => [value.path, formatShortValue(value.value), formatSource(value)] as const,
  );
  const widths = [0, 1].map((column) =>
    Math.min(MAX_COLUMN_CHARS, Math.max(0, ...rows.map((row) => row[column]!.length))),
  );
  return rows.map(
    ([path, value, from]) => `${path.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${paint.dim(from)}`,
  );
}

function formatShortValue(value: unknown): string {
  return truncateText(stripControls(JSON.stringify(value) ?? ""), MAX_VALUE_CHARS);
}

function formatSource({ from, field, suppliedBy, read: file, environment, note }: ResolvedValue): string {
  const parts = [
    from,
    field,
    suppliedBy === undefined ? undefined : `by ${suppliedBy}`,
    file === undefined ? undefined : `read from ${file}`,
    environment === undefined ? undefined : `with ${environment.map((name) => `$${name}`).join(", ")}`,
    note,
  ];
  return stripControls(parts.filter((part) => part !== undefined).join(" · "));
}
