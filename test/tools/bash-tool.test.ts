import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { buildCleanEnvironment } from "../../src/platform/process/clean-environment.ts";
import { createBashTool, DEFAULT_DENY_PATTERNS } from "../../src/tools/builtin/bash-tool.ts";
import { listCommandLines } from "./processes.ts";
import {
  callForText,
  callTool,
  createContext,
  createTemporaryFolder,
  measureTimeLimit,
} from "./tool-context.ts";

const bash = createBashTool();

describe("the result", () => {
  test("is the exit code and the output if there is no error output [TOOL-16.1, BIT-06.1]", async () => {
    const context = createContext(await createTemporaryFolder());
    expect(await callTool(bash, { command: "echo hi" }, context)).toEqual({
      content: [{ type: "text", text: "Exit code: 0\nhi\n" }],
      details: { exit_code: 0, success: true },
    });
  });

  test("names both streams if there is error output; a failed command is not a failed tool call [BIT-06.2-3]", async () => {
    const context = createContext(await createTemporaryFolder());
    expect(await callTool(bash, { command: "echo out; echo err >&2; exit 3" }, context)).toEqual({
      content: [{ type: "text", text: "Exit code: 3\nSTDOUT:\nout\n\nSTDERR:\nerr\n" }],
      details: { exit_code: 3, success: false },
    });
  });

  test("has exit code -1 if a signal ended the command [BIT-06.4]", async () => {
    const { content, details } = await callTool(
      bash,
      { command: "kill -9 $$" },
      createContext(await createTemporaryFolder()),
    );
    expect(content).toEqual([{ type: "text", text: "Exit code: -1\n" }]);
    expect(details).toEqual({ exit_code: -1, success: false, signal: "SIGKILL" });
  });
});

describe("the retained output", () => {
  test("states for each stream that it was truncated [BIT-05.1]", async () => {
    const small = createBashTool({ maxOutputBytes: 4 });
    const context = createContext(await createTemporaryFolder());
    expect(await callForText(small, { command: "echo 123456; echo 12 >&2" }, context)).toBe(
      "Exit code: 0\nSTDOUT:\n1234\n... (output truncated)\nSTDERR:\n12\n",
    );
    expect(await callForText(small, { command: "echo 123456 >&2" }, context)).toBe(
      "Exit code: 0\nSTDOUT:\n\nSTDERR:\n1234\n... (output truncated)",
    );
  });

  test("is limited to 256 KB of a stream by default", async () => {
    const text = await callForText(
      bash,
      { command: "head -c 300000 /dev/zero | tr '\\0' x" },
      createContext(await createTemporaryFolder()),
    );
    expect(text).toBe(`Exit code: 0\n${"x".repeat(256 * 1024)}\n... (output truncated)`);
  });

  test("bytes that are not UTF-8 are replaced, in both streams [BIT-05.2]", async () => {
    const command = "printf 'a\\xffb'; printf 'c\\xe2\\x82' >&2";
    expect(await callForText(bash, { command }, createContext(await createTemporaryFolder()))).toBe(
      "Exit code: 0\nSTDOUT:\na\uFFFDb\nSTDERR:\nc\uFFFD",
    );
  });
});

