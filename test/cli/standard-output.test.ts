import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { guardOutput } from "../../src/apps/cli/standard-output.ts";

function outputs(code: string) {
  const said: string[] = [];
  const stdout = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no`), { code })),
  });
  const stderr = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk));
      done();
    },
  });
  return { stdout, stderr, said };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("output that a full disk rejects is reported once and remembered, and ends nothing", async () => {
  const { stdout, stderr, said } = outputs("ENOSPC");
  const output = guardOutput(stdout, stderr, () => expect.unreachable("nobody has left"));
  expect(output.getError()).toBeUndefined();
  stdout.write("one");
  await turn();
  stdout.emit("error", Object.assign(new Error("ENOSPC: no"), { code: "ENOSPC" }));
  expect(said.join("")).toBe(
    "holdfast: standard output cannot be written, so printed output is lost: ENOSPC: no\n",
  );
  expect(output.getError()?.message).toBe("ENOSPC: no");
  stderr.emit("error", new Error("nobody is left to tell"));
});

test("a reader that has closed the pipe is not an error", async () => {
  const { stdout, stderr, said } = outputs("EPIPE");
  let left = 0;
  const output = guardOutput(stdout, stderr, () => {
    left += 1;
  });
  stdout.write("one");
  await turn();
  expect([left, said, output.getError()]).toEqual([1, [], undefined]);
});
