import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";
import { listProblems, loadAgent } from "./agent-files.ts";

const PROVIDER = '[provider]\nmodel = "claude"\napi_key = "${KEY}"\n';
const rule = (tool: string) => `[[permissions.rules]]\ntool = ${tool}\noutcome = "deny"\n`;

function warn(text: string): readonly string[] {
  return listProblems(`${PROVIDER}${text}`).map(formatProblem);
}

describe("a permission rule for a tool that is off is a warning", () => {
  test("whatever the tools are called, names of an object's own methods too", () => {
    expect(warn(`[tools]\nenabled = ["valueOf"]\n${rule('["valueOf", "toString"]')}`)).toEqual([
      expect.stringContaining('the tool "toString" is off'),
    ]);
  });

  test("with its place and a remedy, also within a list", () => {
    expect(
      warn(`[tools]\nenabled = ["bash"]\n${rule('"write_file"')}${rule('["bash", "bush", "file_read"]')}`),
    ).toEqual([
      'agent.toml:7:8: warning: permissions.rules[0].tool: the tool "write_file" is off, so this rule never applies; add the tool to `enabled` in `[tools]`, or remove the rule',
      'agent.toml:10:17: warning: permissions.rules[1].tool[1]: the tool "bush" is off, so this rule never applies; did you mean "bash"?',
      'agent.toml:10:25: warning: permissions.rules[1].tool[2]: the tool "file_read" is off, so this rule never applies; did you mean "read_file"?',
    ]);
    expect(loadAgent(`${PROVIDER}${rule('"bash"')}`).permissions.rules).toHaveLength(1);
  });

  test.each([
    ["an alias of the tool is enabled", '[tools]\nenabled = ["file_read"]\n', '"read_*"'],
    ["everything", "", '"*"'],
    [
      "a sub-agent is the tool",
      '[[sub_agents.instances]]\nname = "helper"\nprovider = { model = "claude", api_key = "${K}" }\n',
      '"helper"',
    ],
    ["a tool of an MCP server", '[[mcp]]\nname = "github"\ncommand = "x"\n', '"github__create_issue"'],
    ["a glob over MCP servers", '[[mcp]]\nname = "github"\ncommand = "x"\n', '"git*"'],
    [
      "a server without a prefix may have any tool",
      '[[mcp]]\nname = "github"\nprefix = ""\ncommand = "x"\n',
      '"create_issue"',
    ],
    ["an operation of an API", '[[openapi.instances]]\nname = "shop"\nspec = "shop.json"\n', '"createOrder"'],
    ["the reader of skills", '[skills]\nfolders = ["~/skills"]\n', '"read_skill"'],
  ])("but not if %s", (_, section, tool) => {
    expect(warn(`${section}${rule(tool)}`)).toEqual([]);
  });

  test("a rule that agents share is used if one of those that it concerns has the tool", () => {
    const agents = (rules: string) =>
      `${rules}[[agent.instances]]\nname = "reader"\ntools = ["read_file"]\n[[agent.instances]]\nname = "writer"\ntools = ["bash"]\n`;
    expect(warn(agents(rule('"bash"')))).toEqual([]);
    expect(warn(agents(`${rule('"bash"')}agent = "reader"\n`))).toHaveLength(1);
    expect(warn(agents(`${rule('"search"')}`))).toHaveLength(1);
  });

  test("a sub-agent's own rules are about its own tools", () => {
    const text = `[tools]\nenabled = ["bash"]\n[[sub_agents.instances]]\nname = "helper"\nprovider = { model = "claude", api_key = "\${K}" }\ntools = ["search"]\n[[sub_agents.instances.permissions.rules]]\ntool = "bash"\noutcome = "deny"\n`;
    expect(warn(text)).toEqual([
      expect.stringContaining(
        "agent.toml:11:8: warning: sub_agents.instances[0].permissions.rules[0].tool: ",
      ),
    ]);
  });
});
