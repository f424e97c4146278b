import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { applySandboxFlag } from "../../src/apps/cli/sandbox-flag.ts";
import { buildWorkerArguments } from "../../src/apps/cli/worker-child.ts";
import { chooseWorkerSandbox, type SandboxNeed } from "../../src/apps/cli/worker-sandbox.ts";
import type { HostProbe } from "../../src/platform/sandbox/probe-host.ts";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import { createTerminal } from "./terminal.ts";

let home: string;
let folder: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-sandbox-home-"));
  folder = await mkdtemp(join(tmpdir(), "holdfast-sandbox-folder-"));
});
afterEach(async () => {
  for (const made of [home, folder]) await rm(made, { recursive: true, force: true });
});

const ABLE: HostProbe = { able: true, programs: {} as never, controllers: [] };
const UNABLE: HostProbe = {
  able: false,
  obstacle: "absent",
  attempt: "looked for bwrap in /usr/bin",
  answer: "not found",
  remedy: "Install bubblewrap.",
};

const MODEL: AgentDefinitionInput["model"] = {
  id: "m",
  api: "anthropic_messages",
  provider: "p",
  baseUrl: "http://127.0.0.1",
  contextWindow: 1000,
};
const agent = (own: Partial<AgentDefinitionInput> = {}): AgentDefinitionInput => ({
  model: MODEL,
  tools: ["bash"],
  ...own,
});

async function choose(
  need: SandboxNeed,
  options: { probe?: HostProbe; isTTY?: boolean; typed?: string; env?: NodeJS.ProcessEnv; json?: true } = {},
) {
  const { probe = UNABLE, isTTY = false, typed, env = {}, json } = options;
  const { streams, said } = createTerminal({ isTTY, env: { ...env, NO_COLOR: "1" } });
  if (typed !== undefined) streams.stdin.write(typed);
  const context = new Context(streams, { home, ...(json ? { json } : {}) });
  let probes = 0;
  const place = {
    folder,
    probe: async () => {
      probes += 1;
      return probe;
    },
  };
  const result = await chooseWorkerSandbox(context, need, place).catch((error: Error) => error);
  await new Promise((resolve) => setImmediate(resolve));
  return { result, probes, said: said.err };
}

describe("nothing is asked, and the host is not probed,", () => {
  test.each<readonly [string, SandboxNeed, NodeJS.ProcessEnv]>([
    ["with --sandbox off", { sandbox: "off", agents: [agent()] }, {}],
    ["with HOLDFAST_SANDBOX=off", { agents: [agent()] }, { HOLDFAST_SANDBOX: "off" }],
    ["for an agent that says off", { agents: [agent({ sandbox: { mode: "off" } })] }, {}],
    ["for an agent without commands", { agents: [agent({ tools: ["read_file", "search"] })] }, {}],
  ])("%s", async (_, need, env) => {
    const { result, probes, said } = await choose(need, { env, isTTY: true });
    expect({ result, probes, said }).toEqual({ result: need.sandbox, probes: 0, said: "" });
  });
});

test("a host that can make the sandbox asks nothing", async () => {
  expect(await choose({ agents: [agent()] }, { probe: ABLE, isTTY: true })).toEqual({
    result: undefined,
    probes: 1,
    said: "",
  });
  expect((await choose({ sandbox: "strict" }, { probe: ABLE })).result).toBe("strict");
});

