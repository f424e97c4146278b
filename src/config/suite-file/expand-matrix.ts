import { resolve } from "node:path";
import { truncateText } from "../../platform/text/truncate-text.ts";
import { formatExpected } from "../../schema/check.ts";
import { AgentDefinition } from "../../schema/definition.ts";
import { MAX_CONFIGURATIONS, MAX_NAME_CHARS } from "../../schema/suite.ts";
import { Draft } from "../agent-file/draft.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { CatalogueError } from "../catalogue/user-file.ts";
import { parseModel } from "../parse-model.ts";
import { describeReadError, readTextFile } from "../read-text.ts";
import type { Path } from "../source/source-node.ts";
import { ModelError } from "../vendor-models.ts";
import type { LoadedConfiguration } from "./loaded-suite.ts";
import { AXIS_FIELDS, type AxisValue } from "./matrix-axes.ts";
import { nameAgents, type SuiteAgents } from "./suite-agents.ts";
import { explainForbiddenPath, type SuiteFolder } from "./suite-folder.ts";

/** What the expansion of a matrix needs. */
export type MatrixContext = {
  readonly agents: SuiteAgents;
  readonly folder: SuiteFolder;
  readonly catalogue: Catalogue | undefined;
  /** Reports an error at a place of the matrix. */
  readonly report: (path: Path, message: string) => void;
};

/** One value of an axis: what it does to a definition, and how a configuration states it. */
type Choice = {
  readonly value: AxisValue;
  /** Its part in the names of configurations. */
  readonly label: string;
  readonly path: Path;
  apply(definition: AgentDefinition): AgentDefinition | undefined;
};

type Axis = { readonly key: string; readonly choices: readonly Choice[] };

/**
 * Expands a matrix: every combination of its values, in the order of the file, of which the last key varies fastest. A value
 * that cannot be used is reported, and its combinations are left out.
 */
export function expandMatrix(
  matrix: Readonly<Record<string, AxisValue | readonly AxisValue[]>>,
  context: MatrixContext,
): readonly LoadedConfiguration[] {
  const { agent: agentFiles, ...others } = matrix;
  const axes = [
    createAgentAxis(agentFiles as string | readonly string[], context),
    ...Object.entries(others).map(([key, values]) => createAxis(key, values, context)),
  ];
  const order = Object.keys(matrix);
  const sorted = axes.toSorted((one, other) => order.indexOf(one.key) - order.indexOf(other.key));
  const count = sorted.reduce((product, { choices }) => product * choices.length, 1);
  if (count > MAX_CONFIGURATIONS) {
    context.report(
      ["matrix"],
      `it has ${count} combinations, and a suite has at most ${MAX_CONFIGURATIONS} configurations`,
    );
    return [];
  }
  return combine(sorted).flatMap((choices, index) => {
    const definition = applyChoices(choices, order);
    if (definition === undefined) return [];
    const parameters = Object.fromEntries(sorted.map(({ key }, at) => [key, choices[at]!.value]));
    return [{ name: nameCombination(sorted, choices, index), definition, parameters }];
  });
}

function combine(axes: readonly Axis[]): readonly (readonly Choice[])[] {
  return axes.reduce<readonly (readonly Choice[])[]>(
    (combinations, { choices }) =>
      combinations.flatMap((combination) => choices.map((choice) => [...combination, choice])),
    [[]],
  );
}

/** Applies an agent first, then the other values: they change its definition. */
function applyChoices(choices: readonly Choice[], order: readonly string[]): AgentDefinition | undefined {
  const first = order.indexOf("agent");
  const [agent, ...others] = [choices[first]!, ...choices.filter((_, index) => index !== first)];
  return others.reduce<AgentDefinition | undefined>(
    (definition, choice) => (definition === undefined ? undefined : choice.apply(definition)),
    agent.apply(undefined as unknown as AgentDefinition),
  );
}

/** Names a combination by the values that differ between combinations. */
function nameCombination(axes: readonly Axis[], choices: readonly Choice[], index: number): string {
  const parts = axes.flatMap(({ key, choices: all }, at) =>
    all.length > 1 ? [`${key}=${choices[at]!.label}`] : [],
  );
  const own = axes.findIndex(({ key }) => key === "agent");
  const name = parts.length === 0 ? choices[own]!.label : parts.join(",");
  return name.length > MAX_NAME_CHARS ? `configuration-${index + 1}` : name;
}

