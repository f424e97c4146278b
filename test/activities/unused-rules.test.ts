import { expect, test } from "vitest";
import { logUnusedRules } from "../../src/activities/open-loop/check-definition.ts";
import { local } from "../../src/client/index.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { recordWarnings } from "../workflows/support/warnings.ts";

test("a worker logs each permission rule for a tool that is off", () => {
  const { log, warnings } = recordWarnings();
  const definition = AgentDefinition.parse({
    model: local("http://127.0.0.1:1/v1", "m"),
    name: "coder",
    tools: ["bash", "file_read"],
    mcp: [{ name: "github", transport: { type: "http", url: "https://mcp.example.com" } }],
    permissions: {
      rules: [
        { tool: ["bash", "read_file", "github__*"], outcome: "allow" },
        { tool: ["bash", "write_file"], outcome: "deny" },
      ],
    },
  });
  logUnusedRules(definition, { log });
  expect(warnings).toEqual([
    {
      facts: { agent: "coder", tool: "write_file" },
      text: "a permission rule names a tool that is off; it never applies",
    },
  ]);
});
