import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MISBEHAVING_SERVER, resolveOfficialServer } from "../mcp/support/mcp-servers.ts";
import { HOST, NO_SANDBOX } from "../platform/sandbox/host.ts";
import { testIf } from "../support/skipping.ts";
import { runHoldfast as runInTerminal } from "./terminal.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-mcp-cli-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a command without a sandbox, unless the variables state one. */
const runHoldfast = (args: readonly string[], env: Record<string, string> = {}) =>
  runInTerminal(args, { HOLDFAST_SANDBOX: "off", ...env });

const node = (file: string, ...args: string[]) => [process.execPath, file, ...args].join(" ");

async function agent(servers: string): Promise<string> {
  const path = join(folder, "agent.toml");
  await writeFile(path, `[provider]\nmodel = "claude-x"\napi_key = "\${KEY}"\n\n${servers}`);
  return path;
}

const filesystem = (more = "") => `[[mcp]]
name = "files"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(resolveOfficialServer("filesystem"))}, ${JSON.stringify(folder)}]
${more}
`;

describe("mcp list", () => {
  test("displays the tools that an agent would have: names, replay classes, descriptions, hashes", async () => {
    const file = await agent(
      filesystem('trusted = true\ninclude = ["read_text_file", "write_file"]\nconfirm = ["write_*"]'),
    );
    const { code, out } = await runHoldfast(["mcp", "list", "--agent", file]);
    expect(out).toMatch(/^files: secure-filesystem-server .*, protocol 2025-11-25$/m);
    expect(out).toMatch(/^files__read_text_file +pure +reads +[0-9a-f]{12} +Read the complete contents/m);
    expect(out).toMatch(/^files__write_file +idempotent +yes +repeatable, destroys +[0-9a-f]{12} /m);
    expect(out).not.toContain("files__move_file");
    expect(code).toBe(0);
  });

  test("prints one object for each server", async () => {
    const { code, out } = await runHoldfast([
      "mcp",
      "list",
      "--command",
      node(resolveOfficialServer("everything")),
      "--json",
    ]);
    const seen = JSON.parse(out) as { tools: { remote: string; hash: string }[]; prompts: unknown[] };
    expect(seen).toMatchObject({ type: "mcp-server", name: "server", ok: true });
    expect(seen.tools.find(({ remote }) => remote === "echo")?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(seen.prompts.length).toBeGreaterThan(0);
    expect(code).toBe(0);
  });
});

describe("mcp test", () => {
  testIf(HOST.able, NO_SANDBOX)("starts a server in the sandbox of the environment", async () => {
    const file = await agent(filesystem());
    const { code, out } = await runHoldfast(["mcp", "test", "--agent", file], {
      HOLDFAST_SANDBOX: "workspace",
    });
    expect(out).toMatch(
      /^fail +files .*ended with exit code 1; .*None of the specified directories are accessible/m,
    );
    expect(out).toMatch(/→ .*in the sandbox of the agent/);
    expect(code).toBe(1);
    const wrong = await runHoldfast(["mcp", "test", "--agent", file], { HOLDFAST_SANDBOX: "on" });
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('HOLDFAST_SANDBOX is "on"') });
  });

  test("displays the output of a program that cannot be started, before its trace [MCP-06.4]", async () => {
    const { code, out } = await runHoldfast(["mcp", "test", "--command", node(join(folder, "none.mjs"))]);
    expect(out).toMatch(/ended with exit code 1; its last output: Error: Cannot find module '.*none\.mjs'/);
    expect(code).toBe(1);
  });

  test("states for each server whether it can be used, and what to do about one that cannot", async () => {
    const broken = `[[mcp]]\nname = "broken"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(MISBEHAVING_SERVER)}, "die=3"]\nenv = { NASTY_TOKEN = "\${SECRET_OF_MINE}" }\n`;
    const file = await agent(filesystem() + broken);
    const env = { SECRET_OF_MINE: "s3cr3t-and-long" };
    const { code, out } = await runHoldfast(["mcp", "test", "--agent", file], env);
    expect(out).toMatch(/^ok +files +secure-filesystem-server .*ready in \d+ ms, \d+ tools \(\d+ unsafe\)$/m);
    expect(out).toMatch(
      /^fail +broken +The MCP server "broken" ended with exit code 3; its last output: no licence for \*\*\*$/m,
    );
    expect(out).toMatch(/→ start the command yourself/);
    expect(code).toBe(1);
    const unset = await runHoldfast(["mcp", "test", "--agent", file, "--server", "broken"]);
    expect(unset.out).toContain("SECRET_OF_MINE is not set in the environment of the worker");
  });

  test("a command line that names no server, or an impossible one, is bad usage", async () => {
    expect(await runHoldfast(["mcp", "test"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/No single server is specified/),
    });
    expect(await runHoldfast(["mcp", "test", "--agent", await agent("")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/has no MCP servers/),
    });
    const at = ["mcp", "test", "--url"];
    expect(await runHoldfast([...at, "nowhere"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--url "nowhere" is not an address/),
    });
    expect(await runHoldfast([...at, "http://127.0.0.1:9/", "--timeout", "soon"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--timeout "soon" must be a number/),
    });
    const literal = ["mcp", "test", "--url", "http://127.0.0.1:9/", "--header", "authorization: Bearer abc"];
    expect(await runHoldfast(literal)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/looks like a secret/),
    });
  });
});
