import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thoroughTest } from "./support/test-depth.ts";

const ROOT = resolve(import.meta.dirname, "..");
const BUNDLED = "scripts/bundled-packages.json";
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

/** Planted files: path, source, and the rule that must report it. */
const PLANTED = [
  ["platform/text/a.ts", 'import "../good.ts";', "platform/text-imports-what-is-below-it"],
  ["platform/text/b.ts", 'import "node:fs";', "platform/text-imports-what-is-below-it"],
  ["platform/a.ts", 'import "../schema/good.ts";', "platform-imports-what-is-below-it"],
  ["schema/a.ts", 'import "../core/good.ts";', "schema-imports-what-is-below-it"],
  ["schema/b.ts", 'import "undici";', "schema-imports-what-is-below-it"],
  ["core/a.ts", 'import "node:fs";', "core-imports-what-is-below-it"],
  ["core/b.ts", 'import { z } from "zod"; z;', "core-imports-what-is-below-it"],
  ["core/c.ts", 'import { good } from "../schema/good.ts"; good;', "core-sees-types-only"],
  [
    "core/d.ts",
    'import type { Good } from "../tools/good.ts"; export type D = Good;',
    "core-imports-what-is-below-it",
  ],
  ["core/e.ts", 'import "../conversation/good.ts";', "core-imports-what-is-below-it"],
  ["conversation/a.ts", 'import "node:fs";', "conversation-imports-what-is-below-it"],
  ["conversation/b.ts", 'import "../platform/good.ts";', "conversation-imports-what-is-below-it"],
  ["evaluation/a.ts", 'import "node:fs";', "evaluation-imports-what-is-below-it"],
  ["evaluation/b.ts", 'import "../store/good.ts";', "evaluation-imports-what-is-below-it"],
  ["workflows/a.ts", 'import { good } from "../activities/good.ts"; good;', "workflows-sees-types-only"],
  ["workflows/b.ts", 'import { good } from "../schema/good.ts"; good;', "workflows-sees-types-only"],
  ["workflows/c.ts", 'import "../conversation/good.ts";', "workflows-imports-what-is-below-it"],
  ["workflows/d.ts", 'import "@temporalio/client";', "workflows-imports-what-is-below-it"],
  ["workflows/e.ts", 'import "node:crypto";', "workflows-imports-what-is-below-it"],
  ["models/a.ts", 'import "../store/good.ts";', "models-imports-what-is-below-it"],
  ["models/b.ts", 'import "@temporalio/client";', "models-knows-no-temporal"],
  ["models/c.ts", 'import "@modelcontextprotocol/sdk";', "one-folder-uses-the-mcp-library"],
  ["models/one-protocol/a.ts", 'import "../other-protocol/good.ts";', "no-protocol-imports-another"],
  ["store/transcript/a.ts", 'import "../stream/good.ts";', "store/transcript-knows-no-store/stream"],
  ["store/a.ts", 'import "@temporalio/client";', "store-knows-no-temporal"],
  [
    "tools/sources/mcp/a.ts",
    'import "../openapi/good.ts";',
    "tools/sources/mcp-knows-no-tools/sources/openapi",
  ],
  ["tools/sources/mcp/b.ts", 'import "@modelcontextprotocol/sdk";', "one-folder-uses-the-mcp-library"],
  ["tools/a.ts", 'import "vitest";', "no-development-packages"],
  ["tools/b.ts", 'import "./nowhere.ts";', "no-unresolvable"],
  ["hooks/a.ts", 'import "../tools/good.ts";', "hooks-imports-what-is-below-it"],
  ["config/a.ts", 'import "../client/good.ts";', "config-imports-what-is-below-it"],
  ["activities/a.ts", 'import "../workflows/good.ts";', "activities-imports-what-is-below-it"],
  ["activities/b.ts", 'import "../config/good.ts";', "activities-imports-what-is-below-it"],
  [
    "client/a.ts",
    'import type { Good } from "../activities/good.ts"; export type A = Good;',
    "client-imports-what-is-below-it",
  ],
  ["client/b.ts", 'import "../devserver/good.ts";', "client-imports-what-is-below-it"],
  ["client/c.ts", 'import "../apps/server/good.ts";', "client-imports-what-is-below-it"],
  ["devserver/a.ts", 'import "../client/good.ts";', "devserver-imports-what-is-below-it"],
  ["apps/server/a.ts", 'import "../../store/good.ts";', "apps-imports-what-is-below-it"],
  ["apps/server/b.ts", 'import "../../config/good.ts";', "the-http-server-uses-the-client"],
  ["apps/server/c.ts", 'import "../cli/good.ts";', "apps/server-knows-no-apps/cli"],
  ["apps/cli/a.ts", 'import "../../store/good.ts";', "apps-imports-what-is-below-it"],
  ["apps/git/a.ts", 'import "../../platform/good.ts";', "git-work-uses-the-public-entry-points"],
  ["apps/git/b.ts", 'import "../cli/good.ts";', "git-work-uses-the-public-entry-points"],
  ["testing/a.ts", 'import "../client/good.ts";', "testing-imports-what-is-below-it"],
  ["testing/b.ts", 'import "../worker.ts";', "testing-imports-what-is-below-it"],
  ["devkit/a.ts", 'import "../worker/options.ts";', "devkit-imports-what-is-below-it"],
  ["store/stream/a.ts", 'import { b } from "./b.ts"; export const a = () => b;', "no-cycles"],
  ["core/f.ts", 'import type { G } from "./g.ts"; export type F = G | 1;', "no-cycles-in-core"],
  ["helpers/a.ts", 'import "../schema/good.ts";', "every-file-has-a-room"],
] as const;

