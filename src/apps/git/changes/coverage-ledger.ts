import { type ChangedFile, type ChangeSet, explainNoLines } from "./change-set.ts";
import { classifyFile } from "./file-kind.ts";

// Invariants
//   L1. Every hunk of the change set is in the ledger, and so is every file without a hunk. No entry is ever removed.
//   L2. The order in which facts are recorded does not matter, and neither does recording one twice: for each entry the
//       strongest fact counts (read, then given to an agent, then skipped, then open).
//   L3. A summary accounts for every entry exactly once.
// The one fact that takes another back is the loss of an agent: what it alone has examined is open again.

/** What became of a hunk. */
export type Coverage =
  | { readonly type: "open" }
  | { readonly type: "skipped"; readonly reason: string }
  /** An agent of this name examines it. */
  | { readonly type: "delegated"; readonly to: string }
  | { readonly type: "read" };

type LedgerEntry = {
  /** The id of the hunk; that of a file without hunks ends in `:0`. */
  readonly id: string;
  readonly path: string;
  readonly coverage: Coverage;
};

/** Which hunks of a change set have been examined, and by whom. Plain data. */
export type Ledger = { readonly entries: readonly LedgerEntry[] };

/** Opens the ledger of a change set. What nobody could read is skipped from the start, with the reason. */
export function openLedger({ files }: ChangeSet): Ledger {
  return { entries: files.flatMap(listEntries) };
}

function listEntries(file: ChangedFile): readonly LedgerEntry[] {
  const { path, hunks } = file;
  const kind = classifyFile(path);
  const isMadeByOthers = kind === "generated" || kind === "vendored";
  const coverage: Coverage = isMadeByOthers ? { type: "skipped", reason: kind } : { type: "open" };
  if (hunks.length > 0) return hunks.map(({ id }) => ({ id, path, coverage }));
  return [{ id: `${path}:0`, path, coverage: { type: "skipped", reason: explainNoHunks(file) } }];
}

function explainNoHunks(file: ChangedFile): string {
  const reason = explainNoLines(file);
  if (reason !== undefined) return reason;
  if (file.change === "unmerged") return "unmerged";
  if (file.change === "renamed" || file.change === "copied") return `${file.change} without a change`;
  return file.oldMode === file.newMode ? "empty" : file.change === "modified" ? "mode only" : "empty";
}

const STRENGTH: Readonly<Record<Coverage["type"], number>> = { open: 0, skipped: 1, delegated: 2, read: 3 };

/** Records what became of hunks. Ids that are not of this change set are ignored. */
export function recordCoverage(ledger: Ledger, ids: readonly string[], coverage: Coverage): Ledger {
  const named = new Set(ids);
  return {
    entries: ledger.entries.map((entry) =>
      named.has(entry.id) ? { ...entry, coverage: stronger(entry.coverage, coverage) } : entry,
    ),
  };
}

/** Two facts of the same strength are put in the order of their texts, so that their own order does not matter. */
function stronger(one: Coverage, other: Coverage): Coverage {
  const difference = STRENGTH[one.type] - STRENGTH[other.type];
  if (difference !== 0) return difference > 0 ? one : other;
  return JSON.stringify(one) <= JSON.stringify(other) ? one : other;
}

/** Records that an agent has not finished: its hunks are open again. */
export function recordLostAgent(ledger: Ledger, agent: string): Ledger {
  return {
    entries: ledger.entries.map((entry) =>
      entry.coverage.type === "delegated" && entry.coverage.to === agent
        ? { ...entry, coverage: { type: "open" } }
        : entry,
    ),
  };
}

export type CoverageSummary = {
  /** Hunks that were to be examined: all but those that were skipped. */
  readonly total: number;
  readonly read: number;
  readonly delegated: number;
  /** Nobody has examined these. */
  readonly open: readonly string[];
  /** The paths of files that were skipped, by reason. */
  readonly skipped: Readonly<Record<string, readonly string[]>>;
};

export function summarizeCoverage({ entries }: Ledger): CoverageSummary {
  const count = (type: Coverage["type"]) => entries.filter(({ coverage }) => coverage.type === type).length;
  const skipped = new Map<string, Set<string>>();
  for (const { path, coverage } of entries) {
    if (coverage.type !== "skipped") continue;
    skipped.set(coverage.reason, (skipped.get(coverage.reason) ?? new Set()).add(path));
  }
  return {
    total: entries.length - count("skipped"),
    read: count("read"),
    delegated: count("delegated"),
    open: entries.flatMap(({ id, coverage }) => (coverage.type === "open" ? [id] : [])),
    skipped: Object.fromEntries([...skipped].map(([reason, paths]) => [reason, [...paths]])),
  };
}

/** Adds the summaries of several ledgers. */
export function addSummaries(summaries: readonly CoverageSummary[]): CoverageSummary {
  const sum = (name: "total" | "read" | "delegated") => summaries.reduce((all, one) => all + one[name], 0);
  const skipped = new Map<string, Set<string>>();
  for (const [reason, paths] of summaries.flatMap((one) => Object.entries(one.skipped)))
    skipped.set(reason, new Set([...(skipped.get(reason) ?? []), ...paths]));
  return {
    ...{ total: sum("total"), read: sum("read"), delegated: sum("delegated") },
    open: summaries.flatMap(({ open }) => open),
    skipped: Object.fromEntries([...skipped].map(([reason, paths]) => [reason, [...paths]])),
  };
}

/** "412 of 412 hunks examined (100 by agents), 3 generated files skipped" */
export function formatCoverage({ total, read, delegated, open, skipped }: CoverageSummary): string {
  const byAgents = delegated === 0 ? "" : ` (${delegated} by agents)`;
  const parts = Object.entries(skipped).map(([reason, { length }]) => {
    const files = length === 1 ? "file" : "files";
    return /^[a-z]+$/.test(reason)
      ? `${length} ${reason} ${files} skipped`
      : `${length} ${files} skipped (${reason})`;
  });
  const unread = open.length === 0 ? [] : [`${open.length} not examined`];
  return [`${read + delegated} of ${total} hunks examined${byAgents}`, ...unread, ...parts].join(", ");
}
