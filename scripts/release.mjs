// Makes a release in the folder `release`. Publishes nothing.
//
//   npm run release -- --dry-run    everything, without a commit and a tag
//   npm run release                 commits the changelog with the version's date, and tags the commit
//   --skip-checks                   only with --dry-run
//
//   release/holdfast-VERSION.tgz       what `npm publish FILE` publishes
//   release/CHANGELOG.md               the changelog with the version's heading
//   release/sbom.cdx.json              the bill of materials of the package and its dependencies (CycloneDX)
//   release/provenance.intoto.json     source, lock file and builder of the archive (in-toto, SLSA 1.0), unsigned
//
// The publisher signs the statement, or replaces it with the registry's (`npm publish --provenance`).
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { buildBillOfMaterials, buildProvenance, readSourceState } from "./sbom.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "release");
const CHECKS = ["verify", "package:check"];
const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

class ReleaseError extends Error {}

/**
 * Builds the manifest that is published: without what only the repository needs, and with the addresses of the project. All
 * three follow from the one setting `config.repository`, an https address; while it is empty, there are none.
 */
export function buildManifest({ scripts: _scripts, devDependencies: _dev, config, ...manifest }) {
  const address = (config?.repository ?? "").replace(/\/$/, "");
  if (address === "") return manifest;
  if (!/^https:\/\/[^/]+\/.+[^/]$/.test(address) || address.endsWith(".git"))
    throw new ReleaseError(
      `config.repository in package.json is "${address}"; it must be an address such as https://HOST/OWNER/NAME, without .git`,
    );
  const repository = { type: "git", url: `git+${address}.git` };
  return { ...manifest, repository, homepage: `${address}#readme`, bugs: { url: `${address}/issues` } };
}

/** Gives the entries of `Unreleased` the heading of a version, and leaves an empty `Unreleased` above it. */
export function closeChangelog(changelog, version, date) {
  const heading = "## Unreleased\n";
  const at = changelog.indexOf(heading);
  if (at < 0) throw new ReleaseError('CHANGELOG.md has no "## Unreleased"');
  const after = changelog.slice(at + heading.length);
  const entries = after.split(/^## /m)[0].trim();
  if (entries === "") throw new ReleaseError("CHANGELOG.md has no entries under Unreleased");
  if (changelog.includes(`\n## ${version} `)) throw new ReleaseError(`CHANGELOG.md has ${version} already`);
  return `${changelog.slice(0, at)}${heading}\n## ${version} - ${date}\n${after}`;
}

function release({ isDryRun, skipsChecks }) {
  if (skipsChecks && !isDryRun) throw new ReleaseError("--skip-checks is for --dry-run only");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { version } = manifest;
  const source = readSourceState();
  checkVersion(version, source, isDryRun);
  report(
    "version",
    `${version}, from commit ${source.commit}${source.isClean ? "" : " with uncommitted changes"}`,
  );

  const startedOn = new Date().toISOString();
  const changelog = closeChangelog(
    readFileSync(join(root, "CHANGELOG.md"), "utf8"),
    version,
    startedOn.slice(0, 10),
  );
  report("changelog", `${changelog.split(/^## /m)[2].match(/^- /gm)?.length ?? 0} entries under ${version}`);

  if (skipsChecks) report("checks", "skipped");
  else for (const check of CHECKS) runCheck(check);

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "CHANGELOG.md"), changelog);
  const packed = pack(buildManifest(manifest));
  const archive = join(folder, packed.filename);
  report(
    "package",
    `${packed.filename}: ${packed.entryCount} files, ${packed.size} bytes, ${packed.unpackedSize} unpacked`,
  );

  const bill = buildBillOfMaterials();
  writeJson("sbom.cdx.json", bill);
  report("bill of materials", `${bill.bomFormat} ${bill.specVersion}, ${bill.components.length} components`);
  writeJson(
    "provenance.intoto.json",
    buildProvenance(archive, { ...source, startedOn, finishedOn: new Date().toISOString() }),
  );
  report("provenance", "unsigned statement about the archive");

  if (isDryRun) {
    report("dry run", "nothing was committed or tagged; the files are in release");
    return;
  }
  writeFileSync(join(root, "CHANGELOG.md"), changelog);
  run("git", ["commit", "--quiet", "-m", `Release ${version}`, "CHANGELOG.md"], root);
  run("git", ["tag", "-a", `v${version}`, "-m", `Release ${version}`], root);
  report("tag", `v${version}. What to do: push it, then npm publish release/${packed.filename}`);
}

function checkVersion(version, { isClean }, isDryRun) {
  if (!VERSION.test(version)) throw new ReleaseError(`the version in package.json is "${version}"`);
  if (run("git", ["tag", "--list", `v${version}`], root).trim() !== "")
    throw new ReleaseError(`v${version} is released already: set the next version in package.json`);
  if (!isClean && !isDryRun)
    throw new ReleaseError("the folder has uncommitted changes: a release is made from a commit");
}

/** Packs the files of the package with the manifest that is published. */
function pack(manifest) {
  const stage = join(folder, "package");
  const [{ files }] = JSON.parse(run("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], root));
  for (const { path } of files) {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    copyFileSync(join(root, path), join(stage, path));
  }
  copyFileSync(join(folder, "CHANGELOG.md"), join(stage, "CHANGELOG.md"));
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const [packed] = JSON.parse(
    run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], stage),
  );
  rmSync(stage, { recursive: true });
  return packed;
}

function runCheck(name) {
  const { status } = spawnSync("npm", ["run", name], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new ReleaseError(`npm run ${name} failed; see above`);
  report("check", `npm run ${name}: ok`);
}

function writeJson(name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout;
  throw new ReleaseError(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

function report(step, text) {
  console.log(`release: ${step}: ${text}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const { values } = parseArgs({
      options: { "dry-run": { type: "boolean" }, "skip-checks": { type: "boolean" } },
    });
    release({ isDryRun: values["dry-run"] === true, skipsChecks: values["skip-checks"] === true });
  } catch (error) {
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  }
}
