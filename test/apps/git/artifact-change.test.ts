import { expect, test } from "vitest";
import { type ArtifactChange, applyArtifactChange, createGitTools } from "../../../src/apps/git/index.ts";
import { callTool, createContext } from "../../tools/tool-context.ts";

/** Calls an update tool, and returns the change that a page receives. */
async function change(name: string, parameters: object): Promise<ArtifactChange> {
  const tool = createGitTools().update.find((one) => one.name === name);
  if (tool === undefined) throw new Error(name);
  return (await callTool(tool, parameters, createContext("/"))).details as ArtifactChange;
}

const finding = (id: string, body: string) => ({
  id,
  severity: "high",
  confidence: 90,
  file: "a.ts",
  start_line: 1,
  end_line: 2,
  category: "bug",
  body,
});

test("a chat changes single fields of a commit message in place [IRIS-11]", async () => {
  const first = await change("update_commit", { title: "Read the index once" });
  const second = await change("update_commit", { emoji: null });
  const commit = { emoji: "x", title: "Title", message: "Message", completion_message: "Done" };
  const expected = { ...commit, title: "Read the index once", emoji: null };
  expect(applyArtifactChange(applyArtifactChange(commit, first), second)).toEqual(expected);
  expect(applyArtifactChange(applyArtifactChange(commit, second), first)).toEqual(expected);
});

test("a chat replaces the text of a pull request", async () => {
  expect(applyArtifactChange({ content: "a" }, await change("update_pr", { content: "b" }))).toEqual({
    content: "b",
  });
});

test("a chat adds, replaces and removes findings of a review", async () => {
  const review = { summary: "s", metadata: 1, findings: [finding("1", "one"), finding("2", "two")] };
  const changed = await change("update_review", {
    findings: [finding("2", "better"), finding("3", "three")],
    removed: ["1"],
  });
  expect(applyArtifactChange(review, changed)).toMatchObject({
    summary: "s",
    metadata: 1,
    findings: [
      { id: "2", body: "better" },
      { id: "3", body: "three" },
    ],
  });
});
