import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StartError, startShell } from "../../src/platform/process/start-group.ts";

async function run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const shell = await startShell({
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdin: "ignore",
    extraPipes: 1,
  });
  const chunks: Buffer[] = [];
  shell.child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  shell.become(command, env, [4]);
  shell.parentPipe.write("go\n");
  const [exitCode] = await Promise.all([
    new Promise((resolve) => shell.child.once("exit", resolve)),
    new Promise((resolve) => shell.child.stdout?.once("end", resolve)),
  ]);
  shell.parentPipe.destroy();
  return { exitCode, output: Buffer.concat(chunks).toString() };
}

const word = fc.string({
  unit: fc.constantFrom("a", " ", "'", '"', "\\", "$", "`", "\n", "n", ";", "é", "\t", "*"),
});

describe("a shell that waits for its command", () => {
  test("becomes the command with the same words and variables", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 4 }), word, async (words, value) => {
        const { exitCode, output } = await run(
          ["/bin/sh", "-c", 'printf "%s\\0" "$V" "$@"', "sh", ...words],
          { V: value },
        );
        expect(output.split("\0")).toEqual([value, ...words, ""]);
        expect(exitCode).toBe(0);
      }),
      { numRuns: 20 },
    );
  });

  test("does not leave it the closed descriptors", async () => {
    const { output } = await run([
      "/bin/sh",
      "-c",
      "for n in 3 4; do [ -e /proc/self/fd/$n ] && echo $n; done; echo end",
    ]);
    expect(output).toBe("end\n");
  });

  test("ends without one", async () => {
    const { child, parentPipe } = await startShell({ cwd: "/", env: {}, stdin: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    parentPipe.end();
    expect(await ended).toBe(137);
  });

  test("refuses a word that no argument can contain", async () => {
    const { become, child } = await startShell({ cwd: "/", env: {}, stdin: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    expect(() => become(["echo", "a\0b"], {}, [])).toThrow(StartError);
    expect(await ended).toBe(137);
  });
});
