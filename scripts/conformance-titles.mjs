// Reads which requirements and clauses the titles of the tests name. Part of conformance.mjs.
import ts from "typescript";

/** `LOOP-27`, its second clause `LOOP-27.2`, and its first three `LOOP-27.1-3`. */
const TAG = /^(([A-Z]+)-\d+[a-z]?)(?:\.(\d+)(?:-(\d+))?)?$/;
/** `declare` is what a file calls the one of `test` and `thoroughTest` that a case is declared with. */
const TESTS = ["test", "it", "thoroughTest", "testIf", "declare"];
const GROUPS = ["describe", "suite", "thoroughDescribe", "describeIf"];
const NON_PROOF_MODIFIERS = ["skip", "todo", "fails"];

export function readArea(id) {
  return id.match(TAG)?.[2];
}

/** Collects the titles of tests in source order, each after the titles of the enclosing describes. */
export function readTitles(file, source) {
  const found = [];
  const visit = (node, around) => {
    let inside = around;
    if (ts.isCallExpression(node) && isTitled(node.expression)) {
      if (NON_PROOF_MODIFIERS.some((name) => listModifiers(node.expression).includes(name))) return;
      const title = readTitle(node.arguments[0]);
      if (title !== undefined) {
        inside = [...around, title];
        found.push({ file, title, around, isTest: TESTS.includes(readName(node.expression)), call: node });
      }
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, []);
  return found;
}

/** `test(...)`, `test.concurrent(...)`, `test.each(...)(...)`: the call whose first argument is the title. */
function isTitled(callee) {
  return [...TESTS, ...GROUPS].includes(readName(callee));
}

function readName(callee) {
  let inner = callee;
  while (ts.isPropertyAccessExpression(inner) || ts.isCallExpression(inner)) inner = inner.expression;
  return ts.isIdentifier(inner) ? inner.text : undefined;
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

/** Lists what a title names: an entry for each id, with the numbers of its clauses; none for a plain id. */
export function listNamed({ file, title, around }, areaNames) {
  const readable = [...around, title].map((part) => stripTags(part, areaNames)).join(" › ");
  return parseTags(title, areaNames).flatMap(({ words }) =>
    words.map((word) => ({ ...parseTag(word), file, title, readable })),
  );
}

function parseTag(word) {
  const [, id, , first, last = first] = word.match(TAG);
  if (first === undefined) return { id, word, clauses: [] };
  const length = Math.max(Number(last) - Number(first) + 1, 0);
  return { id, word, clauses: Array.from({ length }, (_, index) => Number(first) + index) };
}

/** Finds the brackets of a title that contain ids: at least one word has the form of an area's id. */
function parseTags(title, areaNames) {
  return [...title.matchAll(/[[(]([^[\]()]*)[\])]/g)].flatMap(([whole, inner]) => {
    const tags = inner
      .split(",")
      .map((word) => word.trim())
      .filter((word) => TAG.test(word));
    // Square brackets contain only ids; (UTF-8) may be an ordinary word.
    const words = whole.startsWith("[") ? tags : tags.filter((word) => areaNames.includes(readArea(word)));
    return words.length === 0 ? [] : [{ whole, words }];
  });
}

function stripTags(title, areaNames) {
  return parseTags(title, areaNames)
    .reduce((rest, { whole }) => rest.replace(whole, ""), title)
    .replace(/\s+/g, " ")
    .trim();
}
