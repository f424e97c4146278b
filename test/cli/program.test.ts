import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { COMMAND_GROUPS } from "../../src/apps/cli/command-table.ts";
import { ALL_COMMANDS, buildProgram, findCommand } from "../../src/apps/cli/program.ts";
import { wrapHelp } from "../../src/apps/cli/wrap-help.ts";
import { HOST } from "../platform/sandbox/host.ts";
import { createTerminal, runHoldfast } from "./terminal.ts";

/** Nothing listens on port 1, and connections to it are refused at once. */
const NOWHERE = ["--address", "127.0.0.1:1"];

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-cli-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const program = await buildProgram(createTerminal().streams, ALL_COMMANDS, async () => {});
const commands = program.commands.map((command) => command.name());

test("pin: the commands, in groups", () => {
  const groups = Object.entries(COMMAND_GROUPS).map(([group, entries]) => [group, Object.keys(entries)]);
  expect(Object.fromEntries(groups)).toEqual({
    "Run agents": ["run", "chat", "send", "schedule"],
    "Watch and steer": [
      "attach",
      "status",
      "steer",
      "follow-up",
      "answer",
      "approve",
      "deny",
      "raise-limit",
      "update",
      "compact",
      "stop",
    ],
    Sessions: [
      "list",
      "show",
      "title",
      "search",
      "export",
      "import",
      "accept",
      "keep",
      "delete",
      "retention",
    ],
    "Continue and branch": ["continue", "rerun", "branch", "fork", "rewind"],
    "Several agents": ["compare", "explore", "eval", "job"],
    "Git work": ["git"],
    "Agent files, models and tools": ["init", "config", "models", "mcp", "openapi", "skills"],
    Operate: ["dev", "doctor", "worker", "serve", "ui", "backup", "restore", "rekey", "completion"],
  });
  // The npm package does not have git work.
  expect([...commands, "git"].toSorted()).toEqual(groups.flatMap(([, names]) => names).toSorted());
});

describe.each([...commands, "git"])("holdfast %s --help", (command) => {
  test("describes itself, with at least two examples, and lists the options of all commands", async () => {
    const { code, out, err } = await runHoldfast([command, "--help"]);
    expect(code).toBe(0);
    expect(err).toBe("");
    const examples = out.match(new RegExp(`^ {2}\\$ .*holdfast ${command}\\b.*$`, "gm")) ?? [];
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const option of ["--json", "--address", "--namespace", "--task-queue", "--home", "--profile"]) {
      expect(out).toContain(option);
    }
  });
});

test("holdfast --help lists the commands in their groups, each option once, exit codes and variables", async () => {
  const { code, out } = await runHoldfast(["--help"]);
  expect(code).toBe(0);
  for (const [group, entries] of Object.entries(COMMAND_GROUPS)) {
    expect(out).toContain(`\n${group}:\n`);
    for (const name of Object.keys(entries)) expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  }
  expect(out.match(/^ {2}--namespace /gm)).toHaveLength(1);
  for (const word of ["Exit codes:", "130", "HOLDFAST_HOME", "HOLDFAST_DEBUG", "TEMPORAL_"])
    expect(out).toContain(word);
});

test.each([
  [["run", "Go"], "run"],
  [["--json", "--address", "a:1", "list", "--limit", "2"], "list"],
  [["help", "job", "status"], "job"],
  [["ls"], "ls"],
  [["--help", "run"], undefined],
  [["--address"], undefined],
  [[], undefined],
])("the command of %j is %s", (argv, name) => {
  expect(findCommand(argv)).toBe(name);
});

test("help describes a command of a command", async () => {
  const { code, out } = await runHoldfast(["help", "job", "status"]);
  expect(code).toBe(0);
  expect(out).toContain("Usage: holdfast job status");
});

test("sentences of a help text fit the terminal; options, tables and examples stay as they are", () => {
  const text = "Usage: x\n\nOne two\nthree four. Five.\nSix.\n\nExamples:\n  $ one two three four five six\n";
  expect(wrapHelp(text, 12)).toBe(
    "Usage: x\n\nOne two\nthree four.\nFive.\nSix.\n\nExamples:\n  $ one two three four five six\n",
  );
  expect(wrapHelp(text, 80)).toContain("One two three four. Five.\nSix.\n");
});

