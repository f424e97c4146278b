import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandCredential } from "../../src/models/credentials/command-credential.ts";
import { createCredentialSource } from "../../src/models/credentials/credential-source.ts";
import { parseFetchedValue } from "../../src/models/credentials/fetched-credential.ts";
import { runCommand } from "../../src/models/credentials/run-command.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { Credentials, type CredentialsInput } from "../../src/schema/credentials.ts";

const NAME = "ISSUED_KEY";
const OLD = "sk-old-0123456789abcdef";
const NEW = "sk-new-0123456789abcdef";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-credentials-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const node = (code: string) => [process.execPath, "-e", code];
const source = (credentials: CredentialsInput, warn?: (message: string) => void) =>
  createCredentialSource(Credentials.parse(credentials), warn);

async function refusal(work: Promise<unknown> | undefined): Promise<ProviderError> {
  const error = await work?.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

/** Outputs of a command, one after the other; each run waits until it is released. */
function scripted(outputs: readonly string[], start = 0) {
  const clock = { now: start, runs: 0 };
  const run = async () => {
    const stdout = outputs[Math.min(clock.runs, outputs.length - 1)] ?? "";
    clock.runs += 1;
    await Promise.resolve();
    return stdout === "FAIL"
      ? ({ type: "exited", exit: "exited with 3", stdout: "", stderr: `no ticket for ${OLD}` } as const)
      : ({ type: "printed", stdout, stderr: "" } as const);
  };
  const make = (keepMs?: number) =>
    new CommandCredential(NAME, { command: ["vault"], timeoutMs: 1000, keepMs }, run, () => clock.now);
  return { clock, make };
}

describe("printed or stored text", () => {
  test.each([
    [`  ${OLD}\n`, { value: OLD }],
    [`{"value":"${OLD}","expiresAt":"2026-11-22T10:00:00Z"}`, { value: OLD, expiresAtMs: 1795341600000 }],
    [`{"value":"${OLD}","expiresAt":1795341600}`, { value: OLD, expiresAtMs: 1795341600000 }],
    [`{"value":"${OLD}","expiresAt":1795341600000}`, { value: OLD, expiresAtMs: 1795341600000 }],
    [`{"value":"${OLD}","expiresAt":"tomorrow"}`, { value: OLD }],
    [
      '{"type":"service_account","private_key":"x"}',
      { value: '{"type":"service_account","private_key":"x"}' },
    ],
    ["{not json", { value: "{not json" }],
  ])("[CRED-01.3] %j is read", (text, fetched) => {
    expect(parseFetchedValue(text)).toEqual(fetched);
  });
});

describe("a command", () => {
  test("runs without a shell, once for all concurrent requests, and its output is trimmed [CRED-01.3]", async () => {
    const count = join(folder, "runs");
    const code = `require("fs").appendFileSync(${JSON.stringify(count)}, "x"); console.log("  $(id) ${OLD} ")`;
    const read = source({ [NAME]: { command: node(code) } });
    expect(read(NAME)).toBeUndefined();
    await Promise.all([read.prepare?.([NAME]), read.prepare?.([NAME]), read.prepare?.([NAME, "OTHER"])]);
    expect(read(NAME)).toBe(`$(id) ${OLD}`);
    expect(await readFile(count, "utf8")).toBe("x");
  });

  test("runs again before its value expires, and the value is used while the command fails and the value is valid", async () => {
    const until = (ms: number, value: string) => JSON.stringify({ value, expiresAt: 2e12 + ms });
    const { clock, make } = scripted([until(600_000, OLD), "FAIL", until(1_200_000, NEW)], 2e12);
    const credential = make();
    await credential.prepare();
    clock.now = 2e12 + 530_000;
    await credential.prepare();
    expect([credential.value, clock.runs]).toEqual([OLD, 1]);
    clock.now = 2e12 + 545_000;
    await credential.prepare();
    expect([credential.value, clock.runs]).toEqual([OLD, 2]);
    await credential.prepare();
    expect([credential.value, clock.runs]).toEqual([NEW, 3]);
  });

  test("runs again after `keepSeconds` if its output states no expiry", async () => {
    const { clock, make } = scripted([OLD, NEW]);
    const credential = make(60_000);
    await credential.prepare();
    clock.now = 59_999;
    await credential.prepare();
    expect(credential.value).toBe(OLD);
    clock.now = 60_000;
    await credential.prepare();
    expect(credential.value).toBe(NEW);
  });

  test("runs again for a rejected value, and only once for several rejections [CRED-01.1]", async () => {
    const { clock, make } = scripted([OLD, NEW]);
    const credential = make();
    await credential.prepare();
    credential.invalidate(OLD);
    await credential.prepare();
    credential.invalidate(OLD);
    await credential.prepare();
    expect([credential.value, clock.runs]).toEqual([NEW, 2]);
  });

  test("that fails is named with its error output, without any value", async () => {
    const { make } = scripted([OLD, "FAIL"]);
    const credential = make(1);
    await credential.prepare();
    credential.invalidate(OLD);
    const error = await refusal(credential.prepare());
    expect(error.fault).toBe("network");
    expect(error.message).toContain(`${NAME}: the command vault exited with 3 (no ticket for ***)`);
    expect(error.message).not.toContain(OLD);
  });

  test.each([
    ["is not there", ["/no/such/program"], "could not be started (ENOENT)", "auth"],
    ["prints nothing", node("0"), "printed nothing", "auth"],
    ["prints too much", node('console.log("x".repeat(1e6))'), "printed more than a key can be", "auth"],
    [
      "prints an old one",
      node(`console.log('{"value":"${OLD}","expiresAt":1}')`),
      "has already expired",
      "auth",
    ],
    ["hangs", node("setTimeout(() => {}, 60000)"), "did not exit within 0.5 s", "network"],
  ])("that %s is reported", async (_, command, said, fault) => {
    const read = source({ [NAME]: { command, timeoutSeconds: said.includes("0.5") ? 0.5 : 30 } });
    const error = await refusal(read.prepare?.([NAME]));
    expect(error.message).toContain(said);
    expect(error.message).toContain(NAME);
    expect(error.message).not.toContain(OLD);
    expect(error.fault).toBe(fault);
  });

  test("that takes too long ends with all its processes", async () => {
    const pidFile = join(folder, "pid");
    const child = `require("child_process").spawn("sleep", ["60"]).pid`;
    const code = `require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(${child})); setTimeout(() => {}, 60000)`;
    expect(await runCommand(node(code), 1500)).toEqual({ type: "timed-out" });
    const pid = Number(await readFile(pidFile, "utf8"));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

/** An ended process whose parent has not waited for it remains as a zombie. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

describe("a file", () => {
  test("is read again when it has changed, and a warning about its permissions appears once", async () => {
    const path = join(folder, "key");
    await writeFile(path, `${OLD}\n`, { mode: 0o600 });
    const warnings: string[] = [];
    const read = source({ [NAME]: { file: path } }, (message) => warnings.push(message));
    await read.prepare?.([NAME]);
    expect(read(NAME)).toBe(OLD);
    expect(warnings).toEqual([]);
    await writeFile(`${path}.next`, NEW);
    await chmod(`${path}.next`, 0o644);
    await rename(`${path}.next`, path);
    await read.prepare?.([NAME]);
    await read.prepare?.([NAME]);
    expect(read(NAME)).toBe(NEW);
    expect(warnings).toEqual([expect.stringContaining("mode 644")]);
    expect(warnings.join()).not.toContain(NEW);
  });

  test.each([
    ["that is not there", "missing", undefined, "ENOENT"],
    ["that is empty", "empty", "\n", "it is empty"],
    ["of something else", "large", "x".repeat(100_000), "it has 100000 bytes"],
  ])("%s is named with the reason", async (_, file, text, said) => {
    const path = join(folder, file);
    if (text !== undefined) await writeFile(path, text);
    const error = await refusal(source({ [NAME]: { file: path } }).prepare?.([NAME]));
    expect(error.message).toContain(`${NAME}: the file ${path} cannot be used: ${said}`);
    expect(error.fault).toBe("auth");
  });
});

test("values, other variables and the environment need no fetching, and a rejected one is final [CRED-01.2-3]", async () => {
  process.env["HOLDFAST_TEST_OTHER"] = OLD;
  const read = source({ A: { value: NEW }, B: { environment: "HOLDFAST_TEST_OTHER" } });
  await read.prepare?.(["A", "B", "HOLDFAST_TEST_OTHER", "toString"]);
  const names = ["A", "B", "HOLDFAST_TEST_OTHER", "toString", "HOLDFAST_TEST_NONE"];
  expect(names.map(read)).toEqual([NEW, OLD, OLD, undefined, undefined]);
  expect(names.map((name) => read.invalidate?.(name))).toEqual(names.map(() => false));
  delete process.env["HOLDFAST_TEST_OTHER"];
});
