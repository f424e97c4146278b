import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSecretSource } from "../../src/worker/credentials.ts";

const KEY = "sk-static-0123456789abcdef";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-credentials-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(name: string, text: string, mode = 0o600): Promise<NodeJS.ProcessEnv> {
  const path = join(folder, name);
  await writeFile(path, text, { mode });
  return { HOLDFAST_CREDENTIALS: path, HOME: folder };
}

function logged() {
  const warnings: string[] = [];
  return { warnings, log: { warn: ((_: object, message: string) => warnings.push(message)) as never } };
}

test.each([
  [
    "c.toml",
    `[A]\nvalue = "${KEY}"\n[B]\nfile = "\${HOME}/b"\n[C]\ncommand = ["echo", "c"]\ntimeout_seconds = 3\n`,
  ],
  ["c.yaml", `A: {value: ${KEY}}\nB: {file: "\${HOME}/b"}\nC: {command: [echo, c], timeout_seconds: 3}\n`],
  ["c.json", `{"A":{"value":"${KEY}"},"B":{"file":"\${HOME}/b"},"C":{"command":["echo","c"]}}`],
])(
  "the file that HOLDFAST_CREDENTIALS names specifies the sources of keys: %s [CRED-01.3]",
  async (name, text) => {
    await writeFile(join(folder, "b"), "key-of-b", { mode: 0o600 });
    const { log, warnings } = logged();
    const source = createSecretSource(undefined, await fileOf(name, text), log);
    await source.prepare?.(["A", "B", "C"]);
    expect(["A", "B", "C"].map(source)).toEqual([KEY, "key-of-b", "c"]);
    expect(warnings).toEqual([]);
  },
);

test("a file of keys that others may read causes a warning", async () => {
  const { log, warnings } = logged();
  createSecretSource(undefined, await fileOf("open.toml", `[A]\nvalue = "${KEY}"\n`, 0o644), log);
  expect(warnings).toEqual([expect.stringContaining("chmod 600")]);
  expect(warnings.join()).not.toContain(KEY);
});

test.each([
  [
    "two places",
    `[A]\nvalue = "${KEY}"\nfile = "x"\n`,
    "A: specify exactly one of command, file, environment and value",
  ],
  ["no place", "[A]\n", "A: specify exactly one of"],
  ["a shell line", '[A]\ncommand = "vault read"\n', "A.command: "],
  ["a misspelt key", `[A]\nvalue = "${KEY}"\ntimeout = 3\n`, "A.timeout: unknown key"],
  ["a variable as the value", '[A]\nvalue = "${HOME}"\n', "for an environment variable, use environment"],
  ["no name", `["a b"]\nvalue = "${KEY}"\n`, "a b: "],
  ["no TOML", `[A\nvalue = "${KEY}"\n`, "This is not TOML"],
])("%s in the file is an error that displays no key", async (_, text, said) => {
  const env = await fileOf("wrong.toml", text);
  const refused = () => createSecretSource(undefined, env, logged().log);
  expect(refused).toThrow(said);
  expect(refused).toThrow("wrong.toml (HOLDFAST_CREDENTIALS)");
  expect(refused).not.toThrow(KEY);
});

test("a missing file is named, and so is an invalid option", () => {
  const env = { HOLDFAST_CREDENTIALS: join(folder, "nothing.toml") };
  expect(() => createSecretSource(undefined, env, logged().log)).toThrow(/nothing\.toml.*ENOENT/s);
  expect(() => createSecretSource({ A: {} }, {}, logged().log)).toThrow("option credentials");
});
