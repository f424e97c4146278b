import { describe, expect, test } from "vitest";
import { addTag, applyReverts, fadeView, truncateView } from "../../src/core/machine/apply-reverts.ts";
import type { State } from "../../src/core/machine/state/state.ts";
import type { LiveTag } from "../../src/core/view/tag.ts";
import type { Span, View } from "../../src/core/view/view.ts";
import type { RevertRequest } from "../../src/core/view/view-request.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const spanOf = (from: number, to: number, rest: Partial<Span> = {}): Span => ({
  ...{ from, to, turns: 1, tokens: 1 },
  ...rest,
});
const lesson = (position: number, createdAtTurn: number): LiveTag => ({
  category: "failure",
  position,
  createdAtTurn,
});
const finding = (position: number, createdAtTurn: number): LiveTag => ({
  ...lesson(position, createdAtTurn),
  category: "tangent",
});

describe("the view before a fork", () => {
  const view: View = { branch: "main", spans: [spanOf(0, 2), spanOf(2, 4), spanOf(4, 8)] };

  test("has the spans that end there, and the one in which the fork is in its new form", () => {
    expect(truncateView(view, 4, undefined)).toEqual({ branch: "main", spans: [spanOf(0, 2), spanOf(2, 4)] });
    expect(truncateView(view, 5, spanOf(4, 5))).toEqual({
      branch: "main",
      spans: [spanOf(0, 2), spanOf(2, 4), spanOf(4, 5)],
    });
    expect(Object.keys(truncateView(view, 4, undefined))).toEqual(["branch", "spans"]);
    expect(Object.keys(truncateView(view, 2, undefined).spans[0]!)).toEqual([
      "from",
      "to",
      "turns",
      "tokens",
    ]);
  });

  test("has the branch of texts that are after the fork, unless they have one", () => {
    const replacement = (position: number, branch?: string) => ({
      ...{ position, section: 0 },
      ...(branch === undefined ? {} : { branch }),
    });
    const memo = (position: number, branch?: string) => ({
      ...{ position, call: 0, tokens: 1 },
      ...(branch === undefined ? {} : { branch }),
    });
    const spans = [
      spanOf(0, 1, { replacement: replacement(3) }),
      spanOf(1, 2, { replacement: replacement(4) }),
      spanOf(2, 3, { replacement: replacement(9, "older") }),
      spanOf(3, 4, { memos: [memo(3), memo(4), memo(9, "older")] }),
    ];
    expect(truncateView({ branch: "main", spans }, 4, undefined).spans).toEqual([
      spanOf(0, 1, { replacement: replacement(3) }),
      spanOf(1, 2, { replacement: replacement(4, "main") }),
      spanOf(2, 3, { replacement: replacement(9, "older") }),
      spanOf(3, 4, { memos: [memo(3), memo(4, "main"), memo(9, "older")] }),
    ]);
  });

  test("has its limits for pruning and fading at most at the fork", () => {
    const later = { ...view, prunableFrom: 9, fadedBefore: { failure: 8, tangent: 7 } };
    expect(truncateView(later, 4, undefined)).toMatchObject({
      prunableFrom: 4,
      fadedBefore: { failure: 4, tangent: 4 },
    });
    const earlier = { ...view, prunableFrom: 2, fadedBefore: { tangent: 3 } };
    const left = truncateView(earlier, 4, undefined);
    expect(left).toMatchObject({ prunableFrom: 2, fadedBefore: { tangent: 3 } });
    expect(Object.keys(left.fadedBefore!)).toEqual(["tangent"]);
    expect(truncateView({ ...view, fadedBefore: { failure: 1 } }, 4, undefined).fadedBefore).toEqual({
      failure: 1,
    });
  });

  test("has the tags that are before it", () => {
    const tags = [lesson(3, 1), finding(4, 2)];
    expect(truncateView({ ...view, tags }, 5, undefined).tags).toEqual(tags);
    expect(truncateView({ ...view, tags }, 4, undefined).tags).toEqual([lesson(3, 1)]);
    expect(truncateView({ ...view, tags }, 3, undefined)).not.toHaveProperty("tags");
  });
});

