import { thoroughTest } from "../support/test-depth.ts";
import { expectNoTypeErrors, listBlocks, readPage, readRecipes } from "./support/doc-programs.ts";

thoroughTest("the programs of the documents have the types of the package", () => {
  const tests = { name: "tests", code: listBlocks(readPage("testing-your-agents"), "ts").join("\n") };
  expectNoTypeErrors([...readRecipes(), tests]);
});
