import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import type { ModelServer } from "../../src/testing/model-server/server.ts";
import { type Provider, ProviderError } from "../../src/worker.ts";
import {
  answerHandshake,
  createTextResult,
  HttpServer,
  parseMessage,
  writeJson,
} from "../mcp/support/http-server.ts";
import { resolveOfficialServer } from "../mcp/support/mcp-servers.ts";
import { createDocument, startApi } from "../openapi/sample-api.ts";
import { HOST, NO_SANDBOX } from "../platform/sandbox/host.ts";
import { LoopbackServer } from "../providers/loopback-server.ts";
import { writeFiles } from "../skills/skill-folders.ts";
import { testIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { recordWarnings } from "../workflows/support/warnings.ts";

// The agent files of docs/, as printed, on `holdfast run`: the test supplies only addresses and the values of variables.

const DOCS = new URL("../../docs/", import.meta.url);
const KEY = "sk-docs-0123456789abcdef";
const NOTE = "The cellar door is green.";

const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text = ""]) => text);
const pageOf = (name: string) => readFile(new URL(`${name}.md`, DOCS), "utf8");

/** What docs/vendors/custom.md registers: its code, with a `createWorker` that only records its options. */
async function customProviders(): Promise<Provider[]> {
  const [code = ""] = blocks(await pageOf("vendors/custom"), "ts");
  const { outputText } = ts.transpileModule(code.replace(/^import .*$/m, ""), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const made: Provider[] = [];
  const createWorker = (options: { providers: Provider[] }) => void made.push(...options.providers);
  await AsyncFunction("createWorker", "ProviderError", outputText)(createWorker, ProviderError);
  return made;
}

/** The machine that Google's library believes to run on, which gives a token to every caller. */
async function machineWithToken(): Promise<LoopbackServer> {
  const metadata = await LoopbackServer.start((response, { url }) => {
    response.writeHead(200, { "content-type": "application/json", "metadata-flavor": "Google" });
    response.end(url.includes("/token") ? JSON.stringify({ access_token: KEY, expires_in: 3600 }) : "p");
  });
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", undefined);
  vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
  vi.stubEnv("GCE_METADATA_HOST", metadata.url.replace("http://", ""));
  return metadata;
}

const { log, warnings } = recordWarnings();
let stage: TestEnvironment;
/** Not in the home folder: a sandbox contains nothing of that. */
let workspace: string;
let metadata: LoopbackServer;
beforeAll(async () => {
  metadata = await machineWithToken();
  stage = await openTestEnvironment({
    log,
    secrets: () => KEY,
    registered: { providers: await customProviders() },
  });
  workspace = await realpath(await mkdtemp(join(tmpdir(), "holdfast-docs-")));
  vi.stubEnv("HOME", stage.home);
  vi.stubEnv("CLOUDSDK_CONFIG", stage.home);
  await writeFile(join(workspace, "note.txt"), NOTE);
});
afterAll(async () => {
  await stage.close();
  await rm(workspace, { recursive: true, force: true });
  await metadata.stop();
  vi.unstubAllEnvs();
});

type Line = { readonly type: string; readonly [key: string]: unknown };

/** Runs an agent file to its end. The scripted vendor recognizes the conversation by its prompt. */
async function runFile(name: string, text: string, replies: readonly Reply[], ...flags: readonly string[]) {
  const folder = join(workspace, name.replaceAll("/", "-"));
  await mkdir(folder, { recursive: true });
  const file = join(folder, "agent.toml");
  await writeFile(file, text);
  const task = `Do what ${name} says`;
  stage.model.script({ apiKey: KEY, conversations: [{ match: task, replies: [...replies] }] });
  const from = stage.model.requests.length;
  const args = ["run", task, "--agent", file, "--workspace", workspace, ...flags];
  const { code, out, err } = await runCommandLine(stage, ...args, "--json");
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const results = lines.flatMap(({ event }) => {
    const { type, message } = (event ?? {}) as {
      type?: string;
      message?: { role: string; content: unknown };
    };
    return type === "MessageEnd" && message?.role === "toolResult" ? [message] : [];
  });
  const result = lines.at(-1);
  const [loop] = await stage.transcript.readLoops(String(result?.["session"]));
  const requests = stage.model.requests.slice(from);
  return { code, err, results, result, usage: loop?.usage, requests };
}

const textsOf = (results: readonly { content?: unknown }[]) =>
  results.map(({ content }) => (content as { text: string }[]).map((part) => part.text).join(""));

const answered = (text: string, code = 0) => ({
  code,
  result: { type: "result", exitCode: code, outcome: { type: "answered" }, text },
});
const call = (name: string, value: object): Reply => ({ toolCalls: [{ name, arguments: value }] });

describe("the agent files of docs/vendors run as printed", () => {
  type Vendor = { api: string; at: (model: ModelServer) => string; files: number };
  const VENDORS: Record<string, Vendor> = {
    anthropic: { api: "anthropic_messages", at: ({ anthropicBaseUrl }) => anthropicBaseUrl, files: 1 },
    "openai-completions": { api: "openai_completions", at: ({ openaiBaseUrl }) => openaiBaseUrl, files: 1 },
    "openai-responses": { api: "openai_responses", at: ({ openaiBaseUrl }) => openaiBaseUrl, files: 1 },
    azure: { api: "openai_responses", at: ({ url }) => `${url}/openai/v1`, files: 2 },
    google: { api: "google_generative_ai", at: ({ googleBaseUrl }) => googleBaseUrl, files: 1 },
    vertex: { api: "google_vertex", at: ({ vertexBaseUrl }) => vertexBaseUrl, files: 1 },
    bedrock: { api: "bedrock_converse_stream", at: ({ bedrockBaseUrl }) => bedrockBaseUrl, files: 2 },
  };

  thoroughTest("each page is tried, and states how to configure another address [DOC-02.2-3]", async () => {
    const pages = (await readdir(new URL("vendors/", DOCS))).map((name) => name.replace(/\.md$/, ""));
    expect(pages.filter((name) => name !== "custom").sort()).toEqual(Object.keys(VENDORS).sort());
    for (const name of Object.keys(VENDORS)) {
      const page = await pageOf(`vendors/${name}`);
      expect(blocks(page, "toml"), name).toHaveLength(VENDORS[name]!.files);
      expect(page, name).toContain("`--base-url");
    }
  });

  /** Those that `npm test` runs: the adapters have tests of their own. */
  const QUICK_FILES = ["anthropic-1", "bedrock-2", "vertex-1"];
  const files = Object.entries(VENDORS).flatMap(([name, vendor]) =>
    Array.from(
      { length: vendor.files },
      (_, nth) => [`${name}-${nth + 1}`, { name, nth, ...vendor }] as const,
    ),
  );
  const declare = (title: string) => (QUICK_FILES.includes(title) ? test : thoroughTest);
  for (const [title, { name, nth, api, at }] of files)
    declare(title)(
      `${title}: a call, its result, the answer, its tokens; the vendor accepts every request [DOC-02.2]`,
      async () => {
        const text = blocks(await pageOf(`vendors/${name}`), "toml")[nth] ?? "";
        const replies: Reply[] = [
          { text: "I look.", ...call("read_file", { path: "note.txt" }), usage: { input: 70, output: 9 } },
          { text: "It is green.", usage: { input: 91, output: 4, reasoning: 0 } },
        ];
        // The second file of a page is about keys alone.
        const tools = nth === 0 ? [] : ["--tools", "read_file"];
        const ran = await runFile(title, text, replies, "--base-url", at(stage.model), ...tools);
        expect(ran).toMatchObject(answered("It is green."));
        expect(textsOf(ran.results)).toEqual([expect.stringContaining(NOTE)]);
        const said = ran.requests.map(({ protocol, outcome, validationError }) => [
          protocol,
          outcome,
          validationError,
        ]);
        expect(said).toEqual([
          [api, "answered", undefined],
          [api, "answered", undefined],
        ]);
        expect(ran.usage).toMatchObject({ input: 161, output: 13 });
      },
    );

  thoroughTest(
    "custom: an application's own vendor, by the code of its page [DOC-02.2, PROV-28]",
    async () => {
      const [text = ""] = blocks(await pageOf("vendors/custom"), "toml");
      const asked: { model: string; messages: { role: string }[]; tools: { name: string }[] }[] = [];
      const gateway = await LoopbackServer.start((response, { url, headers, body }) => {
        if (url !== "/answer" || headers.authorization !== `Bearer ${KEY}`) {
          return response.writeHead(401).end();
        }
        asked.push(JSON.parse(body));
        const look = { type: "toolCall", id: "c1", name: "read_file", arguments: { path: "note.txt" } };
        const content = asked.length === 1 ? [look] : [{ type: "text", text: "It is green." }];
        return response.end(JSON.stringify({ content, input: 70, output: 9 }));
      });
      try {
        const ran = await runFile("custom", text, [], "--base-url", gateway.url);
        expect(ran).toMatchObject(answered("It is green."));
        expect(textsOf(ran.results)).toEqual([expect.stringContaining(NOTE)]);
        expect(asked.map(({ model, messages }) => [model, messages.map(({ role }) => role)])).toEqual([
          ["house-1", ["user"]],
          ["house-1", ["user", "assistant", "toolResult"]],
        ]);
        expect(asked[0]?.tools.map(({ name }) => name)).toContain("read_file");
        expect(ran.usage).toMatchObject({ input: 140, output: 18 });
      } finally {
        await gateway.stop();
      }
    },
  );
});

testIf(HOST.able, NO_SANDBOX)(
  "the agent file of docs/mcp.md works with its two servers [MCP-08.1-2]",
  async () => {
    const [text = ""] = blocks(await pageOf("mcp"), "toml");
    const library = await writeFiles(join(workspace, "library"), { "note.txt": NOTE });
    const readOnly = { inputSchema: { type: "object", properties: { words: { type: "string" } } } };
    const tracker = await HttpServer.start((request, response) => {
      const { id, method, params } = parseMessage(request);
      if (request.headers.authorization !== `Bearer ${KEY}`) return response.writeHead(401).end();
      if (method === "tools/list") {
        const tools = ["search_issues", "get_issue", "delete_issue"].map((name) => ({ name, ...readOnly }));
        return writeJson(response, { jsonrpc: "2.0", id, result: { tools } });
      }
      if (method === "tools/call")
        return writeJson(response, createTextResult(id, `asked ${JSON.stringify(params)}`));
      return answerHandshake(request, response);
    });
    try {
      const here = text
        .replace('"npx"', JSON.stringify(process.execPath))
        .replace(
          '"-y", "@modelcontextprotocol/server-filesystem"',
          JSON.stringify(resolveOfficialServer("filesystem")),
        )
        .replaceAll("/srv/library", library)
        // The server is installed in this repository, which may be in the folder for temporary files.
        .replace("writable = [", `readable = ${JSON.stringify([process.cwd()])}, writable = [`)
        .replace("https://mcp.example.com", tracker.origin);
      const replies: Reply[] = [
        call("files__read_text_file", { path: join(library, "note.txt") }),
        call("tracker__search_issues", { words: "door" }),
        { text: "One, about the door." },
      ];
      const ran = await runFile("mcp", here, replies, "--base-url", stage.model.anthropicBaseUrl);
      expect(ran).toMatchObject(answered("One, about the door."));
      expect(textsOf(ran.results)).toEqual([
        NOTE,
        expect.stringContaining('"name":"search_issues","arguments":{"words":"door"}'),
      ]);
      const offered = ((ran.requests[0]?.body?.["tools"] ?? []) as { name: string }[]).map(
        ({ name }) => name,
      );
      expect(offered).toEqual(
        expect.arrayContaining(["files__write_file", "tracker__search_issues", "tracker__get_issue"]),
      );
      expect(offered).not.toContain("files__move_file");
      expect(offered).not.toContain("tracker__delete_issue");
    } finally {
      await tracker.close();
    }
  },
);

thoroughTest(
  "the agent file of docs/openapi.md calls a server with its key [OAPI-01.1, OAPI-01.3, OAPI-05.1]",
  async () => {
    const [text = ""] = blocks(await pageOf("openapi"), "toml");
    const document = createDocument({
      "/pets": { get: { operationId: "listPets", tags: ["pets"] }, post: { operationId: "addPet" } },
      "/pets/{petId}": { delete: { operationId: "deletePet", tags: ["pets"] } },
    });
    await writeFile(join(workspace, "petstore.yaml"), JSON.stringify(document));
    const api = await startApi((_, response) => response.end('["Rex"]'));
    try {
      const here = text.replace("http://127.0.0.1:8080", api.url);
      const replies = [call("pets__listPets", {}), { text: "There is Rex." }];
      const ran = await runFile("openapi", here, replies, "--base-url", stage.model.anthropicBaseUrl);
      expect(ran).toMatchObject(answered("There is Rex."));
      expect(textsOf(ran.results)).toEqual([expect.stringContaining('["Rex"]')]);
      const said = api.seen.map(({ method, url, headers }) => [method, url, headers.authorization]);
      expect(said).toEqual([["GET", "/v1/pets", `Bearer ${KEY}`]]);
    } finally {
      await api.close();
    }
  },
);

test("the skill and the agent file of docs/skills.md: its text is read, its script is run [SKL-01.1-2, SKL-05.4, SKL-06.2-3]", async () => {
  const page = await pageOf("skills");
  const [text = ""] = blocks(page, "toml");
  const folder = await writeFiles(join(workspace, "skills"), {
    "review/SKILL.md": blocks(page, "markdown")[0] ?? "",
    "review/scripts/changed.sh": 'echo "changed: note.txt"\n',
    "review/references/rules.md": "Small functions.\n",
  });
  const replies: Reply[] = [
    call("read_skill", { name: "review" }),
    call("read_skill", { name: "review", path: "references/rules.md" }),
    call("bash", { command: `sh ${folder}/review/scripts/changed.sh` }),
    { text: "The note has changed, by the rules." },
  ];
  const ran = await runFile("skills", text, replies, "--base-url", stage.model.anthropicBaseUrl, "--yes");
  expect(ran).toMatchObject(answered("The note has changed, by the rules."));
  expect(textsOf(ran.results)).toEqual([
    expect.stringContaining(`sh ${folder}/review/scripts/changed.sh`),
    "Small functions.\n",
    expect.stringContaining("changed: note.txt"),
  ]);
  expect(JSON.stringify(ran.requests[0]?.body?.["system"])).toContain("<name>review</name>");
  expect(warnings.map(({ text }) => text)).toEqual([
    expect.stringContaining("are ignored: it is in the workspace"),
  ]);
});
