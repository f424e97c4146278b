import { listOwnCode } from "../../core/suite/own-code.ts";
import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SuiteCase } from "../../schema/suite.ts";
import { hashText } from "../../store/transcript/sql/hash-text.ts";

/** The versions of an application's own tools, servers, hooks and functions, by name. */
export type CodeVersions = Readonly<Record<string, string>>;

/**
 * Digests what a configuration adds to its cells. Names for people, prices and secrets do not determine an answer.
 *
 * @param salt - Keeps the cells apart from those of other runs.
 */
export function digestConfiguration(
  definition: AgentDefinition,
  versions: CodeVersions,
  salt: string | undefined,
): string {
  const own = listOwnCode(definition).map((name) => [name, versions[name] ?? null]);
  return hashText(
    formatCanonicalJson({ definition: selectDetermining(definition), own, salt: salt ?? null }),
  );
}

/** Returns the first name of an agent's own code that has no version: its cells are not shared with other runs. */
export function findUnversioned(definition: AgentDefinition, versions: CodeVersions): string | undefined {
  return listOwnCode(definition).find((name) => versions[name] === undefined);
}

/**
 * Digests what a case adds to its cells: what is asked, and what scorers compare it with, because the scores of a cell belong
 * to all runs that contain it. Where only the latter differs, the stored answers are the same.
 */
export function digestCase({ messages, files, fork, expected, metadata }: SuiteCase): string {
  return hashText(formatCanonicalJson({ messages, ...omitUndefined({ files, fork, expected, metadata }) }));
}

/** Builds the id of a cell: a hash of what determines it. */
export function buildCellId(configuration: string, value: string, repetition: number): string {
  return hashText(`${configuration}/${value}/${repetition}`);
}

function selectDetermining(definition: AgentDefinition): unknown {
  const {
    name: _name,
    description: _description,
    model,
    fallbacks = [],
    subAgents = [],
    ...rest
  } = definition;
  const withoutPrice = ({ cost: _cost, apiKey: _key, name: _label, ...served }: typeof model) => served;
  return {
    ...rest,
    model: withoutPrice(model),
    fallbacks: fallbacks.map(withoutPrice),
    subAgents: subAgents.map(({ agent, ...use }) => ({ ...use, agent: selectDetermining(agent) })),
  };
}
