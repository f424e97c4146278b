// Writes docs/api: the reference of everything that the package exports, generated from the docstrings in src.
//
//   node scripts/api-reference.mjs            writes the pages
//   node scripts/api-reference.mjs --check    fails when a page is not what the docstrings say
//
// Both fail when a public symbol has no sentence, and when a signature names a type that its entry point does not export.
// The pages contain no line numbers, so that only changes of the public surface and of its docstrings change them.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Application, Converter } from "typedoc";
import { findMissingExports, INTERNAL_TYPES } from "./api-reference-exports.mjs";
import { polishPages } from "./api-reference-pages.mjs";
import { completeSentences, findProblems } from "./api-reference-sentences.mjs";
import { nameSchemaTypes } from "./api-reference-types.mjs";

const DOCUMENTS = "docs/api";
const WHAT_TO_DO = "What to do: npm run api-reference, and commit the files.";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const output = mkdtempSync(join(tmpdir(), "holdfast-api-"));
try {
  const { pages, problems } = await generatePages();
  if (values.check) problems.push(...findStalePages(pages));
  else writePages(pages);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(output, { recursive: true, force: true });
}

async function generatePages() {
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: listEntryPoints(),
    tsconfig: "tsconfig.build.json",
    // `npm run types` checks them.
    skipErrorChecking: true,
    logLevel: "Warn",
    validation: { notExported: true, notDocumented: false, invalidLink: true },
    intentionallyNotExported: INTERNAL_TYPES,
    treatWarningsAsErrors: true,
    readme: "none",
    router: "module",
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    useHTMLAnchors: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    pageTitleTemplates: { index: "API reference", module: "Entry point holdfast/{name}" },
    tableColumnSettings: { hideModifiers: true },
    indexFormat: "table",
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    typeDeclarationFormat: "table",
    propertyMembersFormat: "table",
    outputs: [{ name: "markdown", path: output }],
  });
  nameSchemaTypes(app);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => completeSentences(project));
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc could not read the entry points; see the errors above");
  app.validate(project);
  const problems = [...findProblems(project, root), ...findMissingExports(project)];
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error(
      "TypeDoc could not write the reference; see its warnings above. What to do about a type that is not included in the " +
        "documentation: export it from the entry point whose signature names it",
    );
  }
  return { pages: polishPages(readPages(output)), problems };
}

/**
 * Lists the sources of the exports of package.json. A symbol is described where it is met first, and the pages after that
 * refer to it: schemas and tools belong to their own pages.
 */
function listEntryPoints() {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const sources = Object.values(exports)
    .filter((each) => typeof each === "object")
    .map(({ default: built }) => built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts"));
  const first = ["src/schema/index.ts", "src/tools/tool.ts"];
  return [...new Set([...first.filter((file) => sources.includes(file)), ...sources])];
}

/** Reads the pages of a folder, by their names in a deterministic order. */
function readPages(folder) {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
    name.replaceAll("\\", "/"),
  );
  const files = names.filter((name) => name.endsWith(".md")).sort();
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function writePages(pages) {
  rmSync(DOCUMENTS, { recursive: true, force: true });
  for (const [name, text] of pages) {
    mkdirSync(dirname(join(DOCUMENTS, name)), { recursive: true });
    writeFileSync(join(DOCUMENTS, name), text);
  }
}

function findStalePages(pages) {
  const written = readPages(DOCUMENTS);
  return [...new Set([...pages.keys(), ...written.keys()])].flatMap((name) => {
    if (written.get(name) === pages.get(name)) return [];
    if (!written.has(name)) return [`${DOCUMENTS}/${name} is not there. ${WHAT_TO_DO}`];
    if (!pages.has(name)) return [`${DOCUMENTS}/${name} belongs to no entry point. ${WHAT_TO_DO}`];
    return [`${DOCUMENTS}/${name} is not what the docstrings say. ${WHAT_TO_DO}`];
  });
}
