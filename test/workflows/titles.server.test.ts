import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import type { Matcher, ScriptedConversation } from "../../src/testing/model-server/script.ts";
import type { TestAgentOptions } from "../../src/testing/test-agent.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

/** What the server displays of a workflow in its list. */
async function readLabels(id: string): Promise<{ summary: string; title: unknown }> {
  const handle = stage.client.workflow.getHandle(id);
  const { searchAttributes, staticSummary } = await handle.describe().then(async (description) => ({
    searchAttributes: description.searchAttributes,
    staticSummary: await description.staticSummary(),
  }));
  return { summary: staticSummary ?? "", title: searchAttributes["HoldfastTitle"] };
}

const findListed = async (id: string, client = holdfast) =>
  (await client.sessions.list({ limit: 500 })).sessions.find(({ session }) => session === id);

thoroughTest(
  "the first words of the prompt are the title, in Temporal, in lists and in the status",
  async () => {
    const session = stage.session({ replies: [{ text: "Done." }], agent: { name: "fixer" } });
    await holdfast.start({
      agent: session.definition,
      prompt: "Fix the **flaky** tests. They fail at night.",
      session: session.id,
    });
    expect(await readLabels(session.id)).toEqual({
      summary: "Fix the flaky tests · fixer",
      title: ["Fix the flaky tests"],
    });
    await session.readResult();
    expect((await findListed(session.id))?.title).toBe("Fix the flaky tests");
    expect((await holdfast.session(session.id).status()).title).toBe("Fix the flaky tests");
    expect((await holdfast.session(session.id).record()).title).toBe("Fix the flaky tests");
    const { events } = await session.handle.fetchHistory();
    const sent = (events ?? []).flatMap((event) =>
      Object.keys(event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ?? {}),
    );
    expect(sent, "what the client has set is not sent again").not.toContain("HoldfastTitle");
  },
);

test("a user's title stays, is displayed by the open run when it changes, and finds the session", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await holdfast.start({
    agent: session.definition,
    prompt: "Write the notes",
    session: session.id,
    title: " Notes\nof 2.1 ",
    mode: "interactive",
  });
  expect((await readLabels(session.id)).title).toEqual(["Notes of 2.1"]);
  await eventually(async () => (await session.readStatus()).status === "waiting");
  expect((await session.readStatus()).title).toBe("Notes of 2.1");

  const ran = await runCommandLine(stage, "title", session.id, "Notes", "of", "marigold");
  expect(ran).toMatchObject({ code: 0, out: "Notes of marigold\n" });
  await eventually(async () => (await session.readStatus()).title === "Notes of marigold");
  await eventually(async () => (await stage.client.workflow.count('HoldfastTitle = "marigold"')).count === 1);
  await holdfast.session(session.id).prompt("Now the changelog");
  await eventually(async () => (await session.readStatus()).status === "waiting");
  await holdfast.session(session.id).stop();
  await session.readResult();
  expect((await findListed(session.id))?.title).toBe("Notes of marigold");
});

/** Begins a session whose model also answers requests for a title. */
function createTitled(
  replies: ScriptedConversation["replies"],
  titles: Pick<ScriptedConversation, "replies" | "faults">,
  agent: TestAgentOptions = {},
): TestSession {
  const session = stage.session({ agent: { titles: "model", ...agent } });
  const match: Matcher = ({ conversation }) => conversation === session.id;
  const matchTitle: Matcher = ({ conversation, system }) =>
    conversation === session.id && isTitleRequest({ system });
  stage.model.script({
    conversations: [
      { match: matchTitle, ...titles },
      { match, ...(replies === undefined ? {} : { replies }) },
    ],
  });
  return session;
}

const isTitleRequest = ({ system }: { readonly system: string }) => system.includes("You name conversations");

const countTitleRequests = (session: TestSession) =>
  session
    .listRequests()
    .filter(({ body }) => isTitleRequest({ system: JSON.stringify(body?.["system"] ?? "") })).length;

