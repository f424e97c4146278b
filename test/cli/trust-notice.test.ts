import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { noticeOfTrust } from "../../src/apps/cli/trust-notice.ts";
import { terminal } from "./terminal.ts";

test("what it means to trust an agent file is said once on each home, and not of an untrusted one", async () => {
  const home = await mkdtemp(join(tmpdir(), "holdfast-notice-"));
  const { streams, said } = terminal();
  const context = new Context(streams, { home: join(home, "new") });
  noticeOfTrust(context, {});
  noticeOfTrust(context, { agent: "a.toml", untrusted: true });
  expect(said.err).toBe("");
  noticeOfTrust(context, { agent: "a.toml" });
  noticeOfTrust(context, { agent: "b.toml" });
  expect(said.err.match(/trusted like a Makefile/g)).toHaveLength(1);
  await rm(home, { recursive: true });
});
