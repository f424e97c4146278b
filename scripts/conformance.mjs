// Writes docs/contributing/conformance.md: which test proves which clause of which requirement, derived from the titles of the tests.
//
//   node scripts/conformance.mjs            writes the document
//   node scripts/conformance.mjs --check    fails when the document is out of date
//
// Both fail when a title contains an unknown id or clause, when a requirement of a finished area has a clause without a
// test, and when a test that proves something contains nothing that can fail.
// `--root FOLDER` reads another folder with the same structure.
//
// A title contains the ids that its test proves in brackets at any position: "... [LOOP-01, PHI-13a]", "... (OVF-02)".
// A requirement with several clauses is proven by the tests that name each of them: "... [LOOP-27.2]", "[LOOP-27.1-3]".
// Its plain id names the requirement and proves no clause.
// The script reads the sources without running them, so that it takes a second: only the fixed parts of titles that are
// built at run time count. A test or describe that is skipped, planned or expected to fail proves nothing.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";
import { createAssertionFinder } from "./conformance-assertions.mjs";
import { listNamed, readArea, readTitles } from "./conformance-titles.mjs";

const REQUIREMENTS = "test/conformance/requirements.json";
const FINISHED = "test/conformance/finished.json";
const DOCUMENT = "docs/contributing/conformance.md";

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, root: { type: "string" } },
});
const root = values.root ?? dirname(dirname(fileURLToPath(import.meta.url)));

const { areas, requirements } = JSON.parse(readFileSync(join(root, REQUIREMENTS), "utf8"));
const { issuesUnderWay, finishedAreas } = JSON.parse(readFileSync(join(root, FINISHED), "utf8"));
const areaNames = areas.map(({ area }) => area);
const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));

const sources = new Map();
const titles = listTestFiles().flatMap((file) => readTitles(file, readSource(file)));
const named = titles.flatMap((title) => listNamed(title, areaNames));
const states = new Map(requirements.map((requirement) => [requirement.id, getState(requirement)]));

const problems = [
  ...findListProblems(),
  ...findUnknownTags(),
  ...findMissingProofs(),
  ...findTestsThatCannotFail(),
];
const text = formatDocument();
if (values.check) {
  const written = readIfExists(join(root, DOCUMENT));
  if (written !== text) {
    const what = written === undefined ? "is not there" : "is not what the titles of the tests say";
    problems.push(`${DOCUMENT} ${what}. What to do: npm run conformance, and commit the file.`);
  }
} else {
  writeFileSync(join(root, DOCUMENT), text);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Lists paths below the root with forward slashes, in a deterministic order. */
function listTestFiles() {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.[cm]?ts$/.test(file))
    .map((file) => `test/${file.replaceAll("\\", "/")}`)
    .sort();
}

/** Parses a file below the root; undefined if it is not there. */
function readSource(file) {
  if (!sources.has(file)) {
    const text = readIfExists(join(root, file));
    sources.set(
      file,
      text === undefined ? undefined : ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true),
    );
  }
  return sources.get(file);
}

function getState(requirement) {
  const { id, issues, needsNoTest } = requirement;
  const parts = listParts(id);
  if (isProven(requirement)) return "proven";
  if (parts.length > 0 && parts.every(isProven)) return "proven";
  if (needsNoTest !== undefined) return "needs none";
  if (listClauses(requirement).some(({ proofs, gap }) => proofs.length > 0 || gap !== undefined)) {
    return "in part";
  }
  return issues.some((issue) => issuesUnderWay.includes(issue)) ? "not yet" : "another area's";
}

function isProven(requirement) {
  if (requirement.clauses === undefined) return listProofs(requirement.id).length > 0;
  return listClauses(requirement).every(({ proofs }) => proofs.length > 0);
}

function listProofs(id) {
  return named.filter((each) => each.id === id);
}

/** Lists the clauses of a requirement with the tests that name each; none for a requirement of one clause. */
function listClauses({ id, clauses = [], gaps = {} }) {
  const tests = listProofs(id);
  return clauses.map((text, index) => ({
    number: index + 1,
    text,
    gap: gaps[index + 1],
    proofs: tests.filter((test) => test.clauses.includes(index + 1)),
  }));
}

