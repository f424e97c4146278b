import type { PinnedOutside, PinnedTool } from "../../schema/outside.ts";

/** What is not as it was when the session was worked on before, a sentence each. Nothing where nothing was pinned. */
export function outsideChanges(before: PinnedOutside | undefined, now: PinnedOutside): readonly string[] {
  if (before === undefined) return [];
  const old = new Map(before.tools.map((tool) => [keyOf(tool), tool]));
  const fresh = new Map(now.tools.map((tool) => [keyOf(tool), tool]));
  const changed = now.tools.filter((tool) => (old.get(keyOf(tool))?.hash ?? tool.hash) !== tool.hash);
  const added = now.tools.filter((tool) => !old.has(keyOf(tool)));
  const gone = before.tools.filter((tool) => !fresh.has(keyOf(tool)));
  const [held, holds] = [contentsOf(before), contentsOf(now)];
  return [
    ...changed.map((tool) => `${said(tool)} is another one than when this session was last worked on`),
    ...added.map((tool) => `${said(tool)} is new to this session`),
    ...gone.map((tool) => `${said(tool)} is no longer there`),
    ...[...holds]
      .filter(([name, hash]) => (held.get(name) ?? hash) !== hash)
      .map(([name]) => `${name} has changed since this session was last worked on`),
    ...[...holds.keys()].filter((name) => !held.has(name)).map((name) => `${name} is new to this session`),
    ...[...held.keys()].filter((name) => !holds.has(name)).map((name) => `${name} is no longer there`),
  ];
}

function contentsOf({ contents = {} }: PinnedOutside): ReadonlyMap<string, string> {
  return new Map(Object.entries(contents));
}

function keyOf({ source, from, remote }: PinnedTool): string {
  return JSON.stringify([source, from, remote]);
}

function said({ source, from, remote }: PinnedTool): string {
  return `The tool ${remote} of ${source} ${from}`;
}
