// Builds dist: compiled modules, declarations, and the workflow bundle that workers load.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { BUILD_STAMP, hashSources, listSourceFiles } from "./build-stamp.mjs";
import { BUNDLED_PACKAGES, BUNDLES, GRAMMARS } from "./bundled-packages.mjs";
import { writeDeclarations } from "./declarations.mjs";
import { removeBlanks } from "./remove-blanks.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

/** The options of esbuild for modules. */
const SHORT = {
  format: "esm",
  target: "es2022",
  legalComments: "none",
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 500,
};

const KEPT_NAMES = { keep_fnames: true, keep_classnames: true };

/**
 * The options of terser, which shortens code and names. Functions stay where they are and keep their names, as classes do,
 * because stack traces show them.
 */
const SHORT_NAMES = {
  module: true,
  ecma: 2022,
  compress: {
    ecma: 2022,
    passes: 2,
    module: true,
    toplevel: true,
    inline: 0,
    reduce_funcs: false,
    ...KEPT_NAMES,
  },
  mangle: { toplevel: true, module: true, ...KEPT_NAMES },
  format: { ecma: 2022, max_line_len: 500 },
};

/**
 * Leaves out the parser of YAML that the library of references brings along: its own parsers are off, because it gets documents
 * that are parsed already.
 */
const withoutYamlParser = {
  name: "without-yaml-parser",
  setup({ onLoad }) {
    onLoad({ filter: /json-schema-ref-parser.dist.lib.parsers.yaml\.js$/ }, () => ({
      contents: "export default {};",
    }));
  },
};

/** Shortens the names in the packages of the workflow bundle, whose own modules are short already. */
const SHORT_PACKAGES = {
  test: /node_modules.*\.js$/,
  loader: join(root, "scripts", "shorten-package.cjs"),
};

/** Files of dist that have no source of the same name. */
const GENERATED = ["bundled-licences.txt", "workflow-bundle.js"];

const hash = hashSources(root);
rmSync(BUILD_STAMP, { force: true });
removeOrphans();
compile();
await shortenModules();
writeDeclarations(root);
copyDataFiles();
if (existsSync("dist/apps/cli/main.js")) chmodSync("dist/apps/cli/main.js", 0o755);
await bundleWorkflows();
await bundleLibraries();
copyGrammars();
await describeCommandLine();
mkdirSync("dist", { recursive: true });
writeFileSync(BUILD_STAMP, hash);

function compile() {
  const tsc = join("node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { stdio: "inherit" });
  if (status !== 0) fail("the sources do not compile (tsc -p tsconfig.build.json); see the errors above");
}

/** Copies the TOML files that the sources read, and removes those whose source is gone. */
function copyDataFiles() {
  const isData = (file) => file.endsWith(".toml");
  for (const file of readdirSync("dist", { recursive: true }).filter(isData)) rmSync(join("dist", file));
  for (const file of listSourceFiles(root).filter(isData))
    cpSync(file, join("dist", file.slice("src/".length)), { recursive: true });
}

/**
 * Removes comments and blanks from the compiled modules, and shortens local names: the declarations and the sources have them
 * too. Lines stay short, so that a stack trace points at a few statements. A module of types alone is removed: nothing imports it.
 */
async function shortenModules() {
  for (const file of readdirSync("dist", { recursive: true })) {
    if (!file.endsWith(".js") || file === "workflow-bundle.js") continue;
    const code = readFileSync(join("dist", file), "utf8");
    const { code: withoutBlanks } = await transform(code, SHORT);
    const { code: short } = await minify(withoutBlanks, SHORT_NAMES);
    if (short === "") rmSync(join("dist", file));
    else if (short !== code) writeFileSync(join("dist", file), short);
  }
}

async function bundleWorkflows() {
  if (!existsSync("dist/workflows/index.js")) {
    console.error("build: no workflow bundle: src/workflows/index.ts does not exist");
    return;
  }
  const { bundleWorkflowCode, DefaultLogger } = await import("@temporalio/worker");
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, "dist", "workflows", "index.js"),
    payloadConverterPath: join(root, "dist", "workflows", "payload-converter.js"),
    failureConverterPath: join(root, "dist", "workflows", "failure-converter.js"),
    logger: new DefaultLogger("WARN"),
    // Numbers instead of paths, so that the code does not depend on folder names; a source map of lines, not of columns, which
    // names the modules, so that comments need not.
    webpackConfigHook: (config) => ({
      ...config,
      module: { ...config.module, rules: [...config.module.rules, SHORT_PACKAGES] },
      devtool: "inline-cheap-source-map",
      output: { ...config.output, pathinfo: false },
      optimization: {
        ...config.optimization,
        moduleIds: "deterministic",
        providedExports: true,
        usedExports: true,
        concatenateModules: true,
      },
    }),
  });
  writeFileSync("dist/workflow-bundle.js", removeBlanks(shortenSourceMap(code)));
}

