import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readAgents } from "../../src/config/agent-file/read-agents.ts";
import { runHoldfast } from "./terminal.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-mcp-import-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, content: string | object): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  return path;
}

const importFile = (path: string, ...flags: string[]) => runHoldfast(["mcp", "import", path, ...flags]);

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

const CLAUDE_DESKTOP = {
  mcpServers: {
    filesystem: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"],
    },
    github: {
      command: "docker",
      args: ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: SECRET, GITHUB_HOST: "https://github.example.com" },
    },
  },
};

const AGENT_TOML = `# The librarian.
[provider]
model = "claude-x" # a model
api_key = "\${KEY}"

[[mcp]]
name = "files" # ours
command = "files-server"
`;

describe("mcp import prints an agent file's tables", () => {
  test("from claude_desktop_config.json, and copies no secret", async () => {
    const path = await write("claude_desktop_config.json", CLAUDE_DESKTOP);
    const { code, out, err } = await importFile(path);
    expect(out).toBe(`[[mcp]]
name = "filesystem"
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"]

[[mcp]]
name = "github"
command = "docker"
args = ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"]

[mcp.env]
GITHUB_PERSONAL_ACCESS_TOKEN = "\${GITHUB_PERSONAL_ACCESS_TOKEN}"
GITHUB_HOST = "https://github.example.com"
`);
    expect(err).toBe(
      "github: set GITHUB_PERSONAL_ACCESS_TOKEN in the worker's environment to the secret in `env.GITHUB_PERSONAL_ACCESS_TOKEN`, which is not copied.\n",
    );
    expect(code).toBe(0);
  });

  test("from Claude Code's .mcp.json, with transports, variables and defaults", async () => {
    const path = await write(".mcp.json", {
      mcpServers: {
        "my api": {
          type: "http",
          url: "${API_BASE_URL:-https://api.example.com}/mcp",
          headers: { Authorization: "Bearer ${API_KEY}", "X-Team": "core" },
        },
        events: {
          type: "sse",
          url: "https://events.example.com/sse",
          headers: { Authorization: `Bearer ${SECRET}` },
        },
        local: {
          type: "stdio",
          command: "server",
          args: ["--api-key", SECRET, `--token=${SECRET}`],
          timeout: 5,
        },
      },
    });
    const { out, err } = await importFile(path, "--yaml");
    expect(out).toBe(`mcp:
  - name: my-api
    url: \${API_BASE_URL}/mcp
    headers:
      Authorization: Bearer \${API_KEY}
      X-Team: core
  - name: events
    url: https://events.example.com/sse
    headers:
      Authorization: Bearer \${EVENTS_TOKEN}
  - name: local
    command: server
    args:
      - --api-key
      - \${LOCAL_API_KEY}
      - --token=\${LOCAL_TOKEN}
`);
    expect(err.split("\n")).toEqual([
      'my api: it is called "my-api": a name has 1 to 32 letters, digits, - and _.',
      "my api: set API_BASE_URL: the value that the file gives without it is left out.",
      "events: set EVENTS_TOKEN in the worker's environment to the secret in `headers.Authorization`, which is not copied.",
      "events: it uses the older transport `sse`, and Holdfast speaks streamable HTTP: check it with `holdfast mcp test`, or use the server's newer address.",
      "local: set LOCAL_API_KEY in the worker's environment to the secret in `args`, which is not copied.",
      "local: set LOCAL_TOKEN in the worker's environment to the secret in `args`, which is not copied.",
      "local: `timeout` is left out: set `timeout_ms`.",
      "",
    ]);
  });

  test("from ~/.claude.json: the user's servers and those of one project, without the disabled ones", async () => {
    const path = await write(".claude.json", {
      numStartups: 12,
      mcpServers: { memory: { command: "memory-server" } },
      projects: {
        [folder]: {
          allowedTools: [],
          mcpServers: { tests: { command: "tests-server" }, old: { command: "old-server" } },
          disabledMcpServers: ["old"],
        },
        "/elsewhere": { mcpServers: { other: { command: "other-server" } } },
      },
    });
    const { out, err } = await importFile(path, "--project", folder);
    expect(out.match(/^name = .*/gm)).toEqual(['name = "memory"', 'name = "tests"']);
    expect(err).toBe("old is left out: it is disabled there.\n");
  });

  test("from Cursor's .cursor/mcp.json, with its variables and unsupported fields", async () => {
    const path = await write(
      ".cursor/mcp.json",
      `{
      // Cursor allows comments.
      "mcpServers": {
        "docs": {
          "command": "\${userHome}/bin/docs",
          "args": ["\${workspaceFolder}/docs", "\${workspaceFolderBasename}"],
          "env": { "DOCS_TOKEN": "\${env:DOCS_TOKEN}" },
          "envFile": "\${workspaceFolder}/.env",
        },
        "paused": { "command": "x", "disabled": true },
        "broken": { "command": "x", "url": "https://x.example.com" }
      }
    }`,
    );
    const { out, err } = await importFile(path);
    expect(out).toBe(`[[mcp]]
name = "docs"
command = "${homedir()}/bin/docs"
args = ["${folder}/docs", "${folder.split("/").at(-1)}"]

[mcp.env]
DOCS_TOKEN = "\${DOCS_TOKEN}"
`);
    expect(err.split("\n")).toEqual([
      "docs: `envFile` is left out: set its variables in the worker's environment, and refer to them in `env`.",
      "paused is left out: it is disabled there.",
      "broken is left out: a server has one of `command`, `url`, and this one has both.",
      "",
    ]);
  });

  test("from VS Code's .vscode/mcp.json, with its inputs, as JSON", async () => {
    const path = await write(".vscode/mcp.json", {
      inputs: [{ type: "promptString", id: "perplexity-key", description: "Key", password: true }],
      servers: {
        perplexity: {
          type: "stdio",
          command: "npx",
          args: ["-y", "server-perplexity-ask"],
          env: { PERPLEXITY_API_KEY: "${input:perplexity-key}" },
          cwd: "/srv",
        },
      },
    });
    const { out } = await importFile(path, "--json");
    expect(JSON.parse(out)).toEqual({
      type: "mcp-import",
      file: path,
      servers: [
        {
          name: "perplexity",
          command: "npx",
          args: ["-y", "server-perplexity-ask"],
          env: { PERPLEXITY_API_KEY: "${PERPLEXITY_KEY}" },
          cwd: "/srv",
          notes: ["set PERPLEXITY_KEY: the other program asks for this value"],
        },
      ],
      leftOut: [],
    });
  });

  test.each([
    ["not a JSON file", "{", /^.*Line 1 of .* is not JSON/],
    [
      "a file of something else",
      "{}",
      /has no servers. It needs `mcpServers` \(Claude, Cursor\) or `servers`/,
    ],
    [
      "two servers of one name",
      { mcpServers: { "a b": { command: "x" }, "a-b": { command: "y" } } },
      /Two servers would be called "a-b". Nothing is imported. Rename one of them/,
    ],
  ])("and refuses %s", async (_, content, message) => {
    const { code, out, err } = await importFile(await write("mcp.json", content));
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
  });
});

