import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Snapshot } from "../../src/testing/model-server/control.ts";
import { thoroughTest } from "../support/test-depth.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
let folder: string;
const children: ChildProcess[] = [];

/** The server's process runs JavaScript; the test does not wait for the build. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-model-server-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  for (const room of ["testing/model-server", "schema", "platform", "platform/text"]) await transpile(room);
});

async function transpile(room: string): Promise<void> {
  const source = join(ROOT, "src", room);
  await mkdir(join(folder, room), { recursive: true });
  for (const file of await readdir(source)) {
    if (!file.endsWith(".ts")) continue;
    const { outputText } = ts.transpileModule(await readFile(join(source, file), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ES2022,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
      fileName: file,
    });
    await writeFile(join(folder, room, file.replace(/\.ts$/, ".js")), outputText);
  }
}

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function run(args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
}

async function startProcess(script: unknown, log: string): Promise<{ url: string; child: ChildProcess }> {
  const file = join(folder, "script.json");
  await writeFile(file, JSON.stringify(script));
  const child = run([
    join(folder, "testing/model-server/main.js"),
    "--script",
    file,
    "--port",
    "0",
    "--log",
    log,
  ]);
  const [line] = (await once(createInterface(child.stdout!), "line")) as [string];
  return { url: (JSON.parse(line) as { url: string }).url, child };
}

const post = (url: string, body: unknown) => fetch(url, { method: "POST", body: JSON.stringify(body) });
const snapshot = async (url: string) => (await (await fetch(`${url}/__requests`)).json()) as Snapshot;

async function until<T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (good(value)) return value;
  }
}

const ASK = { model: "gpt-test", stream: true, messages: [{ role: "user", content: "hello" }] };

test("it survives a killed client, is controlled over HTTP, and writes a log", async () => {
  const log = join(folder, "requests.jsonl");
  const { url, child } = await startProcess({ replies: [{ text: "hello there", holdUntil: "go" }] }, log);
  const ask = `${url}/v1/chat/completions`;
  const client = run([
    "-e",
    `fetch(${JSON.stringify(ask)}, { method: "POST", body: ${JSON.stringify(JSON.stringify(ASK))} }).then((answer) => answer.text())`,
  ]);
  await until(
    () => snapshot(url),
    ({ requests }) => requests[0]?.waitingGate === "go",
  );
  client.kill("SIGKILL");
  await until(
    () => snapshot(url),
    ({ requests }) => requests[0]?.outcome === "aborted-by-client",
  );

  expect((await post(`${url}/__release`, { name: "go" })).status).toBe(200);
  expect(await (await post(ask, ASK)).text()).toContain('"content":"hello there"');
  expect(await snapshot(url)).toMatchObject({
    answersPaid: 1,
    answersRepaid: 0,
    paid: [{ turn: 0, asked: 2, answered: 1, aborted: 1 }],
  });
  const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { number: 1, outcome: "aborted-by-client" },
    { number: 2, outcome: "answered" },
  ]);

  expect((await post(`${url}/__script`, { replies: [{ text: "another" }] })).status).toBe(200);
  expect(await (await post(ask, { ...ASK, stream: false })).json()).toMatchObject({
    choices: [{ message: { content: "another" } }],
  });
  const refused = await post(`${url}/__script`, { replys: [] });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("replys")]);

  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

thoroughTest("an unreadable script ends it with a reason", async () => {
  const child = run([join(folder, "testing/model-server/main.js"), "--script", join(folder, "none.json")]);
  const [reason] = (await once(child.stderr!, "data")) as [Buffer];
  expect(reason.toString()).toContain("none.json");
  expect((await once(child, "exit"))[0]).toBe(1);
});
