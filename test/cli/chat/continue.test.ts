import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runHoldfast } from "../terminal.ts";

test("--continue says what to do where there is nothing to continue, before anything starts", async () => {
  const home = await mkdtemp(join(tmpdir(), "holdfast-home-"));
  const { code, err } = await runHoldfast(["chat", "--continue", "--home", home]);
  expect({ code, err }).toEqual({
    code: 2,
    err:
      `holdfast: --continue: there is no chat in ${process.cwd()} to resume. Start one without --continue; ` +
      "`holdfast list` lists the sessions of all folders, and --session resumes one of them.\n",
  });
  const both = await runHoldfast(["chat", "--continue", "--session", "a", "--home", home]);
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining("Omit one of them.") });
  await rm(home, { recursive: true, force: true });
});
