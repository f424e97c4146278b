// Writes the bill of materials and the provenance of a release next to the packed package:
//
//   release/holdfast-VERSION.tgz
//   release/sbom.cdx.json           a bill of materials of the package and its dependencies (CycloneDX)
//   release/provenance.intoto.json  source, lock file and builder of that archive (in-toto, SLSA 1.0), unsigned
//
// The script downloads nothing: it derives the bill from the lock file. The publisher signs the statement, or replaces it
// with the registry's (`npm publish --provenance`).
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Builds the bill of the production dependencies in the lock file of a folder.
 *
 * npm's own `--omit dev` omits many packages that are not development dependencies. Therefore the bill starts with all
 * packages, and the lock file determines which ones are removed.
 */
export function buildBillOfMaterials(folder = root) {
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "library"];
  const bill = JSON.parse(run("npm", args, folder));
  const packages = new Set(listProductionPackages(folder));
  const components = bill.components.filter(({ purl }) => packages.has(normalizePurl(purl)));
  const refs = new Set([bill.metadata.component, ...components].map((component) => component["bom-ref"]));
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  return { ...bill, components, dependencies };
}

/** Lists the packages that an install brings along on any platform, as package URLs. */
export function listProductionPackages(folder = root) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const entries = Object.entries(packages).filter(([path, entry]) => path !== "" && entry.dev !== true);
  return entries.map(
    ([path, { version }]) =>
      `pkg:npm/${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`,
  );
}

/** Removes escapes and qualifiers from a package URL. */
export function normalizePurl(purl) {
  return decodeURIComponent(purl).replace(/\?.*$/, "");
}

/** Builds a statement about an archive: its source commit and its lock file. */
export function buildProvenance(archive, { commit, isClean, startedOn, finishedOn }) {
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lock = readFileSync(join(root, "package-lock.json"));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [
      { name: `pkg:npm/${name}@${version}`, digest: { sha512: hashBytes("sha512", readFileSync(archive)) } },
    ],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://docs.npmjs.com/cli/commands/npm-pack",
        externalParameters: { script: "build", package: name, version },
        internalParameters: { node: process.version, cleanSource: isClean },
        resolvedDependencies: [
          { uri: "git+source", digest: { gitCommit: commit } },
          { uri: "package-lock.json", digest: { sha256: hashBytes("sha256", lock) } },
        ],
      },
      runDetails: {
        builder: { id: `${name}/scripts/sbom.mjs` },
        metadata: { startedOn, finishedOn },
      },
    },
  };
}

/** Reads a folder's commit, and whether the folder has no other changes. */
export function readSourceState(folder = root) {
  const commit = run("git", ["rev-parse", "HEAD"], folder).trim();
  return { commit, isClean: run("git", ["status", "--porcelain"], folder).trim() === "" };
}

function hashBytes(algorithm, bytes) {
  return createHash(algorithm).update(bytes).digest("hex");
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = join(root, "release");
  mkdirSync(folder, { recursive: true });
  const startedOn = new Date().toISOString();
  const source = readSourceState();
  const packed = run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], root);
  const [{ filename }] = JSON.parse(packed);
  const statement = buildProvenance(join(folder, filename), {
    ...source,
    startedOn,
    finishedOn: new Date().toISOString(),
  });
  const bill = buildBillOfMaterials();
  writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
  writeFileSync(join(folder, "provenance.intoto.json"), `${JSON.stringify(statement, undefined, 2)}\n`);
  console.log(
    `release/${filename}, sbom.cdx.json (${bill.components.length} components), provenance.intoto.json`,
  );
}