describe("a tag", () => {
  const view: View = { branch: "main", spans: [spanOf(0, 2)] };
  const made = { position: 2, madeAt: 7 };

  test("is a span of its own, and fades when it is a lesson or a finding", () => {
    const spans = [spanOf(0, 2), spanOf(2, 3, { tokens: 5 })];
    expect(addTag(view, { ...made, category: "completion" }, 5)).toEqual({ branch: "main", spans });
    expect(addTag(view, { ...made, category: "failure" }, 5)).toEqual({
      ...{ branch: "main", spans },
      tags: [lesson(2, 7)],
    });
    const tags = [finding(1, 1)];
    expect(addTag({ ...view, tags }, { ...made, category: "tangent" }, 5).tags).toEqual([
      finding(1, 1),
      finding(2, 7),
    ]);
  });

  test("fades after its turns, unless it is among the newest of its category [PHI-02.2, PHI-02.4]", () => {
    const settings = { shownForTurns: 2, newestOfKind: 1 };
    const tagged = { ...view, tags: [lesson(3, 1), lesson(5, 2), finding(7, 3)] };
    expect(fadeView(tagged, 2, settings)).toBe(tagged);
    expect(fadeView(tagged, 3, settings)).toEqual({
      ...view,
      tags: [lesson(5, 2), finding(7, 3)],
      fadedBefore: { failure: 4 },
    });
    expect(fadeView(tagged, 99, settings)).toEqual(fadeView(tagged, 3, settings));
    expect(fadeView(view, 99, settings)).toBe(view);
  });

  test("fades for five turns, and is among the newest three, without settings [PHI-02.2]", () => {
    const tags = [1, 2, 3, 4].map((position) => lesson(position, 0));
    expect(fadeView({ ...view, tags }, 4).tags).toHaveLength(4);
    expect(fadeView({ ...view, tags }, 5).tags).toEqual(tags.slice(1));
  });

  test("that fades is the newest that has faded of its category, and others stay faded", () => {
    const settings = { shownForTurns: 0, newestOfKind: 0 };
    const tags = [lesson(3, 1), lesson(5, 2)];
    const faded = fadeView({ ...view, tags, fadedBefore: { failure: 2, tangent: 1 } }, 9, settings);
    expect(faded).toEqual({ ...view, fadedBefore: { failure: 6, tangent: 1 } });
    expect(faded).not.toHaveProperty("tags");
  });
});

describe("going back", () => {
  /** A run in its second turn, with a count of the vendor and an answer. */
  const begin = async (): Promise<State> =>
    (
      await play({ replies: [calls("bash"), calls("bash"), says("done")] })
        .until("call-tools")
        .step()
        .until("call-tools")
    ).state;
  const granted: RevertRequest = {
    ...{ type: "revert", category: "failure", applied: true, target: 0, fork: 1, summary: "no" },
  };

  test("shortens the view and discards what was counted and said after the fork [PHI-01.2]", async () => {
    const before = { ...(await begin()), reportedSize: { tokens: 900, estimated: 800 } };
    const after = applyReverts(before, 3, [granted]);
    expect(after).not.toHaveProperty("reportedSize");
    expect(after).toMatchObject({ length: 2, newBranch: { at: 1, by: 3 }, loop: { turn: 1 } });
    expect(after.loop?.lastText).toBeUndefined();
    expect(after.view.spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(after.view.tags).toEqual([lesson(1, 1)]);
    const [entry] = after.outbox.entries.slice(-1);
    expect(entry).toMatchObject({
      ...{ position: 1, origin: "machine", turn: 1 },
      body: { type: "notice", text: "[Back at n0 · lesson] no" },
    });
    expect(entry).not.toHaveProperty("left");
    expect(after.outbox.events.at(-1)?.body).toEqual({
      ...{ type: "RevertApplied", category: "failure", target: 0, summary: "no", applied: true },
      abandoned: { from: 1, to: before.length },
    });
  });

  test("leaves what is not stored yet on the old branch [PHI-01.3]", async () => {
    const before = await begin();
    const body = { type: "notice" as const, text: "a result" };
    const pending = { position: 4, origin: "machine" as const, atMs: 0, turn: 1, body };
    const waiting = { ...before, outbox: { ...before.outbox, entries: [pending] } };
    expect(applyReverts(waiting, 3, [granted]).outbox.entries).toMatchObject([
      { ...pending, left: true },
      { position: 1 },
    ]);
  });

  test("that was refused is reported, and changes nothing else [PHI-04.1]", async () => {
    const before = await begin();
    const refused = { type: "revert", category: "tangent", applied: false, reason: "no such entry" } as const;
    const after = applyReverts(before, 3, [refused]);
    const { type: _, ...rest } = refused;
    expect(after.outbox.events.at(-1)?.body).toEqual({ type: "RevertApplied", ...rest });
    expect({ ...after, outbox: before.outbox, loop: before.loop }).toEqual(before);
  });

  test("counts the turns of earlier loops for its tag", async () => {
    const before = await begin();
    const later = { ...before, totals: { ...before.totals, turns: 40 } };
    expect(applyReverts(later, 3, [granted]).view.tags).toEqual([lesson(1, 41)]);
  });
});