test("--version prints the package's version", async () => {
  const { code, out } = await runHoldfast(["--version"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([
  [["rnu"], "Did you mean run?"],
  [["list", "--stauts", "running"], "--status"],
  [["run"], "missing required argument 'task'"],
  [["list", "--status", "runing", ...NOWHERE], 'Did you mean "running"?'],
  [["list", "--limit", "0", ...NOWHERE], "--limit"],
  [["list", "--sort", "cost", "--after", "x", ...NOWHERE], "does not take --after"],
  [["run", "x", ...NOWHERE], "No model is given"],
  [["run", " ", "--model", "anthropic/m", ...NOWHERE], "The task is empty"],
  [["dev", ...NOWHERE], "--port"],
  [["dev", "--port", "70000"], "--port"],
  [["approve", "s", "--arguments", "{", ...NOWHERE], "--arguments is not JSON"],
  [["approve", "s", "--arguments", "[1]", ...NOWHERE], "one JSON object"],
  [["approve", "s", "--arguments", "@/nowhere/at-all.json", ...NOWHERE], "/nowhere/at-all.json"],
])("%j is bad usage, with a hint on standard error", async (args, hint) => {
  const { code, out, err } = await runHoldfast([...args, "--home", home]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(hint);
});

test.each([
  ["list"],
  ["status", "s"],
  ["show", "s"],
  ["steer", "s", "x"],
  ["follow-up", "s", "x"],
  ["approve", "s"],
  ["deny", "s", "c1"],
  ["compact", "s"],
  ["stop", "s"],
  ["run", "x", "--model", "anthropic/m"],
])("%s without a server: exit code 3, one sentence, no stack", async (...args) => {
  const { code, out, err } = await runHoldfast([...args, ...NOWHERE, "--home", home]);
  expect({ code, out }).toEqual({ code: 3, out: "" });
  expect(err).toMatch(/^holdfast: No Temporal server can be reached at 127\.0\.0\.1:1 .*holdfast dev/m);
  expect(err).not.toMatch(/^\s+at /m);
});

test("an address from Temporal's own environment counts as specified: no server is started beside it", async () => {
  const env = { TEMPORAL_ADDRESS: "127.0.0.1:1", HOME: home };
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:1");
  try {
    const { code, err } = await runHoldfast(["run", "x", "--model", "anthropic/m", "--home", home], env);
    expect(code).toBe(3);
    expect(err).toContain("TEMPORAL_ADDRESS");
  } finally {
    vi.unstubAllEnvs();
  }
});

test("HOLDFAST_DEBUG=1 prints the stack", async () => {
  const { err } = await runHoldfast(["list", ...NOWHERE], { HOLDFAST_DEBUG: "1" });
  expect(err).toMatch(/^\s+at /m);
});

test("--json: the error is an object too, with code and facts", async () => {
  const { code, out, err } = await runHoldfast(["list", "--json", ...NOWHERE]);
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    type: "error",
    code: "unreachable",
    address: "127.0.0.1:1",
    exitCode: 3,
  });
  expect(err).toContain("No Temporal server");
});

test("doctor without a server fails, continues with its other checks, and prints no key", async () => {
  const key = "sk-very-secret-value";
  const { code, out } = await runHoldfast(["doctor", "--json", ...NOWHERE, "--home", home], {
    ANTHROPIC_API_KEY: key,
    PATH: "",
    HOLDFAST_CACHE: home,
    HOLDFAST_SANDBOX: "workspace",
  });
  const checks = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(code).toBe(1);
  expect(checks.every(({ type }) => type === "check")).toBe(true);
  expect(checks.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
    "holdfast ok",
    "node ok",
    "home ok",
    "room ok",
    "live output ok",
    "transcript file ok",
    "server fail",
    "keys ok",
    "ripgrep ok",
    "temporal warn",
    HOST.able ? "sandbox ok" : "sandbox fail",
  ]);
  expect(out).toContain("ANTHROPIC_API_KEY");
  expect(out).not.toContain(key);
});