/** A requirement with parts is proven by them: PHI-13 by PHI-13a to PHI-13m. */
function listParts(id) {
  return requirements.filter((other) => other.id.startsWith(id) && /^[a-z]$/.test(other.id.slice(id.length)));
}

function findListProblems() {
  const twice = requirements
    .map(({ id }) => id)
    .filter((id, index, ids) => ids.indexOf(id) !== index)
    .map((id) => `${REQUIREMENTS} has ${id} twice. What to do: remove one.`);
  const homeless = requirements
    .filter(({ id }) => !areaNames.includes(readArea(id)))
    .map(({ id }) => `${REQUIREMENTS}: ${id} is of no area. What to do: add its area, or mend the id.`);
  const strangers = finishedAreas
    .filter((area) => !areaNames.includes(area))
    .map(
      (area) => `${FINISHED} names ${area}, which is no area. What to do: one of ${areaNames.join(", ")}.`,
    );
  return [...twice, ...homeless, ...strangers, ...requirements.flatMap(findClauseProblems)];
}

function findClauseProblems({ id, clauses, gaps = {} }) {
  const place = `${REQUIREMENTS}: ${id}`;
  const single = clauses !== undefined && clauses.length < 2;
  return [
    ...(single ? [`${place} has fewer than two clauses. What to do: take \`clauses\` away.`] : []),
    ...Object.keys(gaps)
      .filter((number) => clauses?.[number - 1] === undefined)
      .map(
        (number) => `${place} has a gap for clause ${number}, which it does not have. What to do: remove it.`,
      ),
    ...listClauses({ id, clauses, gaps })
      .filter(({ gap, proofs }) => gap !== undefined && proofs.length > 0)
      .map(
        ({ number }) =>
          `${place} has a gap for clause ${number}, which has a test. What to do: remove the gap.`,
      ),
  ];
}

function findUnknownTags() {
  return named.flatMap(({ id, word, clauses, file, title }) => {
    const requirement = byId.get(id);
    const quoted = `${file} names ${word}, which is no`;
    if (requirement === undefined) {
      return [
        `${quoted} requirement: "${title}". What to do: mend the tag, or add the id to ${REQUIREMENTS}.`,
      ];
    }
    const isClause = (number) => requirement.clauses?.[number - 1] !== undefined;
    const names = word === id || (clauses.length > 0 && clauses.every(isClause));
    return names
      ? []
      : [
          `${quoted} clause of ${id}: "${title}". What to do: mend the number, or add the clause to ${REQUIREMENTS}.`,
        ];
  });
}

function findMissingProofs() {
  return requirements
    .filter(({ id }) => finishedAreas.includes(readArea(id)))
    .filter(({ id }) => !["proven", "needs none"].includes(states.get(id)))
    .flatMap((requirement) => {
      const { id, title, clauses } = requirement;
      if (clauses === undefined) return [formatMissing(id, title)];
      return listClauses(requirement)
        .filter(({ proofs, gap }) => proofs.length === 0 && gap === undefined)
        .map(({ number, text }) => formatMissing(`${id}.${number}`, `${title}: ${text}`));
    });
}

function formatMissing(word, what) {
  return `${word} (${what}) has no test, and its area is finished. What to do: put [${word}] into the title of the test that proves it, or take the area out of ${FINISHED}.`;
}

/** A title that names an id, and each test inside a describe that does, must reach an assertion. */
function findTestsThatCannotFail() {
  const { reachesAssertion } = createAssertionFinder(readSource);
  return titles
    .filter((title) => namesSomething(title) || (title.isTest && title.around.some(namesInside(title))))
    .filter(({ file, call }) => !reachesAssertion(file, call))
    .map(
      ({ file, title }) =>
        `${file}: "${title}" names a requirement and contains no assertion, so it cannot fail. What to do: assert what it claims, or take the tag away.`,
    );
}

