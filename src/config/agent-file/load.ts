import { wanted } from "../../schema/check.ts";
import { AgentDefinition } from "../../schema/definition.ts";
import type { WorkMode } from "../../schema/mode.ts";
import { inFileOrder, type Problem } from "../problem.ts";
import type { Format } from "../source/format.ts";
import { type Path, pathText } from "../source/node.ts";
import { readSource } from "../source/source-file.ts";
import { type AgentDraft, agentsOf } from "./compose.ts";
import { doubtsOf } from "./doubts.ts";
import { originAround } from "./draft.ts";
import { modeOf } from "./mode.ts";
import { type ResolvedValue, resolvedValues } from "./resolved.ts";
import { inFile } from "./table.ts";
import { isSecretField, validate } from "./validate.ts";
import { type Surroundings, Workbench } from "./workbench.ts";

/** One agent of a file. */
export type LoadedAgent = {
  readonly name: string;
  readonly definition: AgentDefinition;
  /** Every value of the definition, and where it comes from. */
  readonly values: readonly ResolvedValue[];
};

export type AgentFileResult = {
  /** None while there are errors. */
  readonly agents: readonly LoadedAgent[];
  /** How they work together, when the file says so. */
  readonly mode?: WorkMode;
  /** In the order of the file; warnings are there beside agents. */
  readonly problems: readonly Problem[];
};

export type LoadOptions = Surroundings & {
  /** As problems name it; its extension says the format. */
  readonly name: string;
  readonly format?: Format | undefined;
};

/** From the text of a file to the definitions of its agents, or everything that is wrong with it. */
export function loadAgents(text: string, options: LoadOptions): AgentFileResult {
  const { name, format, env } = options;
  const read = readSource(text, { name, format, env, isSecret: isSecretField });
  if (!read.ok) return { agents: [], problems: read.problems };
  const { source } = read;
  const { value, problems: found } = validate(source);
  const bench = new Workbench(source, value, options);
  const missing = source.value["provider"] === undefined ? [missingModel(source)] : [];
  const drafts = agentsOf(bench);
  const early = [...source.problems, ...found, ...missing, ...bench.problems];
  const errors = early.filter(({ severity }) => severity === "error");
  const checked = drafts.map((draft) => checkedDraft(bench, draft, errors));
  const agents = checked.flatMap((agent) => (agent === undefined ? [] : [agent]));
  const mode = agents.length === drafts.length ? modeOf(bench, agents) : undefined;
  const problems = inFileOrder([...source.problems, ...found, ...missing, ...bench.problems]);
  if (problems.some(({ severity }) => severity === "error")) return { agents: [], problems };
  return { agents, ...(mode === undefined ? {} : { mode }), problems };
}

function missingModel(source: Parameters<typeof validate>[0]): Problem {
  const message = 'no model is named: add [provider] with model = "…" and api_key = "${NAME}"';
  const about = { kind: "missing-model", severity: "error", message, expected: "[provider]" } as const;
  return { ...source.problem([], about), field: "provider" };
}

/** @param errors - That are known already: what follows from a value that is wrong is not said again. */
function checkedDraft(
  bench: Workbench,
  { name, draft }: AgentDraft,
  errors: readonly Problem[],
): LoadedAgent | undefined {
  const parsed = AgentDefinition.safeParse(draft.value, { error: wanted });
  if (parsed.success) {
    const definition = parsed.data;
    doubtsOf(bench, definition, draft.origins);
    return { name, definition, values: resolvedValues(definition, draft.origins, bench.source) };
  }
  for (const { path, message } of parsed.error.issues) {
    const origin = originAround(draft.origins, path as Path);
    const place = origin?.type === "file" ? inFile(bench.source.value, origin.path) : undefined;
    if (place === undefined && errors.length > 0) continue;
    if (errors.some(({ field }) => field !== undefined && isWithin(field, pathText(place ?? [])))) continue;
    const words = place === undefined ? `${pathText(path as Path)}: ${message}` : message;
    bench.wrong(place ?? ["provider"], words, message.replace(/^must be /, ""));
  }
  return undefined;
}

function isWithin(field: string, place: string): boolean {
  return field === place || field.startsWith(`${place}.`) || field.startsWith(`${place}[`);
}
