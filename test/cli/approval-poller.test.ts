import { expect, test } from "vitest";
import { ApprovalPoller } from "../../src/apps/cli/approval-poller.ts";

/** A read that ends when the test says so. */
function reading() {
  const pending: ((answer: readonly string[] | Error) => void)[] = [];
  const read = () =>
    new Promise<readonly string[]>((resolve, reject) => {
      pending.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  return { read, pending };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("polls do not overlap: two requests during a poll cause one more poll", async () => {
  const { read, pending } = reading();
  const heard: (readonly string[])[] = [];
  const watch = new ApprovalPoller(read, (calls) => heard.push(calls));
  watch.start();
  watch.poll();
  watch.poll();
  expect(pending).toHaveLength(1);
  pending[0]?.(["c1"]);
  await settled();
  expect(pending).toHaveLength(2);
  pending[1]?.([]);
  await settled();
  watch.stop();
  expect(heard).toEqual([["c1"], []]);
  expect(pending).toHaveLength(2);
});

test("a run that cannot be queried reports nothing; nothing is reported after stop", async () => {
  const { read, pending } = reading();
  const heard: (readonly string[])[] = [];
  const watch = new ApprovalPoller(read, (calls) => heard.push(calls));
  watch.start();
  pending[0]?.(new Error("no worker"));
  await settled();
  watch.poll();
  watch.stop();
  pending[1]?.(["c1"]);
  await settled();
  watch.poll();
  expect(pending).toHaveLength(2);
  expect(heard).toEqual([]);
});
