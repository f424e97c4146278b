import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROBLEM_GUIDE } from "../../src/apps/server/problem-guide.ts";
import { ERROR_GUIDE } from "../../src/client/error-guide.ts";

const ROOT = new URL("../../", import.meta.url);
const readSource = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

/** A test that provokes each code, by its file. */
const PROVOKED_IN: Readonly<Record<string, string>> = {
  unreachable: "test/client/connect.server.test.ts",
  "server-refused": "test/client/run-end.test.ts",
  "namespace-unknown": "test/client/connect.server.test.ts",
  "configuration-invalid": "test/client/target.test.ts",
  "search-attributes-missing": "test/client/connect.server.test.ts",
  "definition-invalid": "test/client/definition.test.ts",
  "definition-unaccepted": "test/client/import.server.test.ts",
  "workspace-invalid": "test/client/definition.test.ts",
  "input-invalid": "test/client/saved.test.ts",
  "input-too-large": "test/client/words.test.ts",
  "input-unsupported": "test/client/prompt-parts.server.test.ts",
  "session-busy": "test/client/send-message.server.test.ts",
  "queue-full": "test/client/queue-full.server.test.ts",
  "session-unknown": "test/client/connect.server.test.ts",
  "session-locked": "test/client/saved.test.ts",
  "approval-unknown": "test/client/approvals.server.test.ts",
  "update-rejected": "test/workflows/update-definition.server.test.ts",
  "session-ended": "test/client/continue.server.test.ts",
  "wait-cancelled": "test/client/run-end.test.ts",
  "no-worker": "test/client/error-codes.test.ts",
  "run-terminated": "test/client/connect.server.test.ts",
  "run-timed-out": "test/client/result.test.ts",
  "run-failed": "test/client/session-stream.server.test.ts",
  "output-invalid": "test/client/structured-output.server.test.ts",
  "output-unreadable": "test/client/error-codes.test.ts",
  "key-mismatch": "test/workflows/encryption.server.test.ts",
  "key-missing": "test/client/error-codes.test.ts",
  "store-failed": "test/client/error-codes.test.ts",
  "token-missing": "test/server/problems.test.ts",
  "token-invalid": "test/server/problems.test.ts",
  "host-not-allowed": "test/server/problems.test.ts",
  "origin-not-allowed": "test/server/problems.test.ts",
  "route-unknown": "test/server/problems.test.ts",
  "method-not-allowed": "test/server/events.server.test.ts",
  "body-too-large": "test/server/guards.test.ts",
  "body-invalid": "test/server/events.server.test.ts",
  "query-invalid": "test/server/events.server.test.ts",
  "cursor-invalid": "test/server/events.server.test.ts",
  "request-invalid": "test/server/problems.test.ts",
  "too-many-streams": "test/server/problems.test.ts",
  "server-closing": "test/server/problems.test.ts",
  "codec-failed": "test/server/codec.test.ts",
  "chat-stale": "test/server/problems.test.ts",
  "internal-error": "test/server/problems.test.ts",
};

const guides = Object.entries({ ...ERROR_GUIDE, ...PROBLEM_GUIDE });

describe("docs/errors.md", () => {
  const page = readSource("docs/errors.md");

  test.each(guides)("describes %s with its cause and what to do", (code, { cause, remedy }) => {
    expect(page).toContain(`### ${code}\n\n${cause}\n\n**What to do:** ${remedy}\n`);
    for (const text of [cause, remedy]) expect(text).toMatch(/^[A-Z`].{10,}\.$/s);
  });

  test("names a test for every code, which expects it", () => {
    expect(Object.keys(PROVOKED_IN).sort()).toEqual(guides.map(([code]) => code).sort());
    const unproven = Object.entries(PROVOKED_IN).filter(
      ([code, file]) => !findExpectedCodes(readSource(file)).has(code),
    );
    expect(unproven).toEqual([]);
  });
});

/** Lists the codes that a test file expects: as a `code`, within `expect(…)`, or in the rows of `test.each`. */
function findExpectedCodes(source: string): ReadonlySet<string> {
  const rows = [...source.matchAll(/\btest\.each\(\[([\s\S]*?)\]\)/g)].map(([text]) => text);
  const expectations = [...source.matchAll(/\bexpect\([\s\S]*?;\n/g)].map(([text]) => text);
  const quoted = [...rows, ...expectations].flatMap((text) => [...text.matchAll(/"([a-z]+(?:-[a-z]+)*)"/g)]);
  const named = [...source.matchAll(/"?\bcode"?: ?"([a-z-]+)"/g)];
  return new Set([...quoted, ...named].map(([, code = ""]) => code));
}
