import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Logger } from "../../src/platform/log.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { startWorkerProcess } from "../../src/testing/worker-process.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "./support/list-texts.ts";
import { watchLiveOutput } from "./support/live-output.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";

/** No definition refers to any of these: only the worker's process holds them. */
const RING_KEY = randomBytes(32);
const HELD = {
  RING_MATERIAL: RING_KEY.toString("base64"),
  PGPASSWORD: "pg-p4ssw0rd-of-the-store",
  TEMPORAL_CLOUD_API_KEY: "tmprl-0123456789abcdef",
  BACKUP_URL: "s3://app:url-p4ssw0rd@backups/holdfast",
};
const SECRETS = [
  HELD.RING_MATERIAL,
  RING_KEY.toString("hex"),
  HELD.PGPASSWORD,
  HELD.TEMPORAL_CLOUD_API_KEY,
  "url-p4ssw0rd",
];

const logged: string[] = [];
const keep = (...said: unknown[]) => logged.push(inspect(said, { depth: 9, maxStringLength: null }));

const fail = defineTool({
  name: "fail",
  description: "Fails with what it must not say",
  inputSchema: z.object({}),
  replay: "pure",
  execute: () => {
    throw new Error(`No connection for ${SECRETS.join(" ")}`);
  },
});

let stage: TestEnvironment;
beforeAll(async () => {
  Object.assign(process.env, HELD);
  const log = { debug: keep, info: keep, warn: keep, error: keep } as unknown as Logger;
  // Nothing is encrypted, so what is stored would reveal a secret that is not masked.
  const encryption = { keys: "k=env:RING_MATERIAL", payloads: false, transcript: false };
  stage = await openTestEnvironment({ tools: [fail], log, encryption });
});
afterAll(async () => {
  await stage.close();
  for (const name of Object.keys(HELD)) delete process.env[name];
});

test("secrets of a worker's process are in no result, live output, history, log or request to a model, however they are printed", async () => {
  await writeFile(join(stage.home, "leaked.txt"), `${SECRETS.join("\n")}\n`);
  const session = stage.session({
    replies: [
      {
        toolCalls: [
          {
            name: "bash",
            arguments: {
              command:
                "cat leaked.txt; base64 leaked.txt; base64 -w0 leaked.txt; echo; rev leaked.txt; " +
                "od -An -v -tx1 leaked.txt; sed 's/./& /g' leaked.txt; echo DONE",
            },
          },
          { name: "fail", arguments: {} },
        ],
      },
      { text: "I see." },
    ],
    agent: { tools: ["bash", "fail"] },
  });
  const live = watchLiveOutput(stage, session);
  await session.run("Go");
  const { events } = await session.handle.fetchHistory();
  const places = {
    transcript: [
      await session.readEntries(),
      await session.readEvents(),
      await stage.transcript.readSteps(session.id),
    ],
    history: events,
    request: session.listRequests().map(({ body }) => body),
    live: await live.all(),
    log: logged,
  };
  const forms = SECRETS.flatMap((secret) => [
    secret,
    // As part of the encoded file, from its second group of base64 on.
    Buffer.from(secret).toString("base64").slice(4, -4),
    Buffer.from(secret).toString("hex"),
    [...secret].reverse().join(""),
    [...secret].join(" "),
  ]);
  for (const [where, holds] of Object.entries(places)) {
    const texts = listTexts(holds).join("\n");
    const spaceless = texts.replace(/\s+/g, "");
    const seen = forms.filter((form) => texts.includes(form) || spaceless.includes(form.replaceAll(" ", "")));
    expect(seen, where).toEqual([]);
  }
  expect((await session.readConversation()).join("\n")).toContain("DONE");
});

thoroughTest("a command does not find the worker's secrets in /proc", async () => {
  const own = await openTestEnvironment({ worker: false });
  const { address, namespace, home, taskQueue } = own;
  const worker = await startWorkerProcess({
    address,
    namespace,
    home,
    taskQueue,
    env: {
      ...HELD,
      HOLDFAST_ENCRYPTION_KEYS: "plain,k=env:RING_MATERIAL",
      [TEST_KEY_NAME]: TEST_KEY,
    },
  });
  try {
    // Counted by the command itself, so that nothing is masked between what it reads and what it reports.
    const count = (text: string) => `grep -aczF '${text}' /proc/${worker.pid}/environ`;
    const session = own.session({
      replies: [
        {
          toolCalls: [
            {
              name: "bash",
              arguments: {
                command: `${count("HOLDFAST_ENCRYPTION_KEYS")}; ${SECRETS.map((secret) => count(secret.slice(0, -3))).join("; ")}`,
              },
            },
          ],
        },
        { text: "I see." },
      ],
      agent: { tools: ["bash"], workspace: home },
    });
    await session.run("Go");
    const [result = ""] = (await session.readConversation()).filter((said) => said.startsWith("toolResult"));
    expect(result.match(/^\d+$/gm)).toEqual(["1", ...SECRETS.map(() => "0")]);
  } finally {
    await worker.kill("SIGKILL");
    await own.close();
  }
});