describe("mcp import --into adds to an agent file", () => {
  const listNames = (file: string) =>
    readAgents(file, { env: { KEY: "k" } }).agents[0]?.definition.mcp?.map(({ name }) => name);

  test.each([
    ["agent.toml", AGENT_TOML, "# ours"],
    [
      "agent.yaml",
      "# The librarian.\nprovider:\n  model: claude-x # a model\n  api_key: ${KEY}\nmcp:\n  - name: files # ours\n    command: files-server\n",
      "# ours",
    ],
    [
      "agent.json",
      '{\n  "provider": { "model": "claude-x", "api_key": "${KEY}" },\n  "mcp": [{ "name": "files", "command": "files-server" }]\n}\n',
      '"provider": { "model"',
    ],
  ])("%s, whose comments and order stay", async (name, text, kept) => {
    const source = await write("claude_desktop_config.json", CLAUDE_DESKTOP);
    const file = await write(name, text);
    const dry = await importFile(source, "--into", file, "--dry-run");
    expect([dry.code, await readFile(file, "utf8")]).toEqual([0, text]);
    expect(dry.err).toContain(`2 servers would be added to ${file}. Nothing is written.`);
    const { code, err } = await importFile(source, "--into", file);
    expect([code, err]).toEqual([0, expect.stringContaining(`2 servers added to ${file}. Check them: `)]);
    const written = await readFile(file, "utf8");
    expect(written).toContain(kept);
    if (name !== "agent.json") expect(written).toContain("# The librarian.");
    expect(written).not.toContain(SECRET);
    expect(listNames(file)).toEqual(["files", "filesystem", "github"]);
  });

  test("that begins with a byte order mark, or has a comment in place of servers", async () => {
    const source = await write("mcp.json", { mcpServers: { one: { command: "x" } } });
    const json = await write("a.json", '\uFEFF{"provider": {"model": "claude-x"}}');
    expect((await importFile(source, "--into", json)).code).toBe(0);
    expect(listNames(json)).toEqual(["one"]);
    const yaml = await write("a.yaml", "provider:\n  model: claude-x\nmcp:\n  # none yet\n");
    expect((await importFile(source, "--into", yaml)).code).toBe(0);
    expect(listNames(yaml)).toEqual(["one"]);
    expect(await readFile(yaml, "utf8")).toContain("# none yet");
  });

  test("which has none yet", async () => {
    const source = await write("mcp.json", { mcpServers: { one: { command: "x" } } });
    for (const [name, text] of [
      ["a.toml", '[provider]\nmodel = "claude-x"\n'],
      ["a.yaml", "provider:\n  model: claude-x\n"],
      ["a.json", '{"provider": {"model": "claude-x"}}'],
    ] as const) {
      const file = await write(name, text);
      await importFile(source, "--into", file);
      expect(listNames(file)).toEqual(["one"]);
    }
  });

  test("and refuses a server that the file has already, and a file that cannot take a table", async () => {
    const source = await write("mcp.json", {
      mcpServers: { files: { command: "x" }, more: { command: "y" } },
    });
    const file = await write("agent.toml", AGENT_TOML);
    const double = await importFile(source, "--into", file);
    expect(double.code).toBe(2);
    expect(double.err).toContain(
      `${file} has a server "files" already. Nothing is imported. Remove or rename it there, or import the others with --server.`,
    );
    expect(await readFile(file, "utf8")).toBe(AGENT_TOML);
    expect((await importFile(source, "--server", "more", "--into", file)).code).toBe(0);
    expect(listNames(file)).toEqual(["files", "more"]);
    const inline = await write(
      "inline.toml",
      'mcp = [{ name = "a", command = "b" }]\n[provider]\nmodel = "claude-x"\n',
    );
    const refused = await importFile(source, "--into", inline);
    expect([refused.code, await readFile(inline, "utf8")]).toEqual([2, expect.stringMatching(/^mcp = \[\{/)]);
  });
});
