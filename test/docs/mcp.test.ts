import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { load } from "../config/agent-files.ts";

const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");

test("the example of docs/mcp.md is an agent without a warning, whose secrets remain references [MCP-07.2, MCP-08.1-2, DOC-04.2]", () => {
  const [, text = ""] = /```toml\n([\s\S]*?)```/.exec(page) ?? [];
  const { agents, problems } = load(text, { format: "toml", env: { TRACKER_TOKEN: "a-secret" } });
  expect(problems).toEqual([]);
  expect(agents[0]?.definition.mcp).toMatchObject([
    { name: "files", transport: { type: "stdio", command: "npx" }, trusted: true, timeoutMs: 30_000 },
    { name: "tracker", transport: { auth: { token: "${TRACKER_TOKEN}" } }, timeoutMs: 60_000 },
  ]);
});

test("docs/mcp.md names every scenario that is run", async () => {
  // @ts-expect-error A script without types.
  const { SCENARIOS } = (await import("../../scripts/mcp-conformance.mjs")) as { SCENARIOS: string[][] };
  const table = page.slice(page.indexOf("| version "), page.indexOf("The runner has none"));
  const named = [...table.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const last = (name: string) =>
    named.some((one) => one === name || (one.startsWith("-") && name.endsWith(one)));
  expect(SCENARIOS.map(([name = ""]) => name).filter((name) => !last(name))).toEqual([]);
});
