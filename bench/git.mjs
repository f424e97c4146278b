// Measures git work without a model: the map of a repository, the ledger of a large change set, and a review by null models.
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { openLedger, recordCoverage, summarizeCoverage } from "../dist/apps/git/changes/coverage-ledger.js";
import { createRepoMapTool } from "../dist/apps/git/tools/repo-map-tool.js";
import { computeQuantile, round } from "./environment.mjs";
import { buildLargeRepository } from "./git-repository.mjs";
import { measureReview } from "./git-review.mjs";

const OWN = resolve(import.meta.dirname, "..");
const MAP_TOKENS = 2_000;
const LARGE_FILES = 5_000;
const HUNKS_PER_FILE = 10;
/** What one answer of git_diff shows of small hunks. */
const HUNKS_PER_ANSWER = 50;

export async function measure({ log, quick }) {
  const own = await measureMap(OWN, quick ? 1 : 5, log);
  const folder = await buildLargeRepository(quick ? 200 : LARGE_FILES);
  try {
    const large = await measureMap(folder, quick ? 1 : 3, log);
    return {
      repoMapMs: own.ms,
      repoMapFiles: own.files,
      repoMapLargeMs: large.ms,
      repoMapLargeFiles: large.files,
      // Files that were mapped by pattern, because the time for grammars was over.
      repoMapLargeByPattern: large.byPattern,
      hunksPerSecond: measureLedger(quick ? 1_000 : 10_000, quick ? 1 : 5, log),
      ...(await measureReview(quick ? 1 : 5, log)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures the tool as an agent calls it. The first call loads the grammars, and does not count. */
async function measureMap(workspace, rounds, log) {
  const tool = createRepoMapTool();
  const context = {
    toolCallId: "bench",
    toolName: tool.name,
    workspace,
    idempotencyKey: "bench",
    signal: new AbortController().signal,
    onUpdate: () => {},
    onProgress: () => {},
    onSpawned: async () => {},
  };
  const times = [];
  let details;
  for (let n = 0; n <= rounds; n++) {
    const from = performance.now();
    ({ details } = await tool.execute({ max_tokens: MAP_TOKENS, mentioned: [] }, context));
    if (n > 0) times.push(performance.now() - from);
    log(`map ${n}: ${(performance.now() - from).toFixed(0)} ms for ${details.files} files`);
  }
  const { files, byPattern } = details;
  return { ms: Math.round(computeQuantile(times, 0.5)), files, byPattern };
}

/** Measures how many hunks a second are entered into a ledger, recorded as read answer by answer, and summed up. */
function measureLedger(hunks, rounds, log) {
  const changes = createChangeSet(hunks);
  const ids = changes.files.flatMap((file) => file.hunks.map(({ id }) => id));
  const speeds = [];
  for (let n = 0; n <= rounds; n++) {
    const from = performance.now();
    let ledger = openLedger(changes);
    for (let at = 0; at < ids.length; at += HUNKS_PER_ANSWER)
      ledger = recordCoverage(ledger, ids.slice(at, at + HUNKS_PER_ANSWER), { type: "read" });
    const { read, open } = summarizeCoverage(ledger);
    if (read !== hunks || open.length > 0) throw new Error(`The ledger has ${read} of ${hunks} hunks`);
    const speed = (hunks / (performance.now() - from)) * 1000;
    if (n > 0) speeds.push(speed);
    log(`ledger ${n}: ${speed.toFixed(0)} hunks a second`);
  }
  return round(computeQuantile(speeds, 0.5), 0);
}

function createChangeSet(hunks) {
  const counts = { oldLines: 7, newLines: 8, added: 1, deleted: 0 };
  const files = Array.from({ length: hunks / HUNKS_PER_FILE }, (_, nth) => {
    const path = `src/module-${nth % 40}/file-${nth}.ts`;
    return {
      path,
      change: "modified",
      oldMode: "100644",
      newMode: "100644",
      isBinary: false,
      added: HUNKS_PER_FILE,
      deleted: 0,
      signals: [],
      hunks: Array.from({ length: HUNKS_PER_FILE }, (__, at) => ({
        id: `${path}:${at + 1}`,
        oldStart: at * 20 + 1,
        newStart: at * 21 + 1,
        ...counts,
      })),
    };
  });
  return { files, added: hunks, deleted: 0 };
}
