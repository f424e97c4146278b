// Measures git work without a model: the map of a repository, and the ledger of a large change set.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openLedger, recordCoverage, summarizeCoverage } from "../dist/apps/git/changes/coverage-ledger.js";
import { createRepoMapTool } from "../dist/apps/git/tools/repo-map-tool.js";
import { computeQuantile, round } from "./environment.mjs";

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

/** Builds a repository of one commit, whose files import and use each other. */
async function buildLargeRepository(files) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-git-"));
  const git = (args, input) =>
    execFileSync("git", args, { cwd: folder, input, stdio: "pipe", maxBuffer: 1e9 });
  git(["init", "--quiet", "--initial-branch=main"]);
  const stream = ["commit refs/heads/main\ncommitter B <b@example.com> 1700000000 +0000\ndata 3\nOne\n"];
  for (let nth = 0; nth < files; nth++) {
    const text = writeSource(nth, files);
    stream.push(`M 100644 inline ${findPath(nth)}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  }
  git(["fast-import", "--quiet"], stream.join(""));
  git(["reset", "--quiet", "--hard", "main"]);
  return folder;
}

function findPath(nth) {
  return `src/module-${nth % 40}/part-${nth}.ts`;
}

function writeSource(nth, files) {
  const used = [1, 7, 31].map((step) => (nth * step + step) % files);
  const imports = used.map((at) => `import { compute${at} } from "../module-${at % 40}/part-${at}.ts";`);
  const functions = ["compute", "format", "parse", "check"].map((verb) =>
    [
      `/** Returns what number ${nth} of ${verb} says. */`,
      `export function ${verb}${nth}(value: number, options: Options${nth} = {}): number {`,
      `  const base = ${used.map((at) => `compute${at}(value)`).join(" + ")};`,
      "  if (options.isStrict === true && base < 0) throw new RangeError(`$" + "{base} is below zero`);",
      "  return base * (options.factor ?? 1);",
      "}",
      "",
    ].join("\n"),
  );
  const type = `export type Options${nth} = { readonly isStrict?: boolean; readonly factor?: number };\n`;
  return [...imports, "", type, ...functions].join("\n");
}