/**
 * Removes the copies of the sources from the bundle's source map, and this machine's folder from their names. A worker reads
 * the map to name files and lines in stack traces.
 */
function shortenSourceMap(code) {
  const comment = /\/\/# sourceMappingURL=data:application\/json;[^,]*base64,(\S+)\s*$/.exec(code);
  if (comment === null) fail("the workflow bundle has no source map, which a worker requires");
  const map = JSON.parse(Buffer.from(comment[1], "base64").toString("utf8"));
  const sources = map.sources.map((source) => source.replace(`${root}/`, ""));
  const short = Buffer.from(JSON.stringify({ ...map, sources, sourcesContent: undefined }));
  return `${code.slice(0, comment.index)}//# sourceMappingURL=data:application/json;base64,${short.toString("base64")}\n`;
}

/** Replaces each module that re-exports a library with the library itself. */
async function bundleLibraries() {
  for (const [name, packages] of Object.entries(BUNDLES)) await bundleLibrary(name, packages);
  writeLicences(join("dist", "bundled-licences.txt"), BUNDLED_PACKAGES);
}

async function bundleLibrary(name, packages) {
  const { metafile } = await build({
    entryPoints: [join("src", `${name}.ts`)],
    outfile: join("dist", `${name}.js`),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    mainFields: ["module", "main"],
    // CommonJS modules in a bundle require Node's own modules, and libsql its native library.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    metafile: true,
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [withoutYamlParser],
  });
  const { code } = await minify(readFileSync(join("dist", `${name}.js`), "utf8"), SHORT_NAMES);
  writeFileSync(join("dist", `${name}.js`), code);
  const found = new Set(
    Object.keys(metafile.inputs).flatMap(
      (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    ),
  );
  const unexpected = [...found].filter((one) => !packages.includes(one));
  const missing = packages.filter((one) => !found.has(one));
  if (unexpected.length + missing.length > 0)
    fail(
      `scripts/bundled-packages.mjs lists other packages than the bundle of ${name} contains: it lacks ${unexpected.join(", ") || "none"}, and has ${missing.join(", ") || "none"} too many`,
    );
}

/** Copies the grammars of languages beside the module that loads them. */
function copyGrammars() {
  const folder = join("dist", "apps", "git", "map", "grammars");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, files] of Object.entries(GRAMMARS))
    for (const file of files) copyFileSync(join("node_modules", name, file), join(folder, file));
  writeLicences(join(folder, "licences.txt"), Object.keys(GRAMMARS));
}

/** Writes the licences of packages, each text once. */
function writeLicences(file, packages) {
  const texts = new Map();
  for (const one of packages) {
    const text = readLicence(one);
    texts.set(text, [...(texts.get(text) ?? []), one]);
  }
  const licences = [...texts].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  writeFileSync(file, licences.join(`\n${"-".repeat(80)}\n\n`));
}

/** Reads the licence of a package; one that comes without its text has it in scripts/licences. Apache's is Holdfast's own too. */
function readLicence(name) {
  const folder = join("node_modules", name);
  const { license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(\.|$)/i.test(one));
  if (license === "Apache-2.0") return "Apache License, Version 2.0: see the file LICENSE of this package.\n";
  return readFileSync(
    file === undefined ? join("scripts", "licences", `${name.replace("/", "+")}.txt`) : join(folder, file),
    "utf8",
  );
}

/** Writes the tree of the commands, from which completions of shells are made, and the manual page. */
async function describeCommandLine() {
  const load = (name) => import(pathToFileURL(join(root, "dist", "apps", "cli", name)).href);
  const { ALL_COMMANDS, buildProgram } = await load("program.js");
  const { describeCommand } = await load("command-tree.js");
  const { formatManPage } = await load("man-page.js");
  const program = describeCommand(await buildProgram(process, ALL_COMMANDS, async () => undefined));
  rmSync(join("dist", "shell"), { recursive: true, force: true });
  mkdirSync(join("dist", "man"), { recursive: true });
  writeFileSync(join("dist", "commands.json"), JSON.stringify(program));
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  writeFileSync(join("dist", "man", "holdfast.1"), formatManPage(program, version));
}

/** Removes the output of deleted sources, which the compiler leaves and the bundler would include. */
function removeOrphans() {
  if (!existsSync("dist")) return;
  const sources = new Set(listSourceFiles(root).map((file) => file.replace(/^src.|\.ts$/g, "")));
  const written = readdirSync("dist", { recursive: true }).filter((file) =>
    /\.(d\.ts|js|map|txt)$/.test(file),
  );
  for (const file of written) {
    const source = file.replace(/^\.declarations./, "").replace(/\.(d\.ts|js)$/, "");
    if (!GENERATED.includes(file) && !sources.has(source)) {
      rmSync(join("dist", file));
      rmSync(join("dist", ".tsbuildinfo"), { force: true });
    }
  }
}

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}
