// Has the scripted model write the messages of commits and the changelogs of ranges, and checks that every hunk is accounted
// for: npm run git-runs -- [REPO] [--commits 500] [--ranges 20] [--json]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildRun, createGitTools, runCapability } from "../dist/apps/git/index.js";
import { reportTotals } from "./git-totals.mjs";
import { openProofEnvironment } from "./proof-environment.mjs";

/** Of the worker, the client and the model, which are in this process. */
const MAX_PEAK_MB = 1_024;

const USAGE = `Usage: npm run git-runs -- [REPO] [--commits N] [--ranges N] [--json]

Runs \`commit\` for the newest commits of a repository, and \`changelog\` for ranges of it, on a server of its own.

Example:
  npm run --silent git-runs -- . --commits 50 --ranges 2 --json
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "500" },
    ranges: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const folder = resolve(positionals[0] ?? ".");
const wanted = { commits: Number(values.commits), ranges: Number(values.ranges) };
if (values.help || !Object.values(wanted).every((count) => Number.isSafeInteger(count) && count >= 0)) {
  (values.help ? process.stdout : process.stderr).write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const home = mkdtempSync(join(tmpdir(), "holdfast-git-runs-"));
const endings = [() => rmSync(home, { recursive: true, force: true })];
const total = { commits: 0, ranges: 0, hunks: 0, read: 0, open: 0, skippedFiles: 0, problems: 0 };
const from = performance.now();
try {
  await runAll();
} finally {
  for (const end of endings.reverse()) await end();
}
process.exit(reportTotals(total, { fromMs: from, maxPeakMb: MAX_PEAK_MB, isJson: values.json }));

async function runAll() {
  const { core, main, update } = createGitTools({ home });
  const workerOptions = { tools: [...core, ...main, ...update] };
  const { model, holdfast } = await openProofEnvironment({ respond: answer, home, workerOptions, endings });
  const run = async (session, capability, change) => {
    const result = await runCapability(
      holdfast,
      buildRun({
        session,
        plan: {
          capability,
          repository: folder,
          change,
          hasCritic: false,
          style: {},
          models: { model: "local/scripted", baseUrl: model.openaiBaseUrl },
          subAgents: {},
          limits: {},
        },
        task: {},
        home,
        isTrusted: false,
        env: {},
      }),
    );
    return { ...result, shown: countShownHunks(await holdfast.session(session).messages.list()) };
  };
  const ids = git(
    "rev-list",
    "--first-parent",
    `--max-count=${Math.max(wanted.commits, wanted.ranges * 25) + 1}`,
    "HEAD",
  )
    .trim()
    .split("\n");
  for (const [at, commit] of ids.slice(0, wanted.commits).entries()) {
    count("commits", commit, await run(`commit-${at}`, "commit", { type: "commit", commit }));
    if ((at + 1) % 50 === 0) console.error(`${at + 1} of ${wanted.commits} commits`);
  }
  const step = Math.max(1, Math.floor((ids.length - 1) / Math.max(1, wanted.ranges)));
  for (let at = 0; at < wanted.ranges && (at + 1) * step < ids.length; at += 1) {
    const range = { type: "range", from: ids[(at + 1) * step], to: ids[at * step] };
    count("ranges", `${range.from}..${range.to}`, await run(`range-${at}`, "changelog", range));
    console.error(`${at + 1} of ${wanted.ranges} ranges`);
  }
}

/** The scripted model reads the change that its task names, and answers. */
function answer({ turn, system, firstUserText }) {
  const [, start, end] = /from ([0-9a-f]{40,64}) to ([0-9a-f]{40,64})\./.exec(firstUserText) ?? [];
  if (turn === 0)
    return { toolCalls: [{ name: "git_diff", arguments: { from: start, to: end, detail: "standard" } }] };
  const isCommit = system.includes("Generate a commit message");
  return {
    text: JSON.stringify(
      isCommit
        ? { emoji: null, title: "Change it", message: "As asked.", completion_message: "Done." }
        : { content: "## Unreleased\n\n### Changed\n\n- It." },
    ),
  };
}

/** Compares what a result says about hunks with what git says. */
function count(kind, name, { type, outcome, coverage, change, isUnstructured, shown }) {
  total[kind] += 1;
  const fail = (problem) => {
    total.problems += 1;
    console.error(`${kind} ${name}: ${problem}`);
  };
  if (type !== "made") return fail(`no artifact: ${JSON.stringify(outcome)}`);
  if (isUnstructured) fail("the answer has not the required form");
  const skipped = new Set(Object.values(coverage.skipped).flat());
  const { read, delegated, open, hunks } = coverage;
  const shownHunks = [...shown.values()].reduce((sum, number) => sum + number, 0);
  if (read !== shownHunks) fail(`${read} hunks read, and ${shownHunks} shown to the model`);
  // A hunk of a generated file counts if the model has read it, although the rest of the file was skipped.
  const expected = countHunks(change.source, skipped) + sumOf(shown, skipped);
  if (hunks !== expected) fail(`${hunks} hunks, and ${expected} by git`);
  if (read + delegated + open.length !== hunks)
    fail(`${read} + ${delegated} + ${open.length} is not ${hunks}`);
  total.hunks += hunks;
  total.read += read;
  total.open += open.length;
  total.skippedFiles += skipped.size;
}

/** Counts the hunks that answers of `git_diff` have shown whole to the model, by file. */
function countShownHunks(entries) {
  const shown = new Map();
  const texts = entries.flatMap(({ message }) => (message.role === "toolResult" ? message.content : []));
  for (const { text } of texts) {
    // A line of a file begins with a sign or a space.
    for (const part of text.split(/^(?=--- .+ \[\d+% relevance\]$)/m).slice(1)) {
      const path = /^--- (.+) \[\d+% relevance\]$/m.exec(part)[1];
      const whole = part
        .split(/^(?=@@ )/m)
        .slice(1)
        .filter((hunk) => !/\[\.\.\. (?:hunk|line) cut\]$/m.test(hunk));
      shown.set(path, (shown.get(path) ?? 0) + whole.length);
    }
  }
  return shown;
}

function sumOf(numbers, names) {
  return [...names].reduce((sum, name) => sum + (numbers.get(name) ?? 0), 0);
}

/** Counts the hunks of a change in the files that were not skipped. */
function countHunks({ from: start, to: end }, skipped) {
  const settings = [
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.noPrefix=false",
    "-c",
    "diff.mnemonicPrefix=false",
  ];
  const patch = git(...settings, "diff", "-M", "--no-ext-diff", "--no-textconv", start, end);
  // A line of a file begins with a sign, so that this is a header.
  const files = patch.split(/^diff --git /m).slice(1);
  return files.reduce((sum, text) => {
    const header = text.slice(0, text.search(/^@@ /m));
    const [, path] = /^\+\+\+ b\/(.*?)\t?$/m.exec(header) ?? /^--- a\/(.*?)\t?$/m.exec(header) ?? [];
    return skipped.has(path) ? sum : sum + (text.match(/^@@ /gm)?.length ?? 0);
  }, 0);
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", ["-C", folder, ...args], {
    encoding: "utf8",
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout;
}