/** Edges that the table allows: none of these may be reported. */
const ALLOWED = [
  ["platform/ok.ts", 'import "./text/good.ts"; import "node:fs"; import "undici";'],
  ["schema/ok.ts", 'import { z } from "zod"; import "../platform/text/good.ts"; z;'],
  [
    "core/ok.ts",
    'import type { Good } from "../schema/good.ts"; import "./good.ts"; import "../platform/text/good.ts"; export type O = Good;',
  ],
  ["conversation/ok.ts", 'import "../schema/good.ts"; import "../core/good.ts";'],
  ["evaluation/ok.ts", 'import "../schema/good.ts"; import "../core/good.ts";'],
  [
    "workflows/ok.ts",
    'import type { Good } from "../activities/good.ts"; import "../core/good.ts"; import "@temporalio/workflow"; export type O = Good;',
  ],
  [
    "tools/sources/mcp/ok.ts",
    'import "../../tool.ts"; import "../../../schema/good.ts"; import "node:fs"; import "undici";',
  ],
  [
    "tools/sources/mcp/sdk/ok.ts",
    'import "@modelcontextprotocol/sdk"; import "../../../../platform/process/good.ts";',
  ],
  [
    "activities/ok.ts",
    'import "../models/good.ts"; import "../store/transcript/good.ts"; import "@temporalio/client";',
  ],
  [
    "client/ok.ts",
    'import "../workflows/good.ts"; import "../store/transcript/good.ts"; import "@temporalio/client";',
  ],
  ["apps/server/ok.ts", 'import "../../client/good.ts"; import "node:http"; import "undici";'],
  [
    "apps/cli/ok.ts",
    'import "../../client/good.ts"; import "../server/good.ts"; import "../../devserver/good.ts"; import "../../worker.ts";',
  ],
  ["apps/git/ok.ts", 'import "../../worker.ts"; import "node:fs"; import "undici";'],
  ["testing/ok.ts", 'import "../devserver/good.ts";'],
  ["devkit/ok.ts", 'import "../testing/good.ts"; import "../workflows/good.ts";'],
  ["devserver/ok.ts", 'import "../schema/good.ts"; import "node:net"; import "@temporalio/client";'],
] as const;

const GOOD_ROOMS = [
  ...["platform", "platform/text", "platform/process", "schema", "core", "conversation", "evaluation"],
  ...[
    "store",
    "store/transcript",
    "store/stream",
    "models",
    "models/other-protocol",
    "tools",
    "hooks",
    "config",
  ],
  ...["tools/sources/openapi", "activities", "workflows", "client", "devserver", "apps/cli", "apps/server"],
  ...["testing", "devkit"],
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
    mkdirSync(join(folder, "scripts"));
    copyFileSync(join(ROOT, BUNDLED), join(folder, BUNDLED));
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
    write("src/store/stream/b.ts", 'import { a } from "./a.ts"; export const b = () => a;');
    write("src/core/g.ts", 'import type { F } from "./f.ts"; export type G = F[];');
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
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(PLANTED.map(([path, , rule]) => [path, rule] as const))("%s is caught by %s", (path, rule) => {
    const named = violations.filter(({ from }) => from === `src/${path}`).map(({ rule: { name } }) => name);
    expect(named).toContain(rule);
  });

  test("allowed imports are not reported", () => {
    const planted = new Set<string>(PLANTED.map(([path]) => `src/${path}`));
    expect(violations.filter(({ from }) => !planted.has(from))).toEqual([]);
  });
});

// `npm run boundaries` checks the same.
thoroughTest("the sources respect the boundaries [ORC-04, TMP-01.2, RIG-01]", { timeout: 60_000 }, () => {
  const named = violationsIn(ROOT).map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`);
  expect(named).toEqual([]);
});
