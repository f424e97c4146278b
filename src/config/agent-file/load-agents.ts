import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { formatExpected } from "../../schema/check.ts";
import { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";
import { type Problem, sortProblems } from "../problem.ts";
import { readSource } from "../source/source-file.ts";
import type { SourceFormat } from "../source/source-format.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import { AgentFileLoader, type LoadEnvironment } from "./agent-file-loader.ts";
import { findForbiddenReferences, findForbiddenSandboxes } from "./check-untrusted.ts";
import { type AgentDraft, composeAgents } from "./compose-agents.ts";
import { addDefinitionWarnings } from "./definition-warnings.ts";
import { findOriginAround } from "./draft.ts";
import { listResolvedValues, type ResolvedValue } from "./list-resolved-values.ts";
import { resolveMode } from "./resolve-mode.ts";
import { warnUnusedRules } from "./rule-warnings.ts";
import { toFilePath } from "./table-paths.ts";
import { isSecretField, validateFile } from "./validate-file.ts";

/** One agent of a file. */
export type LoadedAgent = {
  /** The agent's name in the file. */
  readonly name: string;
  /** The checked definition, with all defaults. */
  readonly definition: AgentDefinition;
  /** Every value of the definition with its origin. */
  readonly resolvedValues: readonly ResolvedValue[];
};

/** The agents of a file, or what is wrong with it. */
export type AgentFileResult = {
  /** Empty if there are errors. */
  readonly agents: readonly LoadedAgent[];
  /** The work mode that the file declares, if any. */
  readonly mode?: WorkMode;
  /** Sorted by position in the file. Warnings can accompany agents. */
  readonly problems: readonly Problem[];
};

export type LoadOptions = LoadEnvironment & {
  /** The file name in problems; its extension determines the format. */
  readonly name: string;
  readonly format?: SourceFormat | undefined;
};

/** Reads the agents of a file's text. Returns their definitions, or all problems of the file. */
export function loadAgents(text: string, options: LoadOptions): AgentFileResult {
  const { name, format, env } = options;
  const hint = "an agent file has at least [provider] with a model; `holdfast init` writes one";
  const read = readSource(text, { name, format, env, isSecret: isSecretField, hint });
  if (!read.ok) return { agents: [], problems: read.problems };
  const { source } = read;
  const { value, problems: found } = validateFile(source);
  const loader = new AgentFileLoader(source, value, options);
  const missing = [
    ...(source.value["provider"] === undefined ? [createMissingModelProblem(source)] : []),
    ...(options.untrusted === true
      ? [...findForbiddenReferences(source), ...findForbiddenSandboxes(source)]
      : []),
  ];
  const drafts = composeAgents(loader);
  const early = [...source.problems, ...found, ...missing, ...loader.problems];
  const errors = early.filter(({ severity }) => severity === "error");
  const checked = drafts.map((draft) => checkDraft(loader, draft, errors));
  const agents = checked.flatMap((agent) => (agent === undefined ? [] : [agent]));
  warnUnusedRules(
    loader,
    drafts.flatMap(({ draft: { origins } }, index) => {
      const agent = checked[index];
      return agent === undefined ? [] : [{ definition: agent.definition, origins }];
    }),
  );
  const mode = agents.length === drafts.length ? resolveMode(loader, agents) : undefined;
  const problems = sortProblems([...source.problems, ...found, ...missing, ...loader.problems]);
  if (problems.some(({ severity }) => severity === "error")) return { agents: [], problems };
  return { agents, ...omitUndefined({ mode }), problems };
}

function createMissingModelProblem(source: Parameters<typeof validateFile>[0]): Problem {
  const message = 'no model is specified: add [provider] with model = "…" and api_key = "${NAME}"';
  const about = { kind: "missing-model", severity: "error", message, expected: "[provider]" } as const;
  return { ...source.createProblem([], about), field: "provider" };
}

/** @param errors - Known errors. A problem that follows from one of them is not reported. */
function checkDraft(
  loader: AgentFileLoader,
  { name, draft }: AgentDraft,
  errors: readonly Problem[],
): LoadedAgent | undefined {
  const parsed = AgentDefinition.safeParse(draft.value, { error: formatExpected });
  if (parsed.success) {
    const definition = parsed.data;
    addDefinitionWarnings(loader, definition, draft.origins);
    return { name, definition, resolvedValues: listResolvedValues(definition, draft.origins, loader.source) };
  }
  for (const { path, message } of parsed.error.issues) {
    const origin = findOriginAround(draft.origins, path as Path);
    const fieldPath = origin?.type === "file" ? toFilePath(loader.source.value, origin.path) : undefined;
    if (fieldPath === undefined && errors.length > 0) continue;
    if (errors.some(({ field }) => field !== undefined && isWithin(field, formatPath(fieldPath ?? []))))
      continue;
    const messageText = fieldPath === undefined ? `${formatPath(path as Path)}: ${message}` : message;
    loader.reportError(fieldPath ?? ["provider"], messageText, message.replace(/^must be /, ""));
  }
  return undefined;
}

function isWithin(field: string, path: string): boolean {
  return field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);
}
