import { describe, expect, test } from "vitest";
import {
  applyPermissionFlags,
  applyPermissionFlagsToMode,
  findUnusedAllows,
  type PermissionFlags,
  refusesUnsafeCalls,
} from "../../src/apps/cli/permission-flags.ts";
import { type AgentDefinitionInput, local } from "../../src/client/index.ts";
import type { CallFacts } from "../../src/core/permission/call-facts.ts";
import { decidePermission } from "../../src/core/permission/permission.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { WorkMode } from "../../src/schema/mode.ts";
import { PermissionPolicy, type PermissionPolicyInput } from "../../src/schema/permission.ts";
import type { ReplayClass } from "../../src/schema/tool.ts";
import { runHoldfast } from "./terminal.ts";

const agent = (permissions?: PermissionPolicyInput): AgentDefinitionInput => ({
  model: local("http://127.0.0.1:1/v1", "m"),
  ...(permissions === undefined ? {} : { permissions }),
});

const REPLAY: Readonly<Record<string, ReplayClass>> = { read_file: "pure", write_file: "idempotent" };

/** What becomes of a call: `bash npm test`, or `read_file`. */
function decide(policy: PermissionPolicyInput | undefined, call: string): string {
  const [tool = "", ...words] = call.split(" ");
  const facts: CallFacts = words.length === 0 ? {} : { commands: [{ words }] };
  const context = { agent: "agent", interactive: false };
  const asked = { tool, replay: REPLAY[tool] ?? "unsafe" };
  return decidePermission(PermissionPolicy.parse(policy ?? {}), asked, facts, context).outcome;
}

const applied = (flags: PermissionFlags, isAttended: boolean, file?: PermissionPolicyInput) =>
  applyPermissionFlags(agent(file), flags, isAttended).permissions;

describe("without a flag", () => {
  test.each([
    [true, "ask"],
    [false, "deny"],
  ])("with a person at the terminal: %s, an unsafe call gets %s, and others run", (isAttended, outcome) => {
    const policy = applied({}, isAttended);
    expect(decide(policy, "bash npm test")).toBe(outcome);
    expect(decide(policy, "some_tool")).toBe(outcome);
    expect(decide(policy, "write_file")).toBe("allow");
    expect(decide(policy, "read_file")).toBe("allow");
  });

  test("the rules of a file come first, and its decision for all other calls stays", () => {
    const rules = [{ tool: "bash", command: "npm test", outcome: "allow" as const }];
    expect(decide(applied({}, false, { rules }), "bash npm test")).toBe("allow");
    expect(decide(applied({}, false, { rules }), "bash npm publish")).toBe("deny");
    expect(decide(applied({}, true, { rules }), "bash npm publish")).toBe("ask");
    for (const otherwise of ["allow", "ask", "deny"] as const)
      expect(decide(applied({}, false, { rules, otherwise }), "bash npm publish")).toBe(otherwise);
  });
});

describe("--permission-mode", () => {
  test("allow, which --yes also is, runs what no rule of the file denies", () => {
    const rules = [{ command: "rm", outcome: "deny" as const }];
    for (const flags of [
      { yes: true },
      { permissionMode: "allow" },
      { permissionMode: "allow", yes: true },
    ]) {
      expect(decide(applied(flags, false), "bash npm test")).toBe("allow");
      expect(decide(applied(flags, false, { rules }), "bash npm test")).toBe("allow");
      expect(decide(applied(flags, false, { rules }), "bash rm -rf x")).toBe("deny");
      expect(decide(applied(flags, false, { otherwise: "ask" }), "bash npm test")).toBe("allow");
      expect(decide(applied(flags, false, { otherwise: "deny" }), "bash npm test")).toBe("deny");
    }
  });

  test("ask makes unsafe calls wait, also where nobody is at the terminal", () => {
    expect(decide(applied({ permissionMode: "ask" }, false), "bash npm test")).toBe("ask");
    expect(decide(applied({ permissionMode: "ask" }, false), "write_file")).toBe("allow");
    expect(decide(applied({ permissionMode: "ask" }, false, { otherwise: "ask" }), "write_file")).toBe("ask");
    expect(decide(applied({ permissionMode: "ask" }, false, { otherwise: "deny" }), "write_file")).toBe(
      "deny",
    );
  });

  test("read-only denies whatever changes something, also what the file allows, unless --allow names it", () => {
    const rules = [{ tool: "bash", outcome: "allow" as const }];
    const policy = applied({ permissionMode: "read-only", allow: ["bash(npm test)"] }, true, { rules });
    expect(decide(policy, "read_file")).toBe("allow");
    expect(decide(policy, "write_file")).toBe("deny");
    expect(decide(policy, "bash ls")).toBe("deny");
    expect(decide(policy, "bash npm test --watch")).toBe("allow");
  });
});