function listValues<Value>(values: Value | readonly Value[], path: Path) {
  return Array.isArray(values)
    ? (values as readonly Value[]).map((value, index) => ({ value, path: [...path, index] as Path }))
    : [{ value: values as Value, path }];
}

function createAgentAxis(files: string | readonly string[], { agents }: MatrixContext): Axis {
  const listed = listValues(files, ["matrix", "agent"]);
  const names = nameAgents(listed.map(({ value }) => value));
  return {
    key: "agent",
    choices: listed.map(({ value, path }, index) => {
      const loaded = agents.load(value, path);
      return { value, label: names[index]!, path, apply: () => loaded?.definition };
    }),
  };
}

function createAxis(key: string, values: AxisValue | readonly AxisValue[], context: MatrixContext): Axis {
  const choices = listValues(values, ["matrix", key]).map(({ value, path }, index): Choice => {
    if (key === "model") return createModelChoice(String(value), path, context);
    if (key === "system_prompt") return createPromptChoice(String(value), path, index, context);
    return createFieldChoice(key, value, path, context);
  });
  return { key, choices };
}

const COMPACTION_IS_OFF =
  'compaction is off, so this is not used: state max_context_tokens in the agent file, or "compaction.max_context_tokens" before this key';

function createFieldChoice(key: string, value: AxisValue, path: Path, { report }: MatrixContext): Choice {
  const field = AXIS_FIELDS.get(key)!;
  return {
    value,
    label: String(value),
    path,
    apply: (definition) => {
      const [section, part] = field.target;
      if (section === "context" && part !== "maxContextTokens" && definition.context === null) {
        report(path, COMPACTION_IS_OFF);
        return undefined;
      }
      const draft = new Draft();
      Object.assign(draft.value, structuredClone(definition));
      draft.set(field.target, field.read(value), { type: "default" });
      const parsed = AgentDefinition.safeParse(draft.value, { error: formatExpected });
      if (parsed.success) return parsed.data;
      report(
        path,
        `the agent cannot have this value: ${parsed.error.issues.map(({ path: at, message }) => `${at.join(".")} ${message}`).join("; ")}`,
      );
      return undefined;
    },
  };
}

function createModelChoice(name: string, path: Path, { catalogue, report }: MatrixContext): Choice {
  return {
    value: name,
    label: name,
    path,
    apply: (definition) => {
      const { model: base } = definition;
      try {
        const model = parseModel(name, {}, catalogue);
        const isSame = model.provider === base.provider && model.api === base.api;
        const { baseUrl, apiKey, headers } = base;
        return { ...definition, model: isSame ? { ...model, baseUrl, apiKey, headers } : model };
      } catch (error) {
        if (!(error instanceof ModelError || error instanceof CatalogueError)) throw error;
        report(path, error.message);
        return undefined;
      }
    },
  };
}

const FILE = "file:";

function createPromptChoice(
  value: string,
  path: Path,
  index: number,
  { folder, report }: MatrixContext,
): Choice {
  const prompt = readPrompt(value, folder);
  if ("message" in prompt) report(path, prompt.message);
  return {
    value: truncateText(value, MAX_NAME_CHARS),
    label: value.startsWith(FILE) ? value.slice(FILE.length).trim() : `#${index + 1}`,
    path,
    apply: (definition) => ("text" in prompt ? { ...definition, systemPrompt: prompt.text } : undefined),
  };
}

function readPrompt(
  value: string,
  folder: SuiteFolder,
): { readonly text: string } | { readonly message: string } {
  if (!value.startsWith(FILE)) {
    if (/^\S+\.(md|txt|prompt)$/i.test(value))
      return { message: `this is the prompt itself; for a file, write "file:${value}"` };
    return { text: value };
  }
  const file = value.slice(FILE.length).trim();
  const forbidden = explainForbiddenPath(folder, file);
  if (forbidden !== undefined) return { message: forbidden };
  try {
    return { text: readTextFile(resolve(folder.path, file)) };
  } catch (error) {
    return { message: `${file} cannot be read: ${describeReadError(error)}` };
  }
}
