import { describe, expect, test } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import type { ToolFacts } from "../../src/core/machine/state/digest.ts";
import { toViewRanges } from "../../src/core/view/view-ranges.ts";
import type { RevertCategory } from "../../src/schema/loop-event.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Reply, says, TOOLS } from "./support/script.ts";

const OF_VIEW: ToolFacts = { replay: "pure", quick: true, view: true };
const tools = { ...TOOLS, revert_to_state: OF_VIEW };

const back = (category: RevertCategory, summary?: string): Reply =>
  calls({
    name: "revert_to_state",
    arguments: { category, step: "n0", ...(summary !== undefined && { summary }) },
  });
const turns = (count: number) => Array.from({ length: count }, () => calls("bash"));

/** The tags that the model sees at the end. */
async function readTags(...replies: Reply[]): Promise<readonly string[]> {
  const run = await play({ replies: [...replies, says("done")], tools }).settle();
  return listMessages(run)
    .flatMap(({ content }) => (content[0]?.type === "text" ? [content[0].text] : []))
    .filter((text) => text.startsWith("[Back at"));
}

const listMessages = (run: Run) =>
  materialise(toViewRanges(run.state.view), run.transcript.listEntries(run.state.branch), {
    readMessage: (branch, position) => run.transcript.getMessage(branch, position),
  });

const NAMES = [
  ["failure", "lesson"],
  ["tangent", "finding"],
  ["completion", "outcome"],
  ["step-summary", "checkpoint"],
] as const;

describe("the tag that a revert leaves", () => {
  test.each(NAMES)(
    "of the category %s is the text for a %s, with its summary, after the entry that it goes back to [PHI-02.1, PHI-02.3]",
    async (category, name) => {
      const run = await play({
        replies: [calls("bash"), back(category, "all is well"), says("done")],
        tools,
      }).settle();
      const text = `[Back at n0 · ${name}] all is well`;
      expect(listMessages(run).map(({ role, content }) => [role, content[0]])).toEqual([
        ["user", expect.objectContaining({ type: "text" })],
        ["user", { type: "text", text }],
        ["assistant", expect.objectContaining({ type: "text" })],
      ]);
      const events = run.transcript.listEvents(run.transcript.records[0]!.loopId).map(({ body }) => body);
      expect(events.filter(({ type }) => type === "RevertApplied")).toEqual([
        {
          type: "RevertApplied",
          category,
          target: 0,
          summary: "all is well",
          abandoned: { from: 1, to: 5 },
          applied: true,
        },
      ]);
    },
  );

  test("says so when it has no summary", async () => {
    expect(await readTags(back("completion"))).toEqual([
      "[Back at n0 · outcome] The messages after it were abandoned without a summary.",
    ]);
  });

  test.each([
    ["failure", ["[Back at n0 · lesson] 3", "[Back at n0 · lesson] 4", "[Back at n0 · lesson] 5"]],
    ["tangent", ["[Back at n0 · finding] 3", "[Back at n0 · finding] 4", "[Back at n0 · finding] 5"]],
  ] as const)(
    "of the category %s is in five requests, and longer while it is among the newest three [PHI-02.2]",
    async (category, left) => {
      const made = ["1", "2", "3", "4", "5"].map((summary) => back(category, summary));
      expect(await readTags(...made)).toHaveLength(5);
      // The oldest one has been in five requests.
      expect(await readTags(...made, ...turns(1))).toHaveLength(4);
      expect(await readTags(...made, ...turns(30))).toEqual(left);
    },
  );

  test("is among the newest of its own kind: lessons do not displace findings [PHI-02.2]", async () => {
    const made = ["1", "2", "3", "4"].flatMap((summary) => [
      back("failure", summary),
      back("tangent", summary),
    ]);
    const tags = await readTags(...made, ...turns(30));
    expect(tags.map((text) => text.replace("[Back at n0 · ", ""))).toEqual(
      ["2", "3", "4"].flatMap((summary) => [`lesson] ${summary}`, `finding] ${summary}`]),
    );
  });
});
