import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connect } from "../../src/client/index.ts";
import { PostgresTranscript } from "../../src/store/transcript/postgres/postgres-transcript.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { NO_POSTGRES } from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { findMissingPostgres, PostgresFixture } from "../transcript/postgres-fixture.ts";
import { expectComplete } from "./support/expect-complete.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const double = defineTool({
  name: "double",
  description: "Doubles",
  inputSchema: z.object({ n: z.number() }),
  replay: "pure",
  execute: async ({ n }) => `${2 * n}`,
});

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)("a run whose store is PostgreSQL", () => {
  const bench = PostgresFixture.forEachTest();
  let stage: TestEnvironment;
  let url: string;
  beforeAll(async () => {
    url = bench.formatUrl({ schema: "runs" });
    stage = await openTestEnvironment({ tools: [double], database: url });
  });
  afterAll(() => stage?.close());

  test("several turns with tools, and a second loop: everything is stored, and nothing in the home folder", async () => {
    const twice = { toolCalls: [4, 5].map((n) => ({ name: "double", arguments: { n } })) };
    const session = stage.session({
      replies: [twice, twice, { text: "Eight and ten." }, { text: "Gladly." }],
      agent: { tools: ["double"] },
    });
    expect(await session.run("Double 4 and 5")).toMatchObject({ text: "Eight and ten." });
    expect(await session.run("Thanks")).toMatchObject({ text: "Gladly." });
    expect(stage.transcript).toBeInstanceOf(PostgresTranscript);
    expect((await session.readConversation()).slice(-2)).toEqual(["user: Thanks", "assistant: Gladly."]);
    expect(await stage.transcript.readLoops(session.id)).toHaveLength(2);
    await expectComplete(stage, session);
    for (const file of ["transcript.db", "live"]) expect(existsSync(join(stage.home, file))).toBe(false);
  });

  test("a client with the address reads it, and its health names the database without the password", async () => {
    const secret = new URL(url);
    secret.password = "S3CR3T-marker";
    const { address, namespace, home } = stage;
    const holdfast = await connect({ address, namespace, home, database: secret.href });
    onTestFinished(() => holdfast.close());
    const { transcript } = await holdfast.health();
    expect(transcript).toMatchObject({
      exists: true,
      path: expect.stringMatching(/^postgresql:.*schema runs/),
    });
    expect(JSON.stringify(transcript)).not.toContain("S3CR3T");
    const session = stage.session({ replies: [{ text: "Good day." }] });
    await session.run("Say hello");
    expect((await holdfast.session(session.id).record()).loops).toMatchObject([{ status: "completed" }]);
  });
});