describe("a command that runs", () => {
  test("reports a workspace that is missing or not a folder", async () => {
    await expect(callTool(bash, { command: "true" }, createContext("/no/such/folder"))).rejects.toMatchObject(
      {
        fault: "failed",
        message: "Cannot use the workspace /no/such/folder: it does not exist",
      },
    );
    await expect(callTool(bash, { command: "true" }, createContext("/etc/passwd"))).rejects.toMatchObject({
      message: "Cannot use the workspace /etc/passwd: it is not a directory",
    });
  });

  test("has its process group claimed with its start time", async () => {
    const context = createContext(await createTemporaryFolder());
    const text = await callForText(bash, { command: "echo $$; cut -d' ' -f22 /proc/$$/stat" }, context);
    expect(text).toBe(`Exit code: 0\n${context.groups[0]?.pgid}\n${context.groups[0]?.startTime}\n`);
    expect(context.groups).toHaveLength(1);
  });

  test("reports its output and a line of progress", async () => {
    const context = createContext(await createTemporaryFolder());
    await callTool(bash, { command: "echo one; echo two >&2\ntrue" }, context);
    expect(context.updates.join("").split("\n").toSorted()).toEqual(["", "one", "two"]);
    expect(context.lines).toEqual(["Running echo one; echo two >&2"]);
  });

  test("receives an environment of a few variables and the call's marker", async () => {
    const context = createContext(await createTemporaryFolder());
    vi.stubEnv("HOLDFAST_TEST_API_KEY", "secret");
    vi.stubEnv("HOLDFAST_TEST_ALLOWED", "open");
    onTestFinished(() => void vi.unstubAllEnvs());
    const text = await callForText(
      createBashTool({ allowEnvironment: ["HOLDFAST_TEST_ALLOWED"] }),
      { command: "env" },
      context,
    );
    expect(text).not.toContain("secret");
    expect(text).toContain("\nHOLDFAST_TEST_ALLOWED=open\n");
    expect(text).toContain(`\nHOLDFAST_CALL=${context.idempotencyKey}\n`);
    expect(text).toContain("\nTERM=dumb\n");
    const names = text
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("=")[0]!);
    const known =
      /^(PATH|HOME|LANG|LC_\w+|TERM|TMPDIR|USER|SHELL|HOLDFAST_CALL|HOLDFAST_TEST_ALLOWED|PWD|SHLVL|_)$/;
    expect(names.filter((name) => !known.test(name))).toEqual([]);
  });

  test("pin: the variables of the worker's environment that a tool receives", () => {
    const source = Object.fromEntries(
      [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TMPDIR",
        "USER",
        "SHELL",
        "TERM",
        "BASH_ENV",
        "ENV",
        "NODE_OPTIONS",
        "LD_PRELOAD",
        "OPENAI_API_KEY",
      ].map((name) => [name, name]),
    );
    expect(Object.keys(buildCleanEnvironment("key", [], source)).toSorted()).toEqual([
      "HOLDFAST_CALL",
      "HOME",
      "LANG",
      "LC_ALL",
      "LC_CTYPE",
      "PATH",
      "SHELL",
      "TERM",
      "TMPDIR",
      "USER",
    ]);
    expect(buildCleanEnvironment("key", ["HOLDFAST_CALL", "TERM"], source)).toMatchObject({
      HOLDFAST_CALL: "key",
      TERM: "dumb",
    });
  });
});

describe("a command that is blocked", () => {
  test.each([
    ["rm -rf / --no-preserve-root", "rm -rf /"],
    ["sudo rm -rf /*", "rm -rf /"],
    ["cd x && mkfs.ext4 disk", "mkfs"],
    ["dd if=/dev/zero of=x", "dd if="],
    [":(){:|:&};:", ":(){:|:&};:"],
    [":(){ :|:& };:", ":(){ :|:& };:"],
  ])("%s [BIT-02.1, GAP-16.1]", async (command, pattern) => {
    const context = createContext(await createTemporaryFolder());
    await expect(callTool(bash, { command }, context)).rejects.toMatchObject({
      fault: "failed",
      message: `Command blocked by safety policy: contains '${pattern}'`,
    });
    expect(context.groups).toEqual([]);
  });

  test("the deny list is configurable [BIT-02.2]", async () => {
    expect(DEFAULT_DENY_PATTERNS).toContain("rm -rf /*");
    const strict = createBashTool({ denyPatterns: ["curl"] });
    const context = createContext(await createTemporaryFolder());
    await expect(callTool(strict, { command: "curl x" }, context)).rejects.toThrow("contains 'curl'");
    expect(await callForText(strict, { command: "echo mkfs" }, context)).toBe("Exit code: 0\nmkfs\n");
  });
});

