import { existsSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest with `npm run test:all`, the longest first: 10 to 200 s of processor time each, or of waiting
 * (2026-11-26). One that began last would run alone at the end. Vitest's own times of earlier runs are not there in a fresh
 * clone.
 */
const LONGEST = [
  "core/properties",
  "workflows/scenarios.server",
  "workflows/any-input.server",
  "apps/git/traps/traps",
  "transcript/store.postgres",
  "core/view-tools",
  "transcript/sealed.postgres",
  "docs/quickstart.server",
  "transcript/sealed",
  "core/compaction-rules",
  "transcript/sqlite",
  "stream/hub.postgres",
  "apps/git/oracle",
  "devserver/start-server.server",
  "scenarios/request",
  "transcript/faults.postgres",
  "conformance/conformance",
  "docs/site",
  "workflows/history-deleted.server",
  "load/many-agents.server",
  "workflows/evaluation.server",
  "load/long-loop",
  "load/tree.server",
  "workflows/stop-everywhere.server",
  "workflows/late-heartbeats.server",
  "mcp/nasty",
  "plugin/plugin.server",
  "cli/chat-screen.server",
  "ui/temporal-ui.server",
  "core/transitions",
  "workflows/rotation.server",
  "providers/fuzz",
  "workflows/keep.server",
  "core/long-session",
  "providers/hazards-of-all",
  "core/compaction-block",
  "mcp/official",
  "docs/cookbook.server",
  "workflows/compaction.server",
  "workflows/vendor.server",
  "client/fork.server",
  "workflows/attach.server",
].map((name) => `/test/${name}.test.ts`);

/**
 * Tests that start thousands of short processes. A start copies the page tables of the process that starts it: 3 ms while a
 * process of tests is new, 14 ms once it has loaded what the other tests need (2026-11-28).
 */
const STARTING_PROCESSES = [
  "apps/git/",
  "platform/",
  "tools/",
  "mcp/sandbox.test.ts",
  "skills/sandbox.test.ts",
  "activities/suite/scorers/command.test.ts",
  "workflows/sandbox.server.test.ts",
  "workflows/snapshots.server.test.ts",
].map((name) => `/test/${name}`);

/**
 * Files that start many processes, then the longest files, by turns with crash tests: those wait much, and the others use the
 * processors meanwhile.
 */
export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = [...STARTING_PROCESSES, ...LONGEST].filter(
      (name) => !existsSync(this.ctx.config.root + name),
    );
    if (missing.length > 0)
      throw new Error(`test/support/test-order.ts names files that do not exist: ${missing}`);
    const sorted = await super.sort(files);
    const crash = sorted.filter(({ moduleId }) => moduleId.endsWith(".crash.test.ts"));
    const core = sorted.filter(({ moduleId }) => moduleId.includes("/test/core/"));
    const longest = LONGEST.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    const starting = sorted.filter(({ moduleId }) =>
      STARTING_PROCESSES.some((name) => moduleId.includes(name)),
    );
    const computing = [...new Set([...starting, ...longest, ...core])];
    const first = Array.from({ length: Math.max(crash.length, computing.length) }, (_, nth) => [
      crash[nth],
      computing[nth],
    ]);
    return [...new Set([...first.flat().filter((file) => file !== undefined), ...sorted])];
  }
}
