import type { Entry, Holdfast } from "../../../client/index.ts";
import type { ChangeSet, ChangeSource } from "../changes/change-set.ts";
import {
  addSummaries,
  type CoverageSummary,
  formatCoverage,
  summarizeCoverage,
} from "../changes/coverage-ledger.ts";
import { listSources, type PinnedChange } from "../changes/pin-change.ts";
import { readChangeSet } from "../changes/read-change-set.ts";
import type { Repository } from "../repository/repository.ts";
import { type AgentFacts, buildLedger } from "./build-ledger.ts";
import { type Delegation, readCoverageFacts } from "./coverage-facts.ts";
import { readPromptNotes } from "./run-plan.ts";

/** What became of the hunks of a change. */
export type CoverageReport = {
  /** "412 of 412 hunks examined, 3 generated files skipped" */
  readonly sentence: string;
  readonly files: number;
  readonly hunks: number;
  readonly read: number;
  readonly delegated: number;
  /** The ids of hunks that nobody has examined. */
  readonly open: readonly string[];
  readonly skipped: Readonly<Record<string, readonly string[]>>;
};

/** The change that the agents of a session have worked on. */
type Examined = {
  readonly session: string;
  readonly change: PinnedChange;
  /** What was staged, if it is committed meanwhile. */
  readonly staged?: ChangeSource | undefined;
};

/** Writes the coverage ledger of a change from the records of the agents that have worked on it. */
export async function accountForChange(
  holdfast: Holdfast,
  repository: Repository,
  { session, change, staged }: Examined,
): Promise<CoverageReport> {
  const entries = await holdfast.session(session).messages.list();
  const ledgers = await Promise.all(
    listSources(change).map(async (source) => {
      const now = source.type === "staged" ? (staged ?? source) : source;
      return await accountForSource(holdfast, repository, entries, { source, now });
    }),
  );
  const summary = addSummaries(ledgers.map((one) => one.summary));
  const { total, read, delegated, open, skipped } = summary;
  return {
    sentence: formatCoverage(summary),
    files: new Set(ledgers.flatMap(({ changes }) => changes.files.map(({ path }) => path))).size,
    ...{ hunks: total, read, delegated, open, skipped },
  };
}

async function accountForSource(
  holdfast: Holdfast,
  repository: Repository,
  entries: readonly Entry[],
  /** The change as the agents have named it, and where it is now. */
  { source, now }: { readonly source: ChangeSource; readonly now: ChangeSource },
): Promise<{ readonly changes: ChangeSet; readonly summary: CoverageSummary }> {
  const pins = listPins(entries);
  const isStaged = source.type !== "commits";
  // What was staged before has no name: what was read of it counts for nothing.
  const first = isStaged ? (pins.at(-1)?.position ?? 0) : 0;
  const facts = readCoverageFacts(entries.filter(({ position }) => position >= first));
  const agents: AgentFacts[] = [
    { facts },
    ...(await Promise.all(facts.delegations.map((one) => readAgent(holdfast, one)))),
  ];
  const changes = await readChangeSet(repository, now);
  const parts = isStaged ? [] : await readParts(repository, pins, source);
  return { changes, summary: summarizeCoverage(buildLedger({ source, changes, parts }, agents)) };
}

async function readAgent(holdfast: Holdfast, { name, session, status }: Delegation): Promise<AgentFacts> {
  const entries =
    session === undefined
      ? []
      : await holdfast
          .session(session)
          .messages.list()
          .catch(() => []);
  return { name, facts: readCoverageFacts(entries), isLost: status !== "ended" };
}

type Pin = { readonly position: number; readonly change: PinnedChange };

/** Lists what the change was at each prompt. */
function listPins(entries: readonly Entry[]): readonly Pin[] {
  return entries.flatMap(({ position, message }) => {
    const change = message.role === "user" ? readPromptNotes(message.metadata)?.change : undefined;
    return change === undefined ? [] : [{ position, change: change as PinnedChange }];
  });
}

/** Reads the parts of a change whose head has moved from commit to commit; none if its beginning has moved as well. */
async function readParts(repository: Repository, pins: readonly Pin[], source: ChangeSource) {
  if (source.type !== "commits" || pins.length < 2) return [];
  const heads = pins.flatMap(({ change }) => (change.source.type === "commits" ? [change.source] : []));
  if (heads.some(({ from }) => from !== source.from)) return [];
  const steps = heads.map(({ to }, at) => ({
    type: "commits" as const,
    from: at === 0 ? source.from : (heads[at - 1]?.to ?? source.from),
    to,
  }));
  return await Promise.all(
    steps.map(async (part) => ({ source: part, changes: await readChangeSet(repository, part) })),
  );
}
