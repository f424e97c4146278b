// Leaves of declaration files what the entry points reach: a user sees no other declaration.
import { dirname, join } from "node:path";
import ts from "typescript";

/**
 * @param texts - The declaration files by name.
 * @param entries - The names of the files whose exports users import.
 * @returns The files with what is left of them, without those of which nothing is left.
 */
export function keepReachable(texts, entries) {
  const modules = new Map([...texts].map(([name, text]) => [name, readModule(name, text)]));
  const reached = new Set();
  const queue = [];
  const reach = (statement) => {
    if (statement === undefined || reached.has(statement)) return;
    reached.add(statement);
    queue.push(statement);
  };
  for (const module of modules.values()) module.statements.filter(hasEffect).forEach(reach);
  for (const name of entries) reachExport(name, "*");
  while (queue.length > 0) reachReferences(queue.pop());
  const kept = [...modules].map(([name, module]) => [name, writeReached(module)]);
  return new Map(kept.filter(([name, text]) => entries.includes(name) || text !== undefined));

  /** @param wanted - The exported name, or `*` for all. */
  function reachExport(file, wanted) {
    const module = modules.get(file);
    if (module === undefined) return;
    if (wanted === "*") module.statements.forEach(reach);
    else if (module.declarations.has(wanted)) module.declarations.get(wanted).forEach(reach);
    else module.statements.filter(ts.isExportDeclaration).forEach(reach);
  }

  function reachReferences(statement) {
    const module = modules.get(statement.getSourceFile().fileName);
    const visit = (node) => {
      if (ts.isIdentifier(node)) {
        module.declarations.get(node.text)?.forEach(reach);
        const imported = module.imports.get(node.text);
        if (imported !== undefined) reachImport(module, imported.path, imported.name);
      }
      if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
        reachImport(module, node.argument.literal.text, node.qualifier?.getText().split(".")[0] ?? "*");
      ts.forEachChild(node, visit);
    };
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) visit(statement);
    else if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause))
      reachImport(module, statement.moduleSpecifier.text, "*");
    else
      for (const { propertyName, name } of statement.exportClause.elements)
        reachImport(module, statement.moduleSpecifier.text, (propertyName ?? name).text);
  }

  function reachImport(module, path, name) {
    if (path.startsWith(".")) reachExport(resolve(module.name, path), name);
  }

  function writeReached({ source, text, statements, imports }) {
    const left = statements.filter((statement) => reached.has(statement));
    if (!left.some((statement) => !isEmptyExport(statement))) return undefined;
    const words = new Set(left.flatMap((statement) => statement.getText().match(/[\w$]+/g) ?? []));
    const lines = writeImports([...imports].filter(([name]) => words.has(name)));
    const first = source.statements.find(ts.isImportDeclaration);
    const head = text.slice(0, first === undefined ? 0 : first.getStart());
    const body = left.map((statement) => statement.getFullText().replace(/^\n+/, "").trimEnd());
    return `${head}${[...lines, ...body].join("\n")}\n`;
  }
}

function readModule(name, text) {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const statements = source.statements.filter((one) => !ts.isImportDeclaration(one));
  const declarations = new Map();
  for (const statement of statements)
    for (const declared of listDeclaredNames(statement))
      declarations.set(declared, [...(declarations.get(declared) ?? []), statement]);
  return { name, text, source, statements, declarations, imports: readImports(source) };
}

/** Lists the imported names of a file, with the path and the name there: `*` for the whole module. */
function readImports(source) {
  const imports = new Map();
  for (const { importClause, moduleSpecifier } of source.statements.filter(ts.isImportDeclaration)) {
    const path = moduleSpecifier.text;
    const isType = importClause?.isTypeOnly === true;
    const add = (local, name) => imports.set(local, { path, name, isType });
    if (importClause?.name !== undefined) add(importClause.name.text, "default");
    const bindings = importClause?.namedBindings;
    if (bindings === undefined) continue;
    if (ts.isNamespaceImport(bindings)) add(bindings.name.text, "*");
    else for (const one of bindings.elements) add(one.name.text, (one.propertyName ?? one.name).text);
  }
  return imports;
}

/** Writes one statement for all names of a path. */
function writeImports(imports) {
  const lines = new Map();
  for (const [local, { path, name, isType }] of imports) {
    const start = `import ${isType ? "type " : ""}`;
    const key = name === "*" ? `${start}* as ${local} from "${path}";` : `${start}{ NAMES } from "${path}";`;
    lines.set(key, [...(lines.get(key) ?? []), name === local ? name : `${name} as ${local}`]);
  }
  return [...lines].map(([line, names]) => line.replace("NAMES", names.join(", ")));
}

function listDeclaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return statement.name === undefined ? [] : [statement.name.text];
}

/** Augmentations of other modules, and the mark of a module without exports. */
function hasEffect(statement) {
  return (ts.isModuleDeclaration(statement) && !isPlainNamespace(statement)) || isEmptyExport(statement);
}

function isPlainNamespace({ name, flags }) {
  return ts.isIdentifier(name) && (flags & ts.NodeFlags.GlobalAugmentation) === 0;
}

function isEmptyExport(statement) {
  return (
    ts.isExportDeclaration(statement) &&
    statement.moduleSpecifier === undefined &&
    statement.exportClause?.elements.length === 0
  );
}

function resolve(from, path) {
  return join(dirname(from), path).replace(/\.(js|ts)$/, ".d.ts");
}