describe("execution", () => {
  test("runs bash in the workspace or in a configured folder within it [BIT-04.1]", async () => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "sub"));
    const script = "[[ -n $BASH_VERSION ]] && pwd";
    expect(await callForText(bash, { command: script }, createContext(workspace))).toBe(
      `Exit code: 0\n${workspace}\n`,
    );
    const below = await callForText(
      createBashTool({ cwd: "sub" }),
      { command: script },
      createContext(workspace),
    );
    expect(below).toBe(`Exit code: 0\n${workspace}/sub\n`);
    const above = callTool(createBashTool({ cwd: ".." }), { command: script }, createContext(workspace));
    await expect(above).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringContaining("is outside the workspace"),
    });
  });

  test("fails if the system cannot start the command [BIT-04.4]", async () => {
    const long = `: ${"x".repeat(200_000)}`;
    await expect(
      callTool(bash, { command: long }, createContext(await createTemporaryFolder())),
    ).rejects.toMatchObject({
      fault: "failed",
      message: expect.stringMatching(/^Failed to execute: .*E2BIG/),
    });
  });

  describe("a command that is stopped", () => {
    test("by its time limit reports its output so far and leaves no process [BIT-04.3]", async () => {
      const context = createContext(await createTemporaryFolder());
      await expect(
        callTool(createBashTool({ timeoutMs: 1000 }), { command: "sleep 1000" }, context),
      ).rejects.toMatchObject({
        fault: "failed",
        message: "Command timed out after 1s",
      });
      const printed = callTool(
        createBashTool({ timeoutMs: 200 }),
        { command: "echo so far; sleep 1000" },
        context,
      );
      await expect(printed).rejects.toMatchObject({ message: "Command timed out after 0.2s\nso far\n" });
      expect(listCommandLines(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
    });

    test("by the user leaves no process [BIT-04.2]", async () => {
      const controller = new AbortController();
      const context = createContext(await createTemporaryFolder(), {
        signal: controller.signal,
        onUpdate: () => controller.abort(),
      });
      const command = "(trap '' TERM; sleep 1000) & trap '' TERM; echo ready; while :; do sleep 1; done";
      const stopped = callTool(createBashTool({ graceMs: 20 }), { command }, context);
      await expect(stopped).rejects.toMatchObject({ fault: "cancelled", message: "Cancelled" });
      expect(listCommandLines(`HOLDFAST_CALL=${context.idempotencyKey}`)).toEqual([]);
    });
  });
});

describe("its options", () => {
  test("are folder, time limit, output limit, deny list and confirmation, with these defaults; the command is its parameter [BIT-01.1-2]", async () => {
    expect(bash.parse({})).toMatchObject({ ok: false, message: expect.stringMatching(/^command: /) });
    expect(Object.keys(bash.parameters["properties"] as object)).toEqual(["command"]);
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "sub"));
    const context = createContext(workspace);
    const many = { command: "head -c 300000 /dev/zero" };
    const cut = "\n... (output truncated)";
    expect(await callForText(bash, { command: "pwd" }, context)).toBe(`Exit code: 0\n${workspace}\n`);
    expect(await callForText(bash, many, context)).toHaveLength(
      "Exit code: 0\n".length + 256 * 1024 + cut.length,
    );
    await expect(callTool(bash, { command: "mkfs" }, context)).rejects.toThrow("blocked by safety policy");
    expect(bash.needsApproval).toBe(false);

    const other = createBashTool({
      cwd: "sub",
      timeoutMs: 7000,
      maxOutputBytes: 3,
      denyPatterns: ["curl"],
      needsApproval: true,
    });
    expect(await callForText(other, { command: "pwd >&2" }, context)).toMatch(/STDERR:\n\/[^\n]{2}\n\.\.\. /);
    expect(await callForText(createBashTool({ cwd: "sub" }), { command: "pwd" }, context)).toContain(
      `${workspace}/sub`,
    );
    expect(await callForText(other, many, context)).toBe(`Exit code: 0\n\0\0\0${cut}`);
    await expect(callTool(other, { command: "curl x" }, context)).rejects.toThrow("contains 'curl'");
    expect(other.needsApproval).toBe(true);
    expect(await measureTimeLimit(bash, { command: "sleep 1000" }, context)).toEqual({
      afterMs: 120_000,
      message: "Command timed out after 120s",
    });
    expect(await measureTimeLimit(other, { command: "sleep 1000" }, context)).toEqual({
      afterMs: 7_000,
      message: "Command timed out after 7s",
    });
  });

  test("the call's time limit leaves room for the command's time limit and grace period", () => {
    expect(bash.timeoutMs).toBeGreaterThan(120_000 + 2_000);
    expect(createBashTool({ timeoutMs: 5_000, graceMs: 0 }).timeoutMs).toBeGreaterThan(5_000);
  });
});

test("a call without a command names the field; the summary is the command", () => {
  expect(bash.parse({})).toEqual({ ok: false, message: expect.stringMatching(/^command: .*string/) });
  expect(bash.summarise({ command: "npm test" })).toBe("npm test");
});
