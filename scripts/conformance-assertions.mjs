// Tells whether a test can fail: whether its body reaches an assertion. Part of conformance.mjs.
//
// An assertion is a call of `expect(...).something`, `assert`, `must` or `alike`, or a property of fast-check
// (`fc.assert`). A body reaches it if it contains one, or names a function of the same file or of an imported file below
// `test` that reaches one. The rule reads the sources without running them: it finds the test that checks nothing, not
// the one whose check is weak.
import { dirname, posix } from "node:path";
import ts from "typescript";

const ASSERTING_FUNCTIONS = ["assert", "must", "alike", "expectTypeOf", "assertType"];
/** `expect.stringContaining` and its like describe a value, and fail nothing by themselves. */
const ASSERTING_MEMBERS = ["fail", "unreachable", "assert", "poll", "soft"];

/** `readSource(path)` parses a file below the root; it returns undefined if the file is not there. */
export function createAssertionFinder(readSource) {
  const reached = new Map();
  const scopes = new Map();

  return { reachesAssertion: (file, node) => search(file, node, new Set()) };

  function search(file, root, under) {
    let found = false;
    const visit = (node) => {
      if (found) return;
      found = isAssertion(node) || (isReference(node) && namedReaches(file, node.text, under));
      ts.forEachChild(node, visit);
    };
    visit(root);
    return found;
  }

  function namedReaches(file, name, under) {
    const key = `${file} ${name}`;
    if (reached.has(key)) return reached.get(key);
    if (under.has(key)) return false;
    under.add(key);
    const scope = readScope(file);
    const from = scope.imports.get(name);
    const result =
      (scope.functions.get(name) ?? []).some((node) => search(file, node, under)) ||
      (from !== undefined && exportReaches(from.file, from.name, under));
    // A negative answer inside a cycle holds only for this search.
    if (result) reached.set(key, result);
    return result;
  }

  function exportReaches(file, name, under) {
    const scope = readScope(file);
    if (name === "*") return [...scope.functions.keys()].some((each) => namedReaches(file, each, under));
    return (
      namedReaches(file, name, under) ||
      scope.starExports.some((target) => exportReaches(target, name, under))
    );
  }

  /** The functions that a file declares at any depth, by name, and what it imports from files below `test`. */
  function readScope(file) {
    const known = scopes.get(file);
    if (known !== undefined) return known;
    const scope = { functions: new Map(), imports: new Map(), starExports: [] };
    scopes.set(file, scope);
    const source = readSource(file);
    if (source === undefined) return scope;
    const visit = (node) => {
      if (isNamedFunction(node)) {
        const { text } = node.name;
        scope.functions.set(text, [...(scope.functions.get(text) ?? []), node]);
      } else if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
        addImports(file, node, scope);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return scope;
  }
}

function isAssertion(node) {
  if (!ts.isCallExpression(node)) return false;
  const callee = node.expression;
  if (ts.isIdentifier(callee)) {
    if (callee.text !== "expect") return ASSERTING_FUNCTIONS.includes(callee.text);
    // `expect(value)` without a matcher checks nothing.
    return ts.isPropertyAccessExpression(node.parent);
  }
  if (!ts.isPropertyAccessExpression(callee) || !ts.isIdentifier(callee.expression)) return false;
  const [object, member] = [callee.expression.text, callee.name.text];
  if (object === "expect") return ASSERTING_MEMBERS.includes(member);
  return object === "assert" || (object === "fc" && member === "assert");
}

/** A name that is used: not the member of `a.member`, nor the key of `{ key: value }`. */
function isReference(node) {
  if (!ts.isIdentifier(node)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  return parent.name !== node || ts.isShorthandPropertyAssignment(parent);
}

/** A function by its name: `function check() {…}` or `const check = () => …`. */
function isNamedFunction(node) {
  if (ts.isFunctionDeclaration(node)) return node.name !== undefined;
  if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || node.initializer === undefined)
    return false;
  return ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer);
}

function addImports(file, node, scope) {
  const specifier = node.moduleSpecifier;
  if (specifier === undefined || !specifier.text.startsWith(".")) return;
  const target = posix.join(dirname(file), specifier.text);
  if (!target.startsWith("test/")) return;
  if (ts.isExportDeclaration(node)) {
    if (node.exportClause === undefined) scope.starExports.push(target);
    else if (ts.isNamedExports(node.exportClause)) addNames(node.exportClause.elements, target, scope);
    return;
  }
  const { namedBindings } = node.importClause ?? {};
  if (namedBindings === undefined) return;
  if (ts.isNamespaceImport(namedBindings)) {
    scope.imports.set(namedBindings.name.text, { file: target, name: "*" });
  } else {
    addNames(namedBindings.elements, target, scope);
  }
}

function addNames(elements, target, scope) {
  for (const { name, propertyName } of elements) {
    scope.imports.set(name.text, { file: target, name: (propertyName ?? name).text });
  }
}
