import { existsSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take longest with `npm run test:all`, the longest first: 10 to 200 s of processor time each, or of waiting
 * (2026-11-26). One that began last would run alone at the end. Vitest's own times of earlier runs are not there in a fresh
 * clone.
 */
const LONGEST = [
  "crash/backup.crash",
  "crash/kill-points.crash",
  "crash/tools.crash",
  "crash/drain.crash",
  "crash/rolling-deploy.crash",
  "crash/campaign.crash",
  "crash/model-stream.crash",
  "crash/asleep.crash",
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
 * Files that wait more than they compute, for processes, for other servers or for time to pass (2026-11-28). Crash tests wait
 * as well.
 */
const WAITING = [
  "transcript/store.postgres",
  "stream/hub.postgres",
  "transcript/faults.postgres",
  "platform/sandbox/self-test",
  "platform/sandbox/sandbox-death",
  "platform/sandbox/start-sandbox",
  "platform/sandbox/bounds",
  "tools/sandbox/sandboxes",
  "mcp/nasty",
  "mcp/official",
  "mcp/sandbox",
  "apps/git/traps/traps",
  "apps/git/review.server",
  "workflows/suites.server",
  "workflows/keep.server",
  "workflows/stop-everywhere.server",
  "workflows/history-deleted.server",
  "workflows/late-heartbeats.server",
  "docs/quickstart.server",
  "docs/runs.server",
  "devserver/start-server.server",
  "cli/chat-screen.server",
  "cli/eval.server",
  "client/run-end",
  "activities/structured-output",
  "providers/governor",
  "stream/local-hub",
  "stream/holding-hub",
].map((name) => `/test/${name}.test.ts`);

/** The longest files first, and those that wait spread among the others, which fill the processors beside them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = [...LONGEST, ...WAITING].filter((name) => !existsSync(this.ctx.config.root + name));
    if (missing.length > 0)
      throw new Error(`test/support/longest-first.ts names files that do not exist: ${missing}`);
    const sorted = await super.sort(files);
    const core = sorted.filter(({ moduleId }) => moduleId.includes("/test/core/"));
    const longest = LONGEST.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)));
    const ordered = [...new Set([...longest, ...core, ...sorted])];
    const waiting = ordered.filter(isWaiting);
    const computing = ordered.filter((file) => !isWaiting(file));
    // None that waits is among the last ones: nothing would be left to fill the processors.
    const between = Math.floor((0.8 * computing.length) / Math.max(1, waiting.length));
    const spread = waiting.flatMap((file, nth) => [
      file,
      ...computing.slice(nth * between, (nth + 1) * between),
    ]);
    return [...new Set([...spread, ...computing])];
  }
}

function isWaiting({ moduleId }: TestSpecification): boolean {
  return moduleId.endsWith(".crash.test.ts") || WAITING.some((name) => moduleId.endsWith(name));
}
