import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { createWriteFileTool } from "../../src/tools/builtin/write-file-tool.ts";
import { isThorough } from "../support/test-depth.ts";
import { callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

const SIZE = 8_000_000;

test("SIGKILL during a write leaves the old content or the new, and the next execution cleans up", async () => {
  const folder = await createTemporaryFolder();
  const workspace = await createTemporaryFolder();
  const program = join(folder, "writer.mjs");
  await build({
    stdin: {
      contents: `
        import { createWriteFileTool } from "./src/tools/builtin/write-file-tool.ts";
        const tool = createWriteFileTool();
        const context = { workspace: process.argv[2], idempotencyKey: "the-call", signal: new AbortController().signal };
        for (let round = 0; ; round += 1) {
          const content = "ab"[round % 2].repeat(${SIZE} + round % 2);
          await tool.execute({ path: "file.txt", content }, context);
          if (round === 0) console.log("writing");
        }`,
      resolveDir: resolve(import.meta.dirname, "../.."),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: program,
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });

  const whole = ["a".repeat(SIZE), "b".repeat(SIZE + 1)];
  let leftovers = 0;
  // At least this many kills, and more until one has hit the middle of a write.
  for (let round = 0; round < (isThorough ? 12 : 3) || (leftovers === 0 && round < 120); round += 1) {
    const child = spawn(process.execPath, [program, workspace], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    // The delays grow, because on a busy machine the program may get no processor time within the first ones.
    await new Promise((later) => setTimeout(later, (round % 12) * 3 * (1 + Math.floor(round / 12))));
    child.kill("SIGKILL");
    await once(child, "close");
    expect(whole.includes(await readFile(join(workspace, "file.txt"), "utf8"))).toBe(true);
    leftovers += (await readdir(workspace)).length - 1;
  }
  expect(leftovers).toBeGreaterThan(0);
  const again = createContext(workspace, { idempotencyKey: "the-call" });
  await callTool(createWriteFileTool(), { path: "file.txt", content: "last" }, again);
  expect(await readdir(workspace)).toEqual(["file.txt"]);
  expect(await readFile(join(workspace, "file.txt"), "utf8")).toBe("last");
});
