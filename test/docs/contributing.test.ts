import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/contributing/README.md", ROOT), "utf8");

test("every file that the page points to exists", () => {
  const named = [
    ...new Set([...page.matchAll(/`((?:src|docs|test)\/[^`]+)`/g)].map(([, path = ""]) => path)),
  ];
  expect(named.length).toBeGreaterThan(30);
  // The files that the worked examples create.
  const missing = named.filter((path) => !existsSync(new URL(path, ROOT)));
  expect(missing).toEqual(["src/tools/builtin/count-lines-tool.ts", "src/workflows/relay.ts"]);
});

test("at least twelve questions are answered", () => {
  expect([...page.matchAll(/^\| [A-Z].*\? +\| `src/gm)].length).toBeGreaterThanOrEqual(12);
});
