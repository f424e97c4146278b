import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildDefinition } from "../../src/apps/cli/agent-flags.ts";
import { createPalette } from "../../src/apps/cli/palette.ts";
import { formatProblem } from "../../src/apps/cli/problem-view.ts";
import { STARTER } from "../../src/config/agent-file/starter-file.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { runHoldfast } from "./terminal.ts";

const PROVIDER = '[provider]\nmodel = "claude-opus-5"\napi_key = "${KEY}"\n';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-config-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(text: string, name = "agent.toml"): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test("init writes a valid starter file and does not overwrite an existing one", async () => {
  const path = join(folder, "new.toml");
  expect(await runHoldfast(["init", path])).toMatchObject({ code: 0, out: `Wrote ${path}.\n` });
  expect(await runHoldfast(["config", "check", path, "--strict"])).toMatchObject({
    code: 0,
    out: `ok  ${path}: 1 agent: coder\n`,
  });
  await writeFile(path, "mine");
  const again = await runHoldfast(["init", path]);
  expect(again).toMatchObject({ code: 2, out: "" });
  expect(again.err).toContain("already exists");
  expect(await readFile(path, "utf8")).toBe("mine");
});

test("check displays the line of each problem with a mark below it; exit code 2 [CFG-27.2-3, CFG-03.2]", async () => {
  const path = await file(
    `${PROVIDER}[tools]\n\ttool_strategy = "paralel"\n[agent]\nsystem_prompt = "\${NOT_SET}"\n`,
  );
  const { code, out } = await runHoldfast(["config", "check", path]);
  expect(code).toBe(2);
  expect(out).toContain(
    [
      'error: tools.tool_strategy: expected "sequential", "parallel" or "batched", found "paralel"; did you mean "parallel"?',
      ` --> ${path}:5:18`,
      '5 | \ttool_strategy = "paralel"',
      "  | \t                ^^^^^^^^^",
    ].join("\n"),
  );
  expect(out).toContain("NOT_SET is not set");
  expect(out).toContain("2 errors\n");
});

test("check rejects a literal key in a header and a header that cannot be sent, and displays neither value", async () => {
  const key = "0123456789-literal-key";
  const path = await file(
    `${PROVIDER}[provider.headers]\nAuthorization = "Bearer ${key}"\n"X-A\\r\\nX-B" = "1"\n`,
  );
  const { code, out } = await runHoldfast(["config", "check", path]);
  expect(code).toBe(2);
  expect(out).toContain('"Authorization" looks like a secret; write a reference to it, as ${NAME}');
  expect(out).toContain("is not a header name");
  expect(out).not.toContain(key);
});

test("show prints no value of a variable that holds a secret, wherever the file uses it", async () => {
  const key = "0123456789-of-somebody";
  const path = await file(`${PROVIDER}[agent]\nsystem_prompt = "Use \${DEPLOY_TOKEN}."\n`);
  for (const flags of [[], ["--resolved"], ["--toml"], ["--yaml"], ["--json"], ["--json", "--resolved"]]) {
    const { code, out } = await runHoldfast(["config", "show", path, ...flags], { DEPLOY_TOKEN: key });
    expect(code).toBe(0);
    expect(out).toContain("Use ***.");
    expect(out).not.toContain(key);
  }
});

test("only terminals get colours", () => {
  const problem = {
    kind: "parse",
    severity: "error",
    file: "f",
    line: 1,
    column: 1,
    excerpt: "x",
    message: "m",
  } as const;
  const plain = formatProblem(problem, createPalette({ isTTY: false }, {})).join("\n");
  const painted = formatProblem(problem, createPalette({ isTTY: true }, {})).join("\n");
  expect(plain).not.toContain("\u001b[");
  expect(painted).toContain("\u001b[31m");
});

