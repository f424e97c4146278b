import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { showTrustNotice } from "../../src/apps/cli/trust-notice.ts";
import { createTerminal } from "./terminal.ts";

test("the meaning of trusting an agent file is displayed once per home, and not for an untrusted file", async () => {
  const home = await mkdtemp(join(tmpdir(), "holdfast-notice-"));
  const { streams, said } = createTerminal();
  const context = new Context(streams, { home: join(home, "new") });
  showTrustNotice(context, {});
  showTrustNotice(context, { agent: "a.toml", untrusted: true });
  expect(said.err).toBe("");
  showTrustNotice(context, { agent: "a.toml" });
  showTrustNotice(context, { agent: "b.toml" });
  expect(said.err.match(/trusted like a Makefile/g)).toHaveLength(1);
  await rm(home, { recursive: true });
});
