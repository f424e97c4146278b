import { afterEach, beforeEach, expect, test } from "vitest";
import { withRepository } from "../../../src/apps/git/repository/repository.ts";
import { detectMovedHead, type PinnedRange } from "../../../src/apps/git/runs/detect-moved-head.ts";
import { TrapPlace } from "./traps/trap.ts";

let place: TrapPlace;
let pinned: PinnedRange;

const id = (revision: string) => place.git(["rev-parse", revision]);
const add = (name: string, text = name) => {
  place.write(name, `${text}\n`);
  place.git(["add", name]);
  place.git(["commit", "--quiet", "-m", name]);
};
const detect = async () =>
  await withRepository(
    place.top,
    {},
    async (one) => await detectMovedHead(one, pinned, { base: "main", head: "topic" }),
  );

// main: two commits; topic: two more.
beforeEach(() => {
  place = new TrapPlace();
  place.git(["reset", "--quiet", "--hard"]);
  place.git(["checkout", "--quiet", "-b", "topic"]);
  add("a");
  add("b");
  pinned = { base: id("main"), head: id("topic") };
});
afterEach(() => place.remove());

test("nothing has moved, or only the base", async () => {
  expect(await detect()).toEqual({ type: "unchanged" });
  place.git(["checkout", "--quiet", "main"]);
  add("on-main");
  expect(await detect()).toEqual({ type: "unchanged" });
});

test("added commits are the difference to examine, also beside a base that moves", async () => {
  add("c");
  const forward = { type: "forward", from: pinned.head, to: id("topic") };
  expect(await detect()).toMatchObject({ ...forward, pinned: { base: id("main"), head: id("topic") } });
  place.git(["checkout", "--quiet", "main"]);
  add("on-main");
  expect(await detect()).toMatchObject({ ...forward, pinned: { base: id("main"), head: id("topic") } });
});

test.each([
  ["an amended commit", () => place.git(["commit", "--quiet", "--amend", "-m", "other"])],
  ["a removed commit", () => place.git(["reset", "--quiet", "--hard", "HEAD~1"])],
  [
    "a rebase",
    () => {
      place.git(["checkout", "--quiet", "main"]);
      add("on-main");
      place.git(["rebase", "--quiet", "main", "topic"]);
    },
  ],
  [
    "another branch without anything in common",
    () => {
      place.git(["checkout", "--quiet", "--orphan", "new"]);
      place.git(["commit", "--quiet", "-m", "new"]);
      place.git(["branch", "--quiet", "-f", "topic"]);
    },
  ],
])("%s: everything is examined anew", async (_, change) => {
  change();
  const range = { from: id("main"), to: id("topic") };
  expect(await detect()).toMatchObject({ type: "rewritten", what: "head", ...range });
});

test("a base that is merged into the head moves where the change begins", async () => {
  place.git(["checkout", "--quiet", "main"]);
  add("on-main");
  place.git(["checkout", "--quiet", "topic"]);
  place.git(["merge", "--quiet", "--no-edit", "main"]);
  expect(await detect()).toMatchObject({
    type: "rewritten",
    what: "base",
    from: id("main"),
    to: id("topic"),
  });
});

test("a pinned commit that git has removed counts as rewritten; a branch that is gone is an error", async () => {
  pinned = { ...pinned, head: "1".repeat(40) };
  expect(await detect()).toMatchObject({ type: "rewritten", what: "head" });
  place.git(["checkout", "--quiet", "main"]);
  place.git(["branch", "--quiet", "-D", "topic"]);
  await expect(detect()).rejects.toMatchObject({ fault: "unknown-revision" });
});
