import { expect, test } from "vitest";
import { describeSandboxMode, formatSandboxActs } from "../../src/apps/cli/sandbox-view.ts";

const port = 443;

test("connections have their sizes, or why they were refused", () => {
  const acts = formatSandboxActs({
    mode: "workspace",
    connections: [
      { host: "registry.npmjs.org", port, decision: "allowed", bytesUp: 0, bytesDown: 12_345 },
      { host: "a.example", port, decision: "allowed", bytesUp: 900, bytesDown: 2_500_000 },
      { host: "::1", port, decision: "refused", reason: "not in `allow`", bytesUp: 0, bytesDown: 0 },
      { decision: "refused", bytesUp: 0, bytesDown: 0 },
    ],
    moreConnections: 3,
    moved: [{ path: ".git/hooks/post-commit", movedTo: ".git/hooks/post-commit.denied" }],
  });
  expect(acts).toEqual([
    "connections: registry.npmjs.org:443 (12 kB down), a.example:443 (900 B up, 2.5 MB down), [::1]:443 (refused: not in `allow`), unknown (refused), 3 more",
    "moved: .git/hooks/post-commit to .git/hooks/post-commit.denied",
  ]);
});

test("a call without connections has only its mode", () => {
  expect(formatSandboxActs({ mode: "off" })).toEqual([]);
  expect(describeSandboxMode({ mode: "off" })).toBe("sandbox off");
  expect(describeSandboxMode({ mode: "strict", isReadOnly: true })).toBe("sandbox strict, read-only");
});
