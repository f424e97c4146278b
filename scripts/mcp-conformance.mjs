// Runs the official conformance scenarios for clients of the Model Context Protocol against Holdfast's client.
//
//   npm run conformance:mcp [-- SCENARIO...] [--json]
//
// The runner needs Node 22, which an npm package contains. The client runs on the Node version that runs this script.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchNode } from "./fetch-node.mjs";

const RUNNER_NODE = "22.23.3";

/** Every client scenario of the supported protocol versions, with the version at which it runs. */
export const SCENARIOS = [
  ["auth/2025-03-26-oauth-metadata-backcompat", "2025-03-26"],
  ["auth/2025-03-26-oauth-endpoint-fallback", "2025-03-26"],
  ...[
    "initialize",
    "tools_call",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
  ].flatMap((name) => [
    [name, "2025-06-18"],
    [name, "2025-11-25"],
  ]),
  ...[
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/pre-registration",
  ].map((name) => [name, "2025-11-25"]),
  // An extension of the protocol.
  ["auth/client-credentials-basic", undefined],
];

const CONCURRENCY = 2;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runner = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** @returns One line for each scenario. */
export async function runScenarios(names = []) {
  const node = fetchNode(RUNNER_NODE);
  if (node === undefined)
    throw new Error(`Node ${RUNNER_NODE}, which the conformance runner needs, is not available`);
  const remaining = SCENARIOS.filter(([name]) => names.length === 0 || names.includes(name));
  const rows = [];
  const runNext = async () => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift())
      rows.push(await runOne(node, ...next));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runNext));
  return rows;
}

async function runOne(node, scenario, version) {
  const output = mkdtempSync(join(tmpdir(), "holdfast-mcp-conformance-"));
  const client = `${process.execPath} ${join(root, "test/mcp/conformance/client.mjs")}`;
  const args = ["client", "--command", client, "--scenario", scenario, "-o", output];
  if (version !== undefined) args.push("--spec-version", version);
  const child = spawn(node, [runner, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let stdoutText = "";
  child.stdout.on("data", (chunk) => {
    stdoutText += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stdoutText += chunk;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  rmSync(output, { recursive: true, force: true });
  const [, passed = "0", total = "0"] = /Passed: (\d+)\/(\d+)/.exec(stdoutText) ?? [];
  return {
    scenario,
    version: version ?? "extension",
    ok: code === 0 && Number(total) > 0 && passed === total,
    passed: Number(passed),
    total: Number(total),
    said: stdoutText,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const json = process.argv.includes("--json");
  const rows = await runScenarios(process.argv.slice(2).filter((word) => !word.startsWith("--")));
  for (const { said, ...row } of rows) {
    if (json) console.log(JSON.stringify(row));
    else {
      const { scenario, version, ok, passed, total } = row;
      console.log(`${ok ? "ok  " : "FAIL"}  ${version.padEnd(10)}  ${scenario}  ${passed}/${total}`);
      if (!ok) console.log(said);
    }
  }
  process.exit(rows.length > 0 && rows.every(({ ok }) => ok) ? 0 : 1);
}