test("check of several files: a warning fails only with --strict; --json prints the problems as data [CFG-28.3]", async () => {
  const good = await file(PROVIDER, "good.toml");
  const doubtful = await file('provider: {model: gpt-4o, api_key: "${K}"}\n', "doubtful.yaml");
  expect((await runHoldfast(["config", "check", good, doubtful])).code).toBe(0);
  const { code, out } = await runHoldfast(["config", "check", good, doubtful, "--strict", "--json"]);
  expect(code).toBe(1);
  const [first, second] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    type: "check",
    valid: true,
    problems: [],
    agents: [{ name: "agent", hash: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
  expect(second).toMatchObject({
    valid: true,
    problems: [{ severity: "warning", line: 1, field: "provider.model" }],
  });
});

test("show prints the definition; --resolved states the source of every value [CFG-29.3, IRON-02.1]", async () => {
  const path = await file(`${PROVIDER}max_tokens = \${MAX}\n[agent.profile]\nname = "nina"\n`);
  const env = { MAX: "77", KEY: "sk-secret" };
  const shown = await runHoldfast(["config", "show", path, "--json"], env);
  const { name, definition } = JSON.parse(shown.out);
  expect(name).toBe("nina");
  expect(AgentDefinition.parse(definition)).toEqual(definition);
  const { out } = await runHoldfast(["config", "show", path, "--resolved"], env);
  expect(out).toMatch(
    new RegExp(`^model\\.maxTokens +77 +${path}:4:14 · provider\\.max_tokens · with \\$MAX$`, "m"),
  );
  expect(out).toMatch(/^limits\.maxTurns +50 +default$/m);
  expect(shown.out + out).not.toContain("sk-secret");
});

test("show writes one agent of several as its own file, with the same hash [CFG-29.1]", async () => {
  const path = await file(TWO);
  const [, reviewer] = JSON.parse((await runHoldfast(["config", "check", path, "--json"])).out).agents;
  for (const [flag, name] of [
    ["--toml", "one.toml"],
    ["--yaml", "one.yaml"],
  ] as const) {
    const { out } = await runHoldfast(["config", "show", path, "--agent", "reviewer", flag]);
    const one = await file(out, name);
    const { agents } = JSON.parse((await runHoldfast(["config", "check", one, "--json"])).out);
    expect(agents).toEqual([reviewer]);
  }
});

const TWO = `${PROVIDER}[[agent.instances]]\nname = "coder"\ntools = ["bash"]\n[agent.instances.execution]\nmax_turns = 4\n[[agent.instances]]\nname = "reviewer"\n`;

test("one agent of several is selected by name [CFG-07.5]", async () => {
  const path = await file(TWO);
  expect((await runHoldfast(["config", "show", path, "--agent", "reviewer"])).out).toMatch(/^# reviewer · /);
  const unknown = await runHoldfast(["config", "show", path, "--agent", "codr"]);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "coder"?') });
});

test("--agent takes an agent from a file; other flags override its values [CFG-29.2]", async () => {
  await file(TWO);
  const made = (flags: object) =>
    buildDefinition(
      { agent: "agent.toml#coder", ...flags },
      { cwd: folder, env: { HOLDFAST_MODEL: "openai/other" } },
    );
  expect(made({}).agent).toMatchObject({
    name: "coder",
    model: { id: "claude-opus-5" },
    tools: ["bash"],
    workspace: folder,
    limits: { maxTurns: 4 },
  });
  expect(
    made({ model: "openai/gpt-5", tools: "none", system: "s", workspace: "w", maxTurns: "9" }).agent,
  ).toMatchObject({
    name: "coder",
    model: { id: "gpt-5" },
    tools: [],
    systemPrompt: "s",
    workspace: join(folder, "w"),
    limits: { maxTurns: 9, maxTotalTokens: 1_000_000 },
  });
  expect(() => made({ maxCost: "1", model: "anthropic/claude-x" })).toThrow(/--prices/);
  expect(made({ maxCost: "1", prices: "1,2" }).agent).toMatchObject({
    model: { id: "claude-opus-5", cost: { output: 2 } },
    limits: { maxCostUsd: 1 },
  });
});

test.each([["run", "x"], ["chat"]])(
  "%s with an invalid file: every problem with its line, exit code 2 [CFG-27.5]",
  async (...args) => {
    const path = await file('[provider]\napi_key = "${K}"\nmodel = 3\n[execution]\nmax_turns = 0\n');
    const { code, out, err } = await runHoldfast([
      ...args,
      "--agent",
      path,
      "--address",
      "127.0.0.1:1",
      "--json",
    ]);
    expect(code).toBe(2);
    expect(err).toContain("3 | model = 3");
    expect(err).toContain("5 | max_turns = 0");
    expect(JSON.parse(out)).toMatchObject({
      type: "error",
      exitCode: 2,
      problems: [{ line: 3 }, { line: 5 }],
    });
  },
);

test.each([
  ["agent.toml", "2 agents; choose one"],
  ["agent.toml#nobody", "It defines coder, reviewer."],
  ["missing.toml", "is not a valid agent file"],
])("--agent %s is rejected [CFG-07.5]", async (named, said) => {
  await file(TWO);
  expect(() => buildDefinition({ agent: named }, { cwd: folder, env: {} })).toThrow(said);
});

test("the starter's agent matches its comments", () => {
  expect(STARTER.split("\n")[0]).toMatch(/^#:schema /);
});
