// Writes docs/conformance.md: which test proves which requirement, derived from the titles of the tests.
//
//   node scripts/conformance.mjs            writes the document
//   node scripts/conformance.mjs --check    fails when the document is out of date
//
// Both fail when a title contains an unknown id, and when a requirement of a finished area has no test.
// `--root FOLDER` reads another folder with the same structure.
//
// A title contains the ids that its test proves in brackets at any position: "... [LOOP-01, PHI-13a]", "... (OVF-02)".
// The script reads the sources without running them, so that it takes a second: only the fixed parts of titles that are
// built at run time count. A test or describe that is skipped, planned or expected to fail proves nothing.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";

const REQUIREMENTS = "test/conformance/requirements.json";
const FINISHED = "test/conformance/finished.json";
const DOCUMENT = "docs/conformance.md";

const ID = /^([A-Z]+)-\d+[a-z]?$/;
const TITLED_FUNCTIONS = [
  "test",
  "it",
  "describe",
  "suite",
  "thoroughTest",
  "thoroughDescribe",
  "testIf",
  "describeIf",
];
const NON_PROOF_MODIFIERS = ["skip", "todo", "fails"];

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, root: { type: "string" } },
});
const root = values.root ?? dirname(dirname(fileURLToPath(import.meta.url)));

const { areas, requirements } = JSON.parse(readFileSync(join(root, REQUIREMENTS), "utf8"));
const { issuesUnderWay, finishedAreas } = JSON.parse(readFileSync(join(root, FINISHED), "utf8"));
const areaNames = areas.map(({ area }) => area);
const known = new Set(requirements.map(({ id }) => id));

const titles = listTestFiles().flatMap(readTitles);
const proofs = groupById(titles.flatMap(listIds));
const states = new Map(requirements.map((requirement) => [requirement.id, getState(requirement)]));

const problems = [...findListProblems(), ...findUnknownIds(), ...findMissingProofs()];
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

/** Collects the titles of tests in source order, each after the titles of the enclosing describes. */
function readTitles(file) {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node, around) => {
    let inside = around;
    if (ts.isCallExpression(node) && isTitled(node.expression)) {
      if (NON_PROOF_MODIFIERS.some((name) => listModifiers(node.expression).includes(name))) return;
      const title = readTitle(node.arguments[0]);
      if (title !== undefined) {
        inside = [...around, title];
        found.push({ file, title, around });
      }
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, []);
  return found;
}

/** `test(...)`, `test.concurrent(...)`, `test.each(...)(...)`: the call whose first argument is the title. */
function isTitled(callee) {
  let inner = callee;
  while (ts.isPropertyAccessExpression(inner) || ts.isCallExpression(inner)) inner = inner.expression;
  return ts.isIdentifier(inner) && TITLED_FUNCTIONS.includes(inner.text);
}

function listModifiers(callee) {
  if (ts.isCallExpression(callee)) return listModifiers(callee.expression);
  if (ts.isPropertyAccessExpression(callee)) return [...listModifiers(callee.expression), callee.name.text];
  return [];
}

function readTitle(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return `${readTitle(node.left) ?? "…"}${readTitle(node.right) ?? "…"}`;
  }
  return undefined;
}

/** Finds the brackets of a title that contain ids: at least one word has the form of an area's id. */
function parseTags(title) {
  return [...title.matchAll(/[[(]([^[\]()]*)[\])]/g)].flatMap(([whole, inner]) => {
    const ids = inner
      .split(",")
      .map((word) => word.trim())
      .filter((word) => ID.test(word));
    // Square brackets contain only ids; (UTF-8) may be an ordinary word.
    const named = whole.startsWith("[") ? ids : ids.filter((id) => areaNames.includes(id.match(ID)[1]));
    return named.length === 0 ? [] : [{ whole, ids: named }];
  });
}

function listIds({ file, title, around }) {
  const readable = [...around, title].map(stripTags).join(" › ");
  return parseTags(title).flatMap(({ ids }) => ids.map((id) => ({ id, file, title, readable })));
}

function stripTags(title) {
  return parseTags(title)
    .reduce((rest, { whole }) => rest.replace(whole, ""), title)
    .replace(/\s+/g, " ")
    .trim();
}

/** Node 20 has no `Map.groupBy`. */
function groupById(entries) {
  const groups = new Map();
  for (const entry of entries) groups.set(entry.id, [...(groups.get(entry.id) ?? []), entry]);
  return groups;
}

function getState({ id, issues, needsNoTest }) {
  if (proofs.has(id)) return "proven";
  const parts = listParts(id);
  if (parts.length > 0 && parts.every((part) => proofs.has(part))) return "proven";
  if (needsNoTest !== undefined) return "needs none";
  return issues.some((issue) => issuesUnderWay.includes(issue)) ? "not yet" : "another area's";
}

