import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Holdfast } from "../../src/client/index.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { Gates } from "./support/gates.ts";
import { createJobName, createMembers } from "./support/job-agents.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const MARKER = "HOLLYHOCK";
const NONE = { redactContent: true } as const;

const gates = new Gates();
const texts: string[] = [];

const recite = (name: string, quick: boolean) =>
  defineTool({
    name,
    description: "Says a word",
    inputSchema: z.object({ word: z.string() }),
    replay: "pure",
    quick,
    summarise: ({ word }) => word,
    execute: ({ word }) => `${word} ${MARKER}`,
  });

let stage: TestEnvironment;
let holdfast: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment({
    tools: [recite("recite", false), recite("murmur", true), gates.createTool()],
    hooks: { witness: { "on-text": ({ text }) => void texts.push(text) } },
  });
  holdfast = await connectClient(stage, NONE);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

type Field = Record<string, unknown>;

/** The fields that pass on a conversation: the prompt, and the answer to the caller. */
function isHandedOver(event: Field, types: ReadonlyMap<string, string>): readonly string[] {
  const type = (field: string) => (event[field] as { activityType?: { name?: string } } | null)?.activityType;
  const completed = event["activityTaskCompletedEventAttributes"] as { scheduledEventId?: unknown } | null;
  if (event["workflowExecutionStartedEventAttributes"]) return ["input"];
  if (event["workflowExecutionCompletedEventAttributes"]) return ["result"];
  if (type("activityTaskScheduledEventAttributes")?.name === "open-loop") return ["input"];
  return types.get(String(completed?.scheduledEventId)) === "close-loop" ? ["result"] : [];
}

/** Every byte of a history as the server has it, without the fields that pass on a conversation. */
async function shownOf(id: string): Promise<string> {
  const { events = [] } = await stage.client.workflow.getHandle(id).fetchHistory();
  const found: string[] = [];
  const walk = (value: unknown, without: readonly string[]): void => {
    if (typeof value === "string") found.push(value);
    else if (value instanceof Uint8Array) found.push(Buffer.from(value).toString("latin1"));
    else if (value !== null && typeof value === "object") {
      for (const [name, inner] of Object.entries(value)) if (!without.includes(name)) walk(inner, without);
    }
  };
  const types = new Map<string, string>();
  for (const event of events ?? []) {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (name) types.set(String(event.eventId), name);
    walk(event, isHandedOver(event as unknown as Field, types));
  }
  return found.join("\n");
}

async function detailsOf(id: string): Promise<string> {
  const handle = stage.client.workflow.getHandle(id);
  const { staticSummary, staticDetails } = await handle.describe().then(async (described) => ({
    staticSummary: await described.staticSummary(),
    staticDetails: await described.staticDetails(),
  }));
  const { currentDetails } = await handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
  return [staticSummary, staticDetails, currentDetails].join("\n");
}

const SAYS = [
  {
    text: `${MARKER} one`,
    toolCalls: [
      { name: "recite", arguments: { word: MARKER } },
      { name: "murmur", arguments: { word: MARKER } },
    ],
  },
  { text: `${MARKER} two`, toolCalls: [{ name: "hold", arguments: { gate: MARKER } }] },
  { text: `${MARKER} three` },
];
const TOOLS = { tools: ["recite", "murmur", "hold"] };

describe("with content redacted, what Temporal displays of a run holds none of it [TMP-09.5]", () => {
  test("of prompt, calls, results and answers; the run is the same, and its record complete", async () => {
    const session = stage.session({
      agent: { ...TOOLS, hooks: { "on-text": ["witness"] } },
      replies: SAYS,
    });
    const prompt = `Say ${MARKER}`;
    const started = await holdfast.start({ agent: session.definition, prompt, session: session.id });
    await gates.get(MARKER).arrived;
    const details = await detailsOf(session.id);
    expect(details).not.toContain(MARKER);
    expect(details).toContain("**running** · running hold");
    expect((await holdfast.session(session.id).status()).lastText).toBe("");
    gates.get(MARKER).open();
    expect(await started.result()).toMatchObject({ text: `${MARKER} three` });
    expect(await shownOf(session.id)).not.toContain(MARKER);
    expect(await detailsOf(session.id)).not.toContain(MARKER);
    expect(await session.readConversation()).toContain(`toolResult: ${MARKER} ${MARKER}`);
    expect(texts).toEqual([`${MARKER} three`]);
  });

  thoroughTest("by default the same run displays it", async () => {
    const session = stage.session({ agent: TOOLS, replies: [SAYS[0]!, SAYS[2]!] });
    await session.run(`Say ${MARKER}`);
    expect((await shownOf(session.id)).split(MARKER).length).toBeGreaterThan(5);
    expect(await detailsOf(session.id)).toContain(MARKER);
  });

  thoroughTest("of a sub-agent, in its history and its caller's", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("scout", `${MARKER}?`)] }, { text: MARKER }],
      {
        scout: [{ text: `${MARKER} seen` }],
      },
    );
    expect(await parent.run(MARKER, { settings: NONE })).toMatchObject({ text: MARKER });
    const child = await findChildSession(stage, parent);
    for (const { id } of [parent, child]) {
      expect(await shownOf(id)).not.toContain(MARKER);
      expect(await detailsOf(id)).not.toContain(MARKER);
    }
  });

  thoroughTest("of a job, of what its lead delegates, and of an evaluation", async () => {
    const { lead, scout } = createMembers(stage, {
      lead: {
        replies: [
          { toolCalls: [{ name: "delegate", arguments: { agent: "scout", task: `Find ${MARKER}` } }] },
          { toolCalls: [{ name: "wait_for_agents", arguments: {} }] },
          { text: "Done." },
        ],
      },
      scout: { replies: [{ text: `${MARKER} it is` }] },
    });
    const job = createJobName(stage);
    const agents = [{ name: "scout", agent: scout.definition }];
    const mode = { type: "supervisor" as const, lead: lead.definition, agents };
    await holdfast.jobs.start({ mode, task: "Ask for it", job });
    expect(await stage.client.workflow.result(job)).toMatchObject({ text: "Done.", count: 1 });
    for (const id of [job, `${job}.lead`, `${job}.scout-1`]) {
      expect(await shownOf(id)).not.toContain(MARKER);
      expect(await detailsOf(id)).not.toContain(MARKER);
    }
    expect(JSON.stringify(scout.listRequests()[0]?.body)).toContain(`Find ${MARKER}`);

    const one = createMembers(stage, {
      a: { replies: [{ text: MARKER }] },
      b: { replies: [{ text: MARKER }] },
    });
    const compared = await holdfast.evaluate({
      session: createJobName(stage),
      agents: [one.a.definition, one.b.definition],
      strategy: { type: "pick-first" },
      prompt: `Which ${MARKER}`,
    });
    await compared.result();
    expect(await detailsOf(compared.session)).not.toContain(MARKER);
  });

  thoroughTest("of a schedule: neither its note nor what it starts", async () => {
    const { clerk } = createMembers(stage, { clerk: { replies: [{ text: "Counted." }] } });
    const name = createJobName(stage);
    onTestFinished(() => holdfast.schedules.delete(name));
    const task = `Count ${MARKER}`;
    await holdfast.schedules.create({ name, everyMs: 86_400_000, agent: clerk.definition, task });
    const { raw } = await stage.client.schedule.getHandle(name).describe();
    const { userMetadata } = raw.schedule?.action?.startWorkflow ?? {};
    const shown = [raw.schedule?.state?.notes, Buffer.from(userMetadata?.summary?.data ?? [])].join();
    expect(shown).toBe('has a prompt,"has a prompt"');
  });
});
