import type { PinnedSources, PinnedTool } from "../../schema/tool-source.ts";

/** Describes what has changed since the last run of the session, one sentence each. Empty if nothing was pinned. */
export function describeSourceChanges(
  before: PinnedSources | undefined,
  now: PinnedSources,
): readonly string[] {
  if (before === undefined) return [];
  const old = new Map(before.tools.map((tool) => [toKey(tool), tool]));
  const newTools = new Map(now.tools.map((tool) => [toKey(tool), tool]));
  const changed = now.tools.filter((tool) => (old.get(toKey(tool))?.hash ?? tool.hash) !== tool.hash);
  const added = now.tools.filter((tool) => !old.has(toKey(tool)));
  const removed = before.tools.filter((tool) => !newTools.has(toKey(tool)));
  const [oldContents, newContents] = [getContents(before), getContents(now)];
  return [
    ...changed.map((tool) => `${formatTool(tool)} has changed since the last run of this session`),
    ...added.map((tool) => `${formatTool(tool)} is new to this session`),
    ...removed.map((tool) => `${formatTool(tool)} is no longer available`),
    ...[...newContents]
      .filter(([name, hash]) => (oldContents.get(name) ?? hash) !== hash)
      .map(([name]) => `${name} has changed since the last run of this session`),
    ...[...newContents.keys()]
      .filter((name) => !oldContents.has(name))
      .map((name) => `${name} is new to this session`),
    ...[...oldContents.keys()]
      .filter((name) => !newContents.has(name))
      .map((name) => `${name} is no longer available`),
  ];
}

function getContents({ contents = {} }: PinnedSources): ReadonlyMap<string, string> {
  return new Map(Object.entries(contents));
}

function toKey({ source, from, remote }: PinnedTool): string {
  return JSON.stringify([source, from, remote]);
}

function formatTool({ source, from, remote }: PinnedTool): string {
  return `The tool ${remote} of ${source} ${from}`;
}