/** A requirement with parts is proven by them: PHI-13 by PHI-13a to PHI-13m. */
function listParts(id) {
  return requirements
    .map((requirement) => requirement.id)
    .filter((other) => other.startsWith(id) && /^[a-z]$/.test(other.slice(id.length)));
}

function findListProblems() {
  const twice = requirements
    .map(({ id }) => id)
    .filter((id, index, ids) => ids.indexOf(id) !== index)
    .map((id) => `${REQUIREMENTS} has ${id} twice. What to do: remove one.`);
  const homeless = requirements
    .filter(({ id }) => !areaNames.includes(id.match(ID)?.[1]))
    .map(({ id }) => `${REQUIREMENTS}: ${id} is of no area. What to do: add its area, or mend the id.`);
  const strangers = finishedAreas
    .filter((area) => !areaNames.includes(area))
    .map(
      (area) => `${FINISHED} names ${area}, which is no area. What to do: one of ${areaNames.join(", ")}.`,
    );
  return [...twice, ...homeless, ...strangers];
}

function findUnknownIds() {
  return [...proofs.values()]
    .flat()
    .filter(({ id }) => !known.has(id))
    .map(
      ({ id, file, title }) =>
        `${file} names ${id}, which is no requirement: "${title}". What to do: mend the tag, or add the id to ${REQUIREMENTS}.`,
    );
}

function findMissingProofs() {
  return requirements
    .filter(({ id }) => finishedAreas.includes(id.match(ID)?.[1]))
    .filter(({ id }) => !["proven", "needs none"].includes(states.get(id)))
    .map(
      ({ id, title }) =>
        `${id} (${title}) has no test, and its area is finished. What to do: put [${id}] into the title of the test that proves it, or take the area out of ${FINISHED}.`,
    );
}

function formatDocument() {
  const lines = [
    "# Conformance",
    "",
    "Which requirement is proven by which test. Written by `npm run conformance` from the titles of the tests; do not",
    "edit it. A title names the ids that its test proves. The requirements stand in `test/conformance/requirements.json`",
    "in short words, with the issues that they belong to; an area in `test/conformance/finished.json` may have no gap.",
    "",
    "- **proven**: at least one test names it",
    `- **not yet**: it belongs to an issue under way (${issuesUnderWay.join(", ")})`,
    "- **another area's**: it belongs to an issue that is not under way, or to none",
    "- **needs none**: nothing to be tested, with the reason",
    "",
    "| area | requirements | proven | not yet | another area's | needs none | finished |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ...areas.map(({ area, title }) =>
      formatSummaryRow(`${area}: ${title}`, listRequirementsOfArea(area), finishedAreas.includes(area)),
    ),
    formatSummaryRow("all", requirements, false),
  ];
  for (const { area, title } of areas) {
    lines.push("", `## ${area}: ${title}`, "", "| id | what | tests | state |", "| --- | --- | --- | --- |");
    lines.push(...listRequirementsOfArea(area).map(formatRequirementRow));
  }
  return `${lines.join("\n")}\n`;
}

function listRequirementsOfArea(area) {
  return requirements.filter(({ id }) => id.startsWith(`${area}-`));
}

function formatSummaryRow(name, members, finished) {
  const count = (state) => members.filter(({ id }) => states.get(id) === state).length;
  const counts = ["proven", "not yet", "another area's", "needs none"].map(count);
  return `| ${formatCell(name)} | ${members.length} | ${counts.join(" | ")} | ${finished ? "yes" : ""} |`;
}

function formatRequirementRow(requirement) {
  const { id, title } = requirement;
  return `| ${id} | ${formatCell(title)} | ${formatTestsCell(id)} | ${formatCell(formatState(requirement))} |`;
}

function formatState({ id, issues, needsNoTest }) {
  const state = states.get(id);
  if (state === "needs none") return `${state}: ${needsNoTest}`;
  if (state !== "another area's") return state;
  if (issues.length === 0) return `${state} (no issue yet)`;
  return `${state} (issue ${issues.join(", ")})`;
}

function formatTestsCell(id) {
  const found = proofs.get(id) ?? [];
  if (found.length === 0 && states.get(id) === "proven") return "its parts";
  const files = [...new Set(found.map(({ file }) => file))];
  return files
    .map((file) => {
      const named = found.filter((proof) => proof.file === file).map(({ readable }) => formatCell(readable));
      return `\`${file}\`: ${[...new Set(named)].join("; ")}`;
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
