import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEditFileTool } from "../../src/tools/builtin/edit-file-tool.ts";
import { createReadFileTool } from "../../src/tools/builtin/read-file-tool.ts";
import { createWriteFileTool } from "../../src/tools/builtin/write-file-tool.ts";
import { callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

/** Three chunks and a little more. */
const LONG = "line of text\n".repeat(16_000);

/** A signal that is aborted after this many checks. */
function abortedBehind(looks: number): AbortSignal {
  let left = looks;
  return {
    get aborted() {
      left -= 1;
      return left < 0;
    },
  } as AbortSignal;
}

describe("file tools check for cancellation before each step, and a cancelled call changes nothing [BIT-12]", () => {
  test.each([
    // Folder, file, and each chunk of the file.
    ["read_file", createReadFileTool(), { path: "in/a.txt" }, 5, LONG],
    // Folder, existing file, its content, the new file, its location.
    ["write_file", createWriteFileTool(), { path: "in/a.txt", content: "new" }, 4, "new"],
    [
      "edit_file",
      createEditFileTool(),
      { path: "in/a.txt", old_text: "first", new_text: "1st" },
      4,
      `1st\n${LONG}`,
    ],
  ] as const)("%s", async (name, tool, parameters, steps, after) => {
    const workspace = await createTemporaryFolder();
    await mkdir(join(workspace, "in"));
    const before = name === "read_file" ? LONG : `first\n${LONG}`;
    await writeFile(join(workspace, "in/a.txt"), before);
    let looks = 0;
    for (; ; looks += 1) {
      const context = createContext(workspace, { signal: abortedBehind(looks) });
      const error = await callTool(tool, parameters, context).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) break;
      expect(error).toMatchObject({ fault: "cancelled", message: "Cancelled" });
      expect(await readFile(join(workspace, "in/a.txt"), "utf8")).toBe(before);
      expect(await readdir(join(workspace, "in"))).toEqual(["a.txt"]);
    }
    expect(looks).toBeGreaterThanOrEqual(steps);
    expect(await readFile(join(workspace, "in/a.txt"), "utf8")).toBe(after);
  });
});
