import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thorough } from "./support/depth.ts";

const ROOT = resolve(import.meta.dirname, "..");
const CRUISER = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

function violationsIn(folder: string): readonly Violation[] {
  const config = join(folder, ".dependency-cruiser.cjs");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [CRUISER, "--config", config, "--output-type", "json", "src"],
    { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
}

/** Planted files: path, source, and the rule that must name it. */
const PLANTED = [
  ["schema/a.ts", 'import "../core/good.ts";', "schema-imports-zod-alone"],
  ["schema/b.ts", 'import "undici";', "schema-imports-zod-alone"],
  ["core/a.ts", 'import "node:fs";', "core-is-pure"],
  ["core/b.ts", 'import { z } from "zod"; z;', "core-is-pure"],
  ["core/c.ts", 'import { good } from "../schema/good.ts"; good;', "core-is-pure-types-only"],
  ["core/d.ts", 'import type { Good } from "../tools/good.ts"; export type D = Good;', "core-is-pure"],
  ["workflows/a.ts", 'import { good } from "../activities/good.ts"; good;', "workflows-run-core-types-only"],
  ["workflows/b.ts", 'import { good } from "../schema/good.ts"; good;', "workflows-run-core-types-only"],
  ["workflows/c.ts", 'import "../observability/good.ts";', "workflows-run-core"],
  ["workflows/d.ts", 'import "@temporalio/client";', "workflows-run-core"],
  ["workflows/e.ts", 'import "node:crypto";', "workflows-run-core"],
  ["providers/a.ts", 'import "../transcript/good.ts";', "providers-is-an-adapter"],
  ["providers/b.ts", 'import "@temporalio/client";', "providers-knows-no-temporal"],
  ["transcript/a.ts", 'import "../stream/good.ts";', "transcript-is-an-adapter"],
  ["mcp/a.ts", 'import type { Good } from "../tools/good.ts"; export type A = Good;', "mcp-is-an-adapter"],
  [
    "mcp/b.ts",
    'import "@modelcontextprotocol/sdk"; import "../tools/process/good.ts";',
    "one-folder-speaks-to-the-mcp-library",
  ],
  ["providers/c.ts", 'import "@modelcontextprotocol/sdk";', "one-folder-speaks-to-the-mcp-library"],
  ["activities/a.ts", 'import "../workflows/good.ts";', "activities-join-adapters"],
  ["activities/b.ts", 'import "../config/good.ts";', "activities-join-adapters"],
  [
    "client/a.ts",
    'import type { Good } from "../activities/good.ts"; export type A = Good;',
    "client-reads-and-signals",
  ],
  [
    "client/b.ts",
    'import { good } from "../workflows/good.ts"; good;',
    "client-reads-and-signals-types-only",
  ],
  ["client/c.ts", 'import "../devserver/good.ts";', "client-reads-and-signals"],
  ["devserver/a.ts", 'import "../client/good.ts";', "devserver-stands-alone"],
  ["server/a.ts", 'import "../transcript/good.ts";', "server-uses-client"],
  ["server/b.ts", 'import "@temporalio/client";', "server-knows-no-temporal"],
  ["client/d.ts", 'import "../server/good.ts";', "nobody-but-the-cli-imports-the-server"],
  ["cli/a.ts", 'import "../transcript/good.ts";', "cli-uses-client"],
  ["testing/a.ts", 'import "../client/good.ts";', "testing-is-below-client"],
  ["testing/b.ts", 'import "../worker.ts";', "nobody-but-the-cli-imports-the-worker"],
  ["testing/c.ts", 'import "../worker/options.ts";', "nobody-but-the-cli-imports-the-worker"],
  ["cli/b.ts", 'import "../worker/options.ts";', "cli-uses-client"],
  ["config/a.ts", 'import "../cli/good.ts";', "nobody-imports-the-cli"],
  ["tools/a.ts", 'import "vitest";', "no-development-packages"],
  ["tools/b.ts", 'import "./nowhere.ts";', "no-unresolvable"],
  ["stream/a.ts", 'import { b } from "./b.ts"; export const a = () => b;', "no-circles"],
  ["helpers/a.ts", 'import "../schema/good.ts";', "every-file-has-a-room"],
] as const;

/** Edges the table allows: none of these may be named. */
const ALLOWED = [
  ["schema/ok.ts", 'import { z } from "zod"; z;'],
  ["core/ok.ts", 'import type { Good } from "../schema/good.ts"; import "./good.ts"; export type O = Good;'],
  [
    "workflows/ok.ts",
    'import type { Good } from "../activities/good.ts"; import "../core/good.ts"; import "@temporalio/workflow"; export type O = Good;',
  ],
  ["mcp/ok.ts", 'import "../tools/tool.ts"; import "../schema/good.ts"; import "node:fs"; import "undici";'],
  ["mcp/sdk/ok.ts", 'import "@modelcontextprotocol/sdk"; import "../../tools/process/good.ts";'],
  [
    "activities/ok.ts",
    'import "../providers/good.ts"; import "../transcript/good.ts"; import "@temporalio/client";',
  ],
  [
    "client/ok.ts",
    'import "../workflows/messages.ts"; import "../transcript/good.ts"; import "@temporalio/client";',
  ],
  ["server/ok.ts", 'import "../client/good.ts"; import "node:http"; import "undici";'],
  [
    "cli/ok.ts",
    'import "../client/good.ts"; import "../server/good.ts"; import "../devserver/good.ts"; import "../worker.ts";',
  ],
  ["testing/ok.ts", 'import "../devserver/good.ts"; import "../workflows/good.ts";'],
  ["devserver/ok.ts", 'import "../core/good.ts"; import "node:net"; import "@temporalio/client";'],
] as const;

const GOOD_ROOMS = [
  ...["schema", "core", "workflows", "activities", "transcript", "stream", "providers", "tools", "config"],
  ...["observability", "client", "cli", "testing", "devserver", "server"],
];

describe("the boundary rules", () => {
  let folder: string;
  let violations: readonly Violation[];

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-boundaries-"));
    copyFileSync(join(ROOT, ".dependency-cruiser.cjs"), join(folder, ".dependency-cruiser.cjs"));
    copyFileSync(join(ROOT, "tsconfig.json"), join(folder, "tsconfig.json"));
    const packages = [
      "zod",
      "undici",
      "@temporalio/workflow",
      "@temporalio/client",
      "@modelcontextprotocol/sdk",
    ];
    write(
      "package.json",
      JSON.stringify({
        type: "module",
        dependencies: Object.fromEntries(packages.map((name) => [name, "*"])),
        devDependencies: { vitest: "*" },
      }),
    );
    for (const name of [...packages, "vitest"]) {
      write(
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, version: "1.0.0", main: "index.js" }),
      );
      write(`node_modules/${name}/index.js`, "");
    }
    for (const room of GOOD_ROOMS)
      write(`src/${room}/good.ts`, "export const good = 1; export type Good = number;");
    write("src/workflows/messages.ts", "export const steer = 1;");
    write("src/stream/b.ts", 'import { a } from "./a.ts"; export const b = () => a;');
    write("src/tools/process/good.ts", "export const good = 1;");
    write("src/tools/tool.ts", "export const tool = 1;");
    write(
      "src/worker.ts",
      'import "./activities/good.ts"; import "./workflows/good.ts"; import "./worker/options.ts";',
    );
    write(
      "src/worker/options.ts",
      'import type { Good } from "../activities/good.ts"; export type O = Good;',
    );
    for (const [path, text] of [...PLANTED, ...ALLOWED]) write(`src/${path}`, text);
    violations = violationsIn(folder);
  }, 60_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(PLANTED.map(([path, , rule]) => [path, rule] as const))("%s is caught by %s", (path, rule) => {
    const named = violations.filter(({ from }) => from === `src/${path}`).map(({ rule: { name } }) => name);
    expect(named).toContain(rule);
  });

  test("what the table allows is not named", () => {
    const planted = new Set<string>(PLANTED.map(([path]) => `src/${path}`));
    expect(violations.filter(({ from }) => !planted.has(from))).toEqual([]);
  });
});

// `npm run boundaries` says the same.
thorough("the sources keep the boundaries [ORC-04, TMP-01]", { timeout: 60_000 }, () => {
  const named = violationsIn(ROOT).map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`);
  expect(named).toEqual([]);
});