describe("a host that cannot", () => {
  test.each<readonly [string, readonly AgentDefinitionInput[]]>([
    ["for bash", [agent()]],
    ["for a hook", [agent({ tools: [], hooks: { onBeforeToolCall: [{ command: "./check" }] } as never })]],
    [
      "for a server that is a program",
      [agent({ tools: [], mcp: [{ name: "s", transport: { type: "stdio", command: "server" } }] })],
    ],
    ["for a sub-agent", [agent({ tools: [], subAgents: [{ name: "s", description: "", agent: agent() }] })]],
  ])("is refused unattended, with what was tried and what to do: %s", async (_, agents) => {
    const { result, said } = await choose({ agents });
    expect(result).toMatchObject({ code: "configuration-invalid" });
    expect((result as Error).message).toBe(
      'No worker was started: this host cannot make the sandbox "workspace" for commands of the agent: Holdfast looked for bwrap in /usr/bin, and got: not found. Install bubblewrap. To run them without a sandbox, add `--sandbox off` or set HOLDFAST_SANDBOX=off.',
    );
    expect(said).toBe("");
  });

  test("with --json, a terminal is not asked either", async () => {
    const { result } = await choose({ agents: [agent()] }, { isTTY: true, json: true });
    expect(result).toMatchObject({ code: "configuration-invalid" });
  });

  test("is asked about at a terminal once per folder, and the answer is stored for the user alone", async () => {
    const first = await choose({ agents: [agent()] }, { isTTY: true, typed: "y\n" });
    expect(first.result).toBe("off");
    expect(first.said).toMatch(/looked for bwrap.*Install bubblewrap\..*Run without a sandbox in .* y\/N/s);
    const file = join(home, "sandbox-answers.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ folders: [{ sandbox: "off" }] });

    const second = await choose({ agents: [agent()] }, { isTTY: true });
    expect(second.result).toBe("off");
    expect(second.said).toMatch(/^No sandbox in .*not found, and you chose on .*doctor.*\n$/);
    expect((await choose({ agents: [agent()] })).result).toBe("off");
  });

  test("an answer no starts nothing and is not stored", async () => {
    const { result } = await choose({ agents: [agent()] }, { isTTY: true, typed: "\n" });
    expect(result).toMatchObject({ code: "configuration-invalid" });
    expect(await stat(join(home, "sandbox-answers.json")).catch(() => "absent")).toBe("absent");
  });

  test("an answer is for this folder, and a damaged file has none", async () => {
    await choose({ agents: [agent()] }, { isTTY: true, typed: "y\n" });
    await rm(folder, { recursive: true });
    folder = await mkdtemp(join(tmpdir(), "holdfast-sandbox-folder-"));
    expect((await choose({ agents: [agent()] })).result).toBeInstanceOf(Error);
    await writeFile(join(home, "sandbox-answers.json"), "{");
    expect((await choose({ agents: [agent()] })).result).toBeInstanceOf(Error);
    expect((await choose({ agents: [agent()] }, { isTTY: true, typed: "yes\n" })).result).toBe("off");
  });

  test("an answer does not weaken what the agent or the flag states", async () => {
    await choose({ agents: [agent()] }, { isTTY: true, typed: "y\n" });
    for (const need of [
      { agents: [agent({ sandbox: { mode: "strict" } })] },
      { agents: [agent()], sandbox: "strict" },
    ] satisfies SandboxNeed[]) {
      const { result } = await choose(need, { isTTY: true, typed: "y\n" });
      expect((result as Error).message).toContain('cannot make the sandbox "strict"');
    }
  });

  test("agents that are unknown until later are left to the worker, with a warning", async () => {
    const { result, said } = await choose({});
    expect(result).toBeUndefined();
    expect(said).toMatch(/Agents whose commands need it are refused\. Install bubblewrap\./);
    expect((await choose({ sandbox: "strict" })).result).toBe("strict");
  });
});

test("a wrong mode is an error of the flag or of the variable", async () => {
  expect((await choose({ sandbox: "of" })).result).toMatchObject({ name: "UsageError" });
  const { result } = await choose({}, { env: { HOLDFAST_SANDBOX: "of" } });
  expect(result).toMatchObject({ code: "configuration-invalid" });
});

test("the flag applies to sub-agents, and off has no additions", () => {
  const allow = ["a.example:443"];
  const child = { name: "s", description: "", agent: agent() };
  const made = agent({ sandbox: { mode: "workspace", network: { allow }, env: ["CI"] }, subAgents: [child] });
  expect(applySandboxFlag(made, {})).toBe(made);
  expect(applySandboxFlag(made, { sandbox: "off" })).toMatchObject({
    sandbox: { mode: "off", env: ["CI"] },
    subAgents: [{ agent: { sandbox: { mode: "off" } } }],
  });
  expect(applySandboxFlag(made, { sandbox: "off" }).sandbox).not.toHaveProperty("network");
  expect(applySandboxFlag(made, { sandbox: "strict" }).sandbox).toEqual({
    mode: "strict",
    network: { allow },
    env: ["CI"],
  });
});

test("the worker process receives the mode", () => {
  expect(buildWorkerArguments({ sandbox: "off" })).toEqual(["--sandbox", "off"]);
  expect(buildWorkerArguments({})).toEqual([]);
});
