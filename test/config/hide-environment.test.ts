import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { NO_PROC, testIf } from "../support/skipping.ts";

const KEY = "0123456789abcdef-key-material";

async function run(code: string, env: Record<string, string>): Promise<unknown> {
  const { PATH = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
    env: { PATH, ...env },
  });
  return JSON.parse(stdout);
}

const moduleAt = (file: string) => JSON.stringify(pathToFileURL(resolveBuiltFile(file)).href);

testIf(existsSync("/proc/self/environ"), NO_PROC)(
  "a process hides its secrets from /proc and keeps them for itself and its children",
  async () => {
    const seen = await run(
      `import { hideEnvironment } from ${moduleAt("config/hide-environment.js")};
       import { execFileSync } from "node:child_process";
       import { readFileSync } from "node:fs";
       const before = readFileSync("/proc/self/environ", "latin1");
       const left = hideEnvironment();
       const again = hideEnvironment();
       const shown = execFileSync("cat", ["/proc/" + process.pid + "/environ"], { env: {} }).toString("latin1");
       const inherited = execFileSync("sh", ["-c", 'printf %s "$MY_API_KEY"']).toString();
       console.log(JSON.stringify({ before, left, again, shown, inherited, own: process.env.MY_API_KEY }));`,
      { MY_API_KEY: KEY, EMPTY_TOKEN: "", PLAIN: "kept as it is" },
    );
    expect(seen).toMatchObject({ left: [], again: [], inherited: KEY, own: KEY });
    const { before, shown } = seen as { before: string; shown: string };
    expect(before).toContain(KEY);
    expect(shown).not.toContain(KEY);
    expect(shown).toContain("PLAIN=kept as it is\0");
    expect(shown).toContain(`MY_API_KEY=${"*".repeat(KEY.length)}\0`);
  },
);
