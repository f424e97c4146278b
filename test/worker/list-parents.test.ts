import { expect, test } from "vitest";
import { listParents } from "../../src/worker/failover/list-parents.ts";

test("the workflows above others are those that the parts of their ids name, each once", () => {
  expect(listParents(["job.part-1.scout-2", "job.part-2", "alone"])).toEqual(["job", "job.part-1"]);
  expect(listParents(["job", "job.part-1"])).toEqual([]);
  expect(listParents([".hidden", "a..b"])).toEqual(["a", "a."]);
  expect(listParents([])).toEqual([]);
});
