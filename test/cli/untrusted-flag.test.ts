import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_COMMANDS, buildProgram } from "../../src/apps/cli/program.ts";
import { createTerminal, runHoldfast } from "./terminal.ts";

/** Nothing listens on port 1: a file that is accepted leads to another exit code. */
const NOWHERE = ["--address", "127.0.0.1:1"];

const PROVIDER = '[provider]\nmodel = "m"\napi = "anthropic"\napi_key = "${KEY}"\n';

let home: string;
let file: string;
let mode: string;
let servers: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-untrusted-"));
  await writeFile(join(home, "secret.txt"), "The secret words.");
  const reader = `system_prompt = "file:${join(home, "secret.txt")}"\n`;
  file = join(home, "stranger.toml");
  await writeFile(file, `${PROVIDER}[agent]\n${reader}`);
  servers = join(home, ".mcp.json");
  await writeFile(servers, '{"mcpServers": {"files": {"command": "files-server"}}}');
  mode = join(home, "mode.toml");
  const parts = ["a", "b"].map((name) => `[[agent.instances]]\nname = "${name}"\n`).join("");
  await writeFile(
    mode,
    `${PROVIDER}[agent.profile]\n${reader}${parts}[mode]\ntype = "pipeline"\n[[mode.stages]]\nagent = "a"\n[[mode.stages]]\nagent = "b"\n`,
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

const LINES: readonly (readonly [string, () => readonly string[]])[] = [
  ["run", () => ["run", "Go", "--agent", file]],
  ["run of a mode", () => ["run", "Go", "--agent", mode]],
  ["chat", () => ["chat", "--agent", file]],
  ["compare", () => ["compare", "Go", "--agent", file]],
  ["send", () => ["send", "s", "Go", "--agent", file]],
  ["branch", () => ["branch", "s", "--before-turn", "1", "--agent", file]],
  ["explore", () => ["explore", "s", "--agent", file]],
  ["update", () => ["update", "s", "--agent", file]],
  ["schedule create", () => ["schedule", "create", "n", "Go", "--every", "1h", "--agent", file]],
  ["schedule create of a mode", () => ["schedule", "create", "n", "Go", "--every", "1h", "--agent", mode]],
  ["serve", () => ["serve", "--port", "0", "--agent", file]],
  ["serve, of one agent", () => ["serve", "--port", "0", "--agent", `${mode}#a`]],
  ["skills list", () => ["skills", "list", "--agent", file]],
  ["mcp test", () => ["mcp", "test", "--agent", file]],
  ["mcp import", () => ["mcp", "import", servers, "--into", file]],
  ["config show", () => ["config", "show", file]],
];

test.each(LINES)("%s --untrusted rejects a file that reads another one", async (_, line) => {
  const { code, out, err } = await runHoldfast([...line(), "--untrusted", "--home", home, ...NOWHERE]);
  expect(code).toBe(2);
  expect(err).toContain("refers to a file, which an untrusted file must not do");
  expect(out + err).not.toContain("The secret words");
});

test("every command that reads agent files takes --untrusted", async () => {
  const commandsOf = (command: Command): readonly Command[] => [
    command,
    ...command.commands.flatMap(commandsOf),
  ];
  const program = await buildProgram(createTerminal().streams, ALL_COMMANDS, async () => {});
  const readers = commandsOf(program).filter(({ options }) =>
    options.some(
      ({ flags, description }) =>
        /--(agent|definition) <file/.test(flags) || /agent files?\b/.test(description),
    ),
  );
  const names = readers.map((command) => command.name());
  expect(names).toEqual(expect.arrayContaining(["run", "serve", "compare", "update", "create"]));
  const without = readers.filter(({ options }) => !options.some(({ long }) => long === "--untrusted"));
  expect(without.map((command) => command.name())).toEqual([]);
});