describe("--allow", () => {
  test("runs a tool, the beginning of a command, or a path, and nothing else", () => {
    const policy = applied({ allow: ["bash(npm test)", "deploy", "edit_file(src/**)"] }, false);
    expect(decide(policy, "bash npm test")).toBe("allow");
    expect(decide(policy, "bash npm run test")).toBe("deny");
    expect(decide(policy, "deploy")).toBe("allow");
    expect(policy?.rules).toContainEqual({ tool: "edit_file", path: "src/**", outcome: "allow" });
  });

  test("does not overrule what a file denies", () => {
    const rules = [
      { tool: "bash", outcome: "ask" as const },
      { command: "git push", outcome: "deny" as const },
    ];
    const policy = applied({ allow: ["bash"] }, true, { rules });
    expect(decide(policy, "bash npm test")).toBe("allow");
    expect(decide(policy, "bash git push")).toBe("deny");
  });
});

test("sub-agents and the agents of a job get the same rules", () => {
  const child = { name: "helper", agent: agent() };
  const { subAgents } = applyPermissionFlags({ ...agent(), subAgents: [child] }, {}, false);
  expect(subAgents?.map((one) => decide(one.agent.permissions, "bash ls"))).toEqual(["deny"]);
  const definition = AgentDefinition.parse(agent());
  const modes = [
    { type: "autonomous", agent: definition },
    { type: "pipeline", stages: [{ name: "one", agent: definition }] },
    { type: "fan-out", agents: [definition] },
    { type: "supervisor", lead: definition, agents: [{ name: "one", agent: definition }] },
    { type: "interactive", agent: definition },
  ] as const;
  for (const mode of modes) {
    const found = JSON.stringify(applyPermissionFlagsToMode(WorkMode.parse(mode), {}));
    const agents = mode.type === "supervisor" ? 2 : 1;
    expect(found.split('"deny-unsafe"').length - 1, mode.type).toBe(agents);
  }
});

test("a refusal is known, so that the command can say it", () => {
  expect(refusesUnsafeCalls(applyPermissionFlags(agent(), {}, false))).toBe(true);
  expect(refusesUnsafeCalls(applyPermissionFlags(agent(), {}, true))).toBe(false);
  expect(refusesUnsafeCalls(applyPermissionFlags(agent(), { yes: true }, false))).toBe(false);
});

test.each([
  [["--permission-mode", "always"], "must be one of ask, allow, read-only"],
  [["--permission-mode", "ask", "--yes"], "Leave one out"],
  [["--allow", "bash(npm"], "--allow 'bash(npm test)'"],
  [["--allow", "bash(npm test | sh)"], "must be plain words"],
])("%j is bad usage, with a hint", async (flags, hint) => {
  const line = ["run", "Go", "--model", "anthropic/m", "--address", "127.0.0.1:1"];
  const { code, out, err } = await runHoldfast([...line, ...flags]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(hint);
});

test("--allow of a tool that neither the agent nor a sub-agent has is a warning", () => {
  const helper = { name: "helper", agent: { ...agent(), tools: ["bash"] } };
  const warnings = findUnusedAllows(
    { ...agent(), tools: ["read_file"], subAgents: [helper] },
    { allow: ["bash(npm test)", "read_file", "serch", "helper"] },
  );
  expect(warnings).toEqual([
    '--allow "serch" has no effect: the agent does not have the tool. Add it with --tools.',
  ]);
});
