import { existsSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest with `npm run test:all`, the longest first: 10 to 200 s of processor time each, or of waiting
 * (2026-11-26). One that began last would run alone at the end. Vitest's own times of earlier runs are not there in a fresh
 * clone.
 */
const LONGEST = [
  "core/properties",
  "core/view-tools",
  "core/compaction-rules",
  "workflows/scenarios.server",
  "transcript/sqlite",
  "transcript/sealed",
  "transcript/sealed.postgres",
  "conformance/conformance",
  "transcript/store.postgres",
  "core/long-session",
  "workflows/any-input.server",
  "plugin/plugin.server",
  "devserver/start-server.server",
  "workflows/keep.server",
  "load/long-loop",
  "stream/hub.postgres",
  "providers/completions-corpus",
  "cli/chat-screen.server",
  "workflows/late-heartbeats.server",
  "workflows/stop-everywhere.server",
  "mcp/nasty",
  "workflows/rotation.server",
].map((name) => `/test/${name}.test.ts`);

/** The longest files first, by turns with crash tests: those wait much, and the others fill the processors beside them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = LONGEST.filter((name) => !existsSync(this.ctx.config.root + name));
    if (missing.length > 0)
      throw new Error(`test/support/longest-first.ts names files that do not exist: ${missing}`);
    const sorted = await super.sort(files);
    const crash = sorted.filter(({ moduleId }) => moduleId.endsWith(".crash.test.ts"));
    const core = sorted.filter(({ moduleId }) => moduleId.includes("/test/core/"));
    const longest = LONGEST.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    const computing = [...new Set([...longest, ...core])];
    const first = Array.from({ length: Math.max(crash.length, computing.length) }, (_, nth) => [
      crash[nth],
      computing[nth],
    ]);
    return [...new Set([...first.flat().filter((file) => file !== undefined), ...sorted])];
  }
}
