import type { ChangeSet, ChangeSource } from "../changes/change-set.ts";
import {
  type Coverage,
  type Ledger,
  openLedger,
  recordCoverage,
  recordLostAgent,
} from "../changes/coverage-ledger.ts";
import type { CoverageFacts } from "./coverage-facts.ts";

/** An agent's own facts; the main agent has no name. */
export type AgentFacts = {
  readonly name?: string;
  readonly isLost?: boolean;
  readonly facts: CoverageFacts;
};

/** The change set whose hunks are accounted for, and those through which it has come about while agents worked. */
export type ExaminedChange = {
  readonly source: ChangeSource;
  readonly changes: ChangeSet;
  /** The parts of the change, in order, if its head has moved: each ends where the next begins. */
  readonly parts: readonly { readonly source: ChangeSource; readonly changes: ChangeSet }[];
};

/** Accounts for each hunk of a change: read by the main agent, examined by another, skipped, or open. */
export function buildLedger(change: ExaminedChange, agents: readonly AgentFacts[]): Ledger {
  let ledger = openLedger(change.changes);
  for (const { name, facts, isLost = false } of agents) {
    const coverage: Coverage = name === undefined ? { type: "read" } : { type: "delegated", to: name };
    ledger = recordCoverage(ledger, listShown(change, facts), coverage);
    for (const { path, reason } of facts.skipped)
      ledger = recordCoverage(ledger, listHunks(change.changes, path), { type: "skipped", reason });
    if (isLost && name !== undefined) ledger = recordLostAgent(ledger, name);
  }
  return ledger;
}

/** Lists the hunks of the change that an agent has seen: directly, or as those of all parts that touch their file. */
function listShown({ source, changes, parts }: ExaminedChange, { shown }: CoverageFacts): readonly string[] {
  const seen = (one: ChangeSource) =>
    new Set(shown.filter((view) => isSameSource(view.source, one)).flatMap(({ hunks }) => hunks));
  const own = seen(source);
  const seenOfParts = parts.map((part) => ({ changes: part.changes, hunks: seen(part.source) }));
  return changes.files.flatMap(({ path, hunks }) => {
    const touching = seenOfParts.flatMap((part) =>
      part.changes.files.flatMap((file) => (file.path === path ? [{ ...part, file }] : [])),
    );
    // The parts before a rename have the file under its former name.
    const isCovered =
      touching.length > 0 &&
      touching.every(
        ({ file, hunks: seenHere }) =>
          file.previousPath === undefined && file.hunks.every(({ id }) => seenHere.has(id)),
      );
    return hunks.flatMap(({ id }) => (isCovered || own.has(id) ? [id] : []));
  });
}

function listHunks({ files }: ChangeSet, asked: string): readonly string[] {
  const folder = asked.replace(/\/$/, "");
  return files
    .filter(({ path }) => path === folder || path.startsWith(`${folder}/`))
    .flatMap(({ hunks }) => hunks.map(({ id }) => id));
}

function isSameSource(one: ChangeSource, other: ChangeSource): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