test("a model gives the title after the first answer, once, and its cost counts", async () => {
  const usage = { input: 10, output: 5 };
  const session = createTitled(
    [{ text: "One." }, { text: "Two." }],
    { replies: [{ text: '"Tests that fail at night"', usage }] },
    { model: { cost: { input: 0, output: 1e6 } } },
  );
  await holdfast.start({
    agent: session.definition,
    prompt: "Fix the flaky tests. They fail at night.",
    session: session.id,
    mode: "interactive",
  });
  await eventually(async () => (await session.readStatus()).status === "waiting");
  expect((await session.readStatus()).title).toBe("Tests that fail at night");
  await holdfast.session(session.id).prompt("And now?");
  await eventually(async () => {
    const { status, turns } = await session.readStatus();
    return status === "waiting" && turns === 2;
  });
  await holdfast.session(session.id).stop();
  await session.readResult();
  expect((await readLabels(session.id)).title).toEqual(["Tests that fail at night"]);
  expect((await findListed(session.id))?.title).toBe("Tests that fail at night");
  expect(countTitleRequests(session)).toBe(1);
  const [first] = await stage.transcript.readLoops(session.id);
  const answers = (await session.readEntries()).flatMap(({ message }) =>
    message.role === "assistant" ? [message.usage.output] : [],
  );
  expect(first?.usage?.output).toBe((answers[0] ?? 0) + usage.output);
  expect(first?.costUsd).toBe((answers[0] ?? 0) + usage.output);
});

thoroughTest("a request for a title that fails leaves the answer and the first words", async () => {
  const session = createTitled([{ text: "One." }], {
    faults: [{ fault: "server-error", status: 500, times: 9 }],
  });
  await holdfast.start({ agent: session.definition, prompt: "Count the lilies", session: session.id });
  expect(await session.readResult()).toMatchObject({ text: "One.", outcome: { type: "answered" } });
  expect(countTitleRequests(session)).toBe(1);
  expect((await findListed(session.id))?.title).toBe("Count the lilies");
});

test("a title without text or of more than 120 characters is rejected before anything starts", async () => {
  const session = stage.session();
  const start = (title: string) =>
    holdfast.start({ agent: session.definition, prompt: "Go", session: session.id, title });
  await expect(start(" \n ")).rejects.toMatchObject({ code: "input-invalid" });
  await expect(start("x".repeat(121))).rejects.toThrow("121 characters; the maximum is 120");
  await expect(holdfast.session(session.id).setTitle("Mine")).rejects.toMatchObject({
    code: "session-unknown",
  });
});

thoroughTest("a sub-agent's title begins with its name", async () => {
  const parent = createAgentTree(
    stage,
    [{ toolCalls: [createTaskCall("scout", "Find the answer.")] }, { text: "It is 42." }],
    { scout: [{ text: "42" }] },
  );
  await holdfast.start({ agent: parent.definition, prompt: "Ask the scout", session: parent.id });
  await parent.readResult();
  const child = await findChildSession(stage, parent);
  expect(child.title).toEqual({ text: "scout · Find the answer", by: "prompt" });
  expect((await readLabels(child.id)).title).toEqual(["scout · Find the answer"]);
});

thoroughTest("with redacted content, Temporal has no title, and the transcript has it", async () => {
  const client = await connectClient(stage, { redactContent: true });
  const session = stage.session({ replies: [{ text: "Done." }] });
  await client.start({ agent: session.definition, prompt: "Find HOLLYHOCK", session: session.id });
  await session.readResult();
  expect(await readLabels(session.id)).toEqual({ summary: "has a prompt", title: undefined });
  expect((await findListed(session.id, client))?.title).toBe("Find HOLLYHOCK");
  await client.close();
});

thoroughTest("a run that nobody has asked to display titles sends no attribute for them", async () => {
  const session = stage.session({ replies: [{ text: "Done." }] });
  await session.run("Hello there");
  expect((await readLabels(session.id)).title).toBeUndefined();
  expect((await stage.transcript.readSession(session.id))?.title?.text).toBe("Hello there");
});

thoroughTest("a job's title is that of its task", async () => {
  const session = stage.session({ replies: [{ text: "Done." }], agent: { name: "worker" } });
  const { id } = await holdfast.jobs.start({
    mode: { type: "pipeline", stages: [{ name: "only", agent: session.definition }] },
    task: "Count the lilies. All of them.",
  });
  expect(await readLabels(id)).toEqual({
    summary: "Count the lilies · pipeline: worker",
    title: ["Count the lilies"],
  });
  await holdfast.jobs.get(id).result();
  const listed = await runCommandLine(stage, "job", "list", "--json");
  const lines = listed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { job: string; title: string });
  expect(lines.find(({ job }) => job === id)).toMatchObject({ mode: "pipeline", title: "Count the lilies" });
  const all = await runCommandLine(stage, "list");
  expect(all.out.split("\n").find((line) => line.startsWith(`${id} `))).toContain("Count the lilies");
  expect(await holdfast.jobs.find(id.slice(0, 13))).toBe(id);
});
