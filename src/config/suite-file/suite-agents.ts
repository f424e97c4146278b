import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { LoadedAgent } from "../agent-file/load-agents.ts";
import { type ReadAgentsOptions, readAgents } from "../agent-file/read-agents.ts";
import type { Problem } from "../problem.ts";
import type { SourceFile } from "../source/source-file.ts";
import type { Path } from "../source/source-node.ts";
import { displayPath, explainForbiddenPath, type SuiteFolder } from "./suite-folder.ts";

/** The agent files of a suite. Each is read once, and its problems are reported once. */
export class SuiteAgents {
  readonly #source: SourceFile;
  readonly #folder: SuiteFolder;
  readonly #options: ReadAgentsOptions;
  readonly #files = new Map<string, readonly LoadedAgent[]>();
  /** The problems of the suite's own references to files. */
  readonly references: Problem[] = [];
  /** The problems of the agent files. */
  readonly problems: Problem[] = [];

  constructor(source: SourceFile, folder: SuiteFolder, options: ReadAgentsOptions) {
    this.#source = source;
    this.#folder = folder;
    this.#options = options;
  }

  /**
   * Loads an agent. If that fails, reports why and returns `undefined`.
   *
   * @param reference - `FILE`, or `FILE#AGENT` for a file with several agents.
   * @param path - The place of the reference in the suite file.
   */
  load(reference: string, path: Path): LoadedAgent | undefined {
    const { file, agent: name } = splitReference(reference);
    const forbidden = explainForbiddenPath(this.#folder, file);
    if (forbidden !== undefined) return this.#report(path, reference, forbidden);
    const agents = this.#files.get(file) ?? this.#read(file, path, reference);
    this.#files.set(file, agents);
    const [first] = agents;
    if (first === undefined) return undefined;
    const names = agents.map((agent) => agent.name);
    const found = name === undefined ? first : agents.find((agent) => agent.name === name);
    if (found === undefined) {
      const nearest = findNearestName(name!, names);
      const hint = nearest === undefined ? `it defines ${names.join(", ")}` : `did you mean "${nearest}"?`;
      return this.#report(path, reference, `${file} defines no agent "${name}"; ${hint}`, nearest);
    }
    if (name === undefined && agents.length > 1) {
      const choices = names.map((one) => `${file}#${one}`).join(", ");
      return this.#report(path, reference, `${file} defines ${agents.length} agents; choose one: ${choices}`);
    }
    return found;
  }

  #read(file: string, path: Path, reference: string): readonly LoadedAgent[] {
    const { agents, problems } = readAgents(displayPath(this.#folder, file), this.#options);
    const unreadable = problems.find(({ kind, line }) => kind === "io" && line === undefined);
    if (unreadable === undefined) this.problems.push(...problems);
    else this.#report(path, reference, `${unreadable.file}: ${unreadable.message}`);
    return agents.map(removeDefaultFolders);
  }

  #report(path: Path, found: string, message: string, nearest?: string): undefined {
    this.references.push(
      this.#source.createProblem(path, {
        kind: "invalid-field",
        severity: "error",
        found,
        expected: "an agent file, as FILE or FILE#AGENT",
        message,
        ...omitUndefined({ nearest }),
      }),
    );
  }
}

/**
 * Removes the current folder from agents whose files state no workspace. Cells side by side would work in it, and what they are
 * would depend on where the suite is started. They get fresh folders instead.
 */
function removeDefaultFolders({ definition, resolvedValues, ...agent }: LoadedAgent): LoadedAgent {
  const defaults = new Set(resolvedValues.filter(({ from }) => from === "default").map(({ path }) => path));
  return {
    ...agent,
    definition: removeFolders(definition, defaults, ""),
    resolvedValues: resolvedValues.filter(({ path }) => !(isFolder(path) && defaults.has(path))),
  };
}

function removeFolders(
  { workspace, subAgents, ...definition }: AgentDefinition,
  defaults: ReadonlySet<string>,
  prefix: string,
): AgentDefinition {
  return {
    ...definition,
    ...omitUndefined({
      workspace: defaults.has(`${prefix}workspace`) ? undefined : workspace,
      subAgents: subAgents?.map((one, index) => ({
        ...one,
        agent: removeFolders(one.agent, defaults, `${prefix}subAgents[${index}].agent.`),
      })),
    }),
  };
}

function isFolder(path: string): boolean {
  return /(^|\.)workspace$/.test(path);
}

function splitReference(reference: string): { readonly file: string; readonly agent: string | undefined } {
  const hash = reference.lastIndexOf("#");
  return hash < 0
    ? { file: reference, agent: undefined }
    : { file: reference.slice(0, hash), agent: reference.slice(hash + 1) };
}

/** Names configurations after their files: `small` for `agents/small.toml`, or the whole path where names are equal. */
export function nameAgents(references: readonly string[]): readonly string[] {
  const short = references.map((reference) => removeExtension(reference).replace(/^.*[\\/]/, ""));
  return short.map((name, index) =>
    short.filter((other) => other === name).length === 1 ? name : removeExtension(references[index]!),
  );
}

function removeExtension(reference: string): string {
  return reference.replace(/\.(toml|ya?ml|json)(?=#|$)/i, "");
}