function namesSomething(title) {
  return listNamed(title, areaNames).length > 0;
}

function namesInside({ file }) {
  return (title) => namesSomething({ file, title, around: [] });
}

function formatDocument() {
  const lines = [
    "# Conformance",
    "",
    "Which requirement is proven by which test. Written by `npm run conformance` from the titles of the tests; do not",
    "edit it. A title names the ids that its test proves. The requirements stand in `test/conformance/requirements.json`",
    "in short words, with the issues that they belong to, and with their clauses if they have several: `LOOP-27.2` is the",
    "second of `LOOP-27`. In an area of `test/conformance/finished.json` each clause has a test, or a gap with its reason.",
    "",
    "- **proven**: at least one test names it, or each of its clauses",
    "- **in part**: a clause has no test",
    `- **not yet**: it belongs to an issue under way (${issuesUnderWay.join(", ")})`,
    "- **another area's**: it belongs to an issue that is not under way, or to none",
    "- **needs none**: nothing to be tested, with the reason",
    "",
    "| area | requirements | clauses | proven | in part | not yet | another area's | needs none | finished |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ...areas.map(({ area, title }) =>
      formatSummaryRow(`${area}: ${title}`, listRequirementsOfArea(area), finishedAreas.includes(area)),
    ),
    formatSummaryRow("all", requirements, false),
  ];
  for (const { area, title } of areas) {
    lines.push("", `## ${area}: ${title}`, "", "| id | what | tests | state |", "| --- | --- | --- | --- |");
    lines.push(...listRequirementsOfArea(area).flatMap(formatRequirementRows));
  }
  return `${lines.join("\n")}\n`;
}

function listRequirementsOfArea(area) {
  return requirements.filter(({ id }) => id.startsWith(`${area}-`));
}

function formatSummaryRow(name, members, finished) {
  const count = (state) => members.filter(({ id }) => states.get(id) === state).length;
  const clauses = members.reduce((sum, { clauses: own }) => sum + (own?.length ?? 1), 0);
  const counts = ["proven", "in part", "not yet", "another area's", "needs none"].map(count);
  const cells = [formatCell(name), members.length, clauses, ...counts, finished ? "yes" : ""];
  return `| ${cells.join(" | ")} |`;
}

/** The row of a requirement, and one for each of its clauses. */
function formatRequirementRows(requirement) {
  const { id, title } = requirement;
  const plain = listProofs(id).filter(({ clauses }) => clauses.length === 0);
  const isByParts = listProofs(id).length === 0 && states.get(id) === "proven";
  const tests = isByParts ? "its parts" : formatTests(plain);
  return [
    formatRow([id, formatCell(title), tests, formatCell(formatState(requirement))]),
    ...listClauses(requirement).map(({ number, text, proofs, gap }) =>
      formatRow([
        `${id}.${number}`,
        formatCell(text),
        formatTests(proofs),
        formatCell(formatClauseState(proofs, gap)),
      ]),
    ),
  ];
}

function formatRow(cells) {
  return `| ${cells.join(" | ")} |`;
}

function formatState({ id, issues, needsNoTest }) {
  const state = states.get(id);
  if (state === "needs none") return `${state}: ${needsNoTest}`;
  if (state !== "another area's") return state;
  if (issues.length === 0) return `${state} (no issue yet)`;
  return `${state} (issue ${issues.join(", ")})`;
}

function formatClauseState(proofs, gap) {
  if (proofs.length > 0) return "proven";
  return gap === undefined ? "no test" : `gap: ${gap}`;
}

function formatTests(proofs) {
  const files = [...new Set(proofs.map(({ file }) => file))];
  return files
    .map((file) => {
      const titled = proofs
        .filter((proof) => proof.file === file)
        .map(({ readable }) => formatCell(readable));
      return `\`${file}\`: ${[...new Set(titled)].join("; ")}`;
    })
    .join("<br>");
}

function formatCell(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("|", "\\|").replaceAll("\n", " ");
}

function readIfExists(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
