// Builds dist: compiled modules, declarations, and the workflow bundle that workers load.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD_STAMP, hashSources, listSourceFiles } from "./build-stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const hash = hashSources(root);
rmSync(BUILD_STAMP, { force: true });
removeOrphans();
compile();
if (existsSync("dist/apps/cli/main.js")) chmodSync("dist/apps/cli/main.js", 0o755);
await bundleWorkflows();
mkdirSync("dist", { recursive: true });
writeFileSync(BUILD_STAMP, hash);

function compile() {
  const tsc = join("node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { stdio: "inherit" });
  if (status !== 0) fail("the sources do not compile (tsc -p tsconfig.build.json); see the errors above");
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
    // Numbers instead of paths, so that the code does not depend on folder names.
    webpackConfigHook: (config) => ({
      ...config,
      optimization: { ...config.optimization, moduleIds: "deterministic" },
    }),
  });
  writeFileSync("dist/workflow-bundle.js", code);
}

/** Removes the output of deleted sources, which the compiler leaves and the bundler would include. */
function removeOrphans() {
  if (!existsSync("dist")) return;
  const sources = new Set(listSourceFiles(root).map((file) => file.replace(/^src.|\.ts$/g, "")));
  const written = readdirSync("dist", { recursive: true }).filter((file) =>
    /\.(d\.ts|js|js\.map)$/.test(file),
  );
  for (const file of written) {
    const source = file.replace(/\.(d\.ts|js|js\.map)$/, "");
    if (file !== "workflow-bundle.js" && !sources.has(source)) {
      rmSync(join("dist", file));
      rmSync(join("dist", ".tsbuildinfo"), { force: true });
    }
  }
}

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}
