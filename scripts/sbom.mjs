// Builds the bill of materials and the provenance of a release: `npm run release`. Downloads nothing: the bill is derived from the
// lock file.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED_PACKAGES, GRAMMARS } from "./bundled-packages.mjs";

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

/** Lists the packages that an install brings along on any platform, and those whose code is in dist, as package URLs. */
export function listProductionPackages(folder = root) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const bundled = new Set(
    [...BUNDLED_PACKAGES, ...Object.keys(GRAMMARS)].map((name) => `node_modules/${name}`),
  );
  const entries = Object.entries(packages).filter(
    ([path, entry]) => path !== "" && (entry.dev !== true || bundled.has(path)),
  );
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
        builder: { id: `${name}/scripts/release.mjs` },
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
