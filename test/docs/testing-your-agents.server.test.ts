import { expect, test } from "vitest";
import { thoroughDescribe } from "../support/test-depth.ts";
import { findForeignImports, listBlocks, readPage, runProgram } from "./support/doc-programs.ts";

const page = readPage("testing-your-agents");
const program = { name: "tests", code: listBlocks(page, "ts").join("\n") };

test("the blocks of docs/testing-your-agents.md are one program over the public entry points", () => {
  expect(listBlocks(page, "ts").length).toBeGreaterThanOrEqual(6);
  expect(findForeignImports(program.code)).toEqual([]);
});

thoroughDescribe("the program of docs/testing-your-agents.md", () => {
  test("passes its own tests", async () => {
    expect(await runProgram("testing-your-agents", program)).toBe("all tests passed\n");
  });
});
