// Writes the declaration files of the package: what its entry points reach, with names in place of repeated types.
//
// The compiler writes the type of a zod schema at every place that uses the schema. An expanded type that is also the type of
// an exported schema becomes `typeof` of that schema: the same type, by its name.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { keepReachable } from "./reachable-declarations.mjs";

/** The folder of the compiler's own declarations, which the package does not contain. */
const COMPILED = join("dist", ".declarations");

/** The shortest type that is named, in characters without white space: a shorter one reads well as it is. */
const MIN_TYPE_CHARS = 60;

/** Writes the declarations of `dist`, and removes all others there. */
export function writeDeclarations(root) {
  const entries = listEntryPoints(root);
  const files = listPublicDeclarations(root, entries);
  const names = findNamedTypes(files);
  const named = [...files.values()].map((file) => [file.name, nameTypes(file, names)]);
  const kept = keepReachable(new Map(named), entries);
  for (const [name, text] of kept) {
    const target = join(root, "dist", name);
    if (existsSync(target) && readFileSync(target, "utf8") === text) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  for (const name of readdirSync(join(root, "dist"), { recursive: true })) {
    if (name.endsWith(".d.ts") && !name.startsWith(".declarations") && !kept.has(name))
      rmSync(join(root, "dist", name));
  }
}

function listEntryPoints(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(exports).flatMap(({ types }) =>
    types === undefined ? [] : [relative("dist", join(types))],
  );
}

/** Reads the declarations of the entry points, and all that they import, by their names in `dist`. */
function listPublicDeclarations(root, entries) {
  const files = new Map();
  const queue = [...entries];
  for (const name of queue) {
    if (files.has(name)) continue;
    const text = readFileSync(join(root, COMPILED, name), "utf8");
    files.set(name, { name, text, source: ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true) });
    // Statements, and `import("…")` in types.
    for (const [, path] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)\.(?:js|ts)"/g))
      queue.push(join(dirname(name), `${path}.d.ts`));
  }
  return files;
}

/** Finds the types of exported constants: the first constant of a type names it. */
function findNamedTypes(files) {
  const names = new Map();
  for (const { name: file, source } of files.values()) {
    for (const { name, type } of listExportedConstants(source)) {
      const key = normalizeType(type);
      if (key.length >= MIN_TYPE_CHARS && !names.has(key)) names.set(key, { file, name: name.text, type });
    }
  }
  return names;
}

function listExportedConstants(source) {
  return source.statements
    .filter((statement) => ts.isVariableStatement(statement) && isExported(statement))
    .flatMap(({ declarationList }) => declarationList.declarations)
    .filter(({ name, type }) => ts.isIdentifier(name) && type !== undefined);
}

function isExported({ modifiers = [] }) {
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function normalizeType(node) {
  return node
    .getText()
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, "");
}

/** Replaces every type that has a name elsewhere. */
function nameTypes({ name: file, text, source }, names) {
  const taken = listNames(source);
  const imports = new Map();
  const edits = [];
  visit(source);
  let result = text;
  for (const { from, to, written } of edits.reverse())
    result = result.slice(0, from) + written + result.slice(to);
  const added = [...imports].map(
    ([path, found]) => `import type { ${[...found].sort().join(", ")} } from "${path}";\n`,
  );
  return added.sort().join("") + result;

  function visit(node) {
    const found = ts.isTypeNode(node) ? names.get(normalizeType(node)) : undefined;
    if (found === undefined || found.type === node) ts.forEachChild(node, visit);
    else edits.push({ from: node.getStart(), to: node.getEnd(), written: `typeof ${refer(found)}` });
  }

  function refer(found) {
    if (found.file === file) return found.name;
    const path = toModulePath(dirname(file), found.file);
    const isImported = imports.get(path)?.has(found.name) === true;
    if (!isImported && taken.has(found.name)) return `import("${path}").${found.name}`;
    taken.add(found.name);
    imports.set(path, (imports.get(path) ?? new Set()).add(found.name));
    return found.name;
  }
}

/** Lists all identifiers of a file: an import must not be named like one of them. */
function listNames(source) {
  const found = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function toModulePath(folder, file) {
  const path = relative(folder, file).replace(/\.d\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
