// Refuses names of functions that say nothing about what they do, and the private words that the code once had.
//
//   node scripts/check-names.mjs [FOLDER]        exits with 1 and names each of them; FOLDER: src
//
// A function is named by a verb (docs/contributing/README.md). Checked are the top-level functions of src, and its types
// and their fields for private words.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Participles and particles without the ending `ed`: `told()` says that something was told, not what happens. */
const NO_VERBS = new Set(
  "told said shown kept made given taken sent begun done gone held left lost known found meant seen written behind due beyond within without about after before instead beside again".split(
    " ",
  ),
);

/** Verbs that end like a participle. */
const VERBS_IN_ED = new Set(["embed", "need", "feed", "seed", "shed", "proceed", "exceed", "speed"]);

/** Words of the code's own making, and what the field says. */
const PRIVATE_WORDS = {
  bequeath: "detachForks",
  heirs: "detached forks",
  setback: "StepFailure",
  cargo: "outbox",
  patience: "deadline",
  patiently: "retryWrite",
  doubts: "warnings",
  vault: "EncryptedColumns",
  leash: "exitWithParent",
  heard: "handlers",
  wordless: "redacted",
  spot: "BranchPosition",
  formation: "SessionOrigin",
  reissue: "redispatch",
  unload: "takeOutbox",
  weigh: "prepareJudge",
  recognition: "dead-worker detection",
  renewed: "IdRemapper",
  road: "Route or OutputMode",
  desk: "ReplySelector",
  rewinding: "RewindResult",
  prun: "prune",
};

/** Names that requirements quote as they are. */
const QUOTED = new Set(["PrunApplied"]);

const folder = process.argv[2] ?? join(root, "src");
const problems = [];
for (const file of readdirSync(folder, { recursive: true })) {
  if (file.endsWith(".ts")) checkFile(join(folder, file));
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) console.error(`${problems.length} names; see docs/contributing/README.md, "Names"`);
process.exit(problems.length === 0 ? 0 : 1);

function checkFile(file) {
  const source = ts.createSourceFile(
    relative(root, file),
    readFileSync(file, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  for (const statement of source.statements) {
    for (const name of listFunctions(statement)) checkFunction(source, name);
    for (const name of listTypes(statement)) checkWords(source, name);
    for (const name of listFields(statement)) checkWords(source, name);
  }
}

/** The names of functions that a statement declares, and of a class's methods. */
function listFunctions(statement) {
  if (ts.isFunctionDeclaration(statement)) return statement.name === undefined ? [] : [statement.name];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations
      .filter(({ name, initializer }) => ts.isIdentifier(name) && isFunction(initializer))
      .map(({ name }) => name);
  }
  return [];
}

function isFunction(node) {
  return node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
}

function listTypes(statement) {
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name] : [];
}

/** The names of the fields that a type or a class declares, at any depth. */
function listFields(statement) {
  if (listTypes(statement).length === 0) return [];
  const names = [];
  const visit = (node) => {
    const isField =
      ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node);
    if (isField && (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name))) names.push(node.name);
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return names;
}

function checkFunction(source, name) {
  const [first] = splitWords(name.text);
  const isParticiple = first.endsWith("ed") && !VERBS_IN_ED.has(first);
  if (isParticiple || NO_VERBS.has(first)) {
    report(source, name, "is no verb: a function is named after what it does");
  }
  checkWords(source, name);
}

function checkWords(source, name) {
  if (QUOTED.has(name.text)) return;
  for (const word of splitWords(name.text)) {
    if (Object.hasOwn(PRIVATE_WORDS, word)) {
      report(source, name, `has the private word "${word}": write ${PRIVATE_WORDS[word]}`);
    }
  }
}

/** `getTurnId` to `get`, `turn`, `id`. */
function splitWords(name) {
  return name
    .replace(/^#/, "")
    .split(/(?=[A-Z])|_/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

function report(source, name, what) {
  const { line } = source.getLineAndCharacterOfPosition(name.getStart(source));
  problems.push(`${source.fileName}:${line + 1}: ${name.text} ${what}`);
}
