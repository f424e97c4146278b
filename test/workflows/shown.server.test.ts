import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
});
afterAll(() => stage.close());

const REPLIES = (gate: string) => [
  {
    text: "Let me wait.",
    toolCalls: [{ name: "hold", arguments: { gate } }],
    usage: { input: 1000, output: 1000 },
  },
  { text: "Done.", usage: { input: 1000, output: 1000 } },
];
const COST = { input: 1000, output: 2000 };

test("the timeline: activity types are steps and tools' own names, summaries give the rest (design 3.10)", async () => {
  const session = stage.session({ replies: REPLIES("timeline"), agent: { tools: ["hold"] } });
  gates.get("timeline").open();
  await session.run("Go", { settings: { localSteps: false } });
  const { events = [] } = await session.handle.fetchHistory();
  const bars = (events ?? []).flatMap((event) => {
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
    const data = event.userMetadata?.summary?.data;
    return type ? [`${type} • ${data ? JSON.parse(Buffer.from(data).toString()) : ""}`] : [];
  });
  // A call whose worker was stalled when it began has a second bar, with the same words.
  expect([...new Set(bars)]).toEqual([
    "open-loop • opens the loop",
    "call-model • turn 0 · test-model",
    "hold • turn 0 · at timeline",
    "call-model • turn 1 · test-model",
    "close-loop • answered",
  ]);
});

thoroughTest(
  "current details are a dashboard; status, cost and model can be searched for while the run lives",
  async () => {
    const session = stage.session({
      replies: REPLIES("dashboard"),
      agent: { name: "shown agent", tools: ["hold"], model: { cost: COST } },
    });
    await session.start("Find the answer");
    await gates.get("dashboard").arrived;
    const metadata = await session.handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    const details = metadata.currentDetails ?? "";
    expect(details).toContain("- **Goal**: Find the answer");
    expect(details).toContain("- **Agent**: shown agent");
    expect(details).toContain("- **Model**: test-model");
    expect(details).toContain("running hold: at dashboard");
    expect(details).toContain("- **Cost**: $3.0000");
    const running = (await session.handle.describe()).searchAttributes;
    expect(running).toMatchObject({
      HoldfastStatus: ["running"],
      HoldfastAgent: ["shown agent"],
      HoldfastModel: ["test-model"],
      HoldfastSession: [session.id],
    });
    gates.get("dashboard").open();
    await session.readResult();
    const ended = (await session.handle.describe()).searchAttributes;
    expect(ended).toMatchObject({ HoldfastStatus: ["completed"], HoldfastTurns: [2], HoldfastCostUsd: [6] });
    const query = `HoldfastCostUsd > 5 AND HoldfastModel = "test-model" AND HoldfastStatus = "completed" AND HoldfastSession = "${session.id}"`;
    const found = await eventually(async () => {
      const ids: string[] = [];
      for await (const { workflowId } of stage.client.workflow.list({ query })) ids.push(workflowId);
      return ids.length > 0 && ids;
    });
    expect(found).toEqual([session.id]);
  },
);

thoroughTest("a run that awaits approval is found by its status", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await session.start("Go", { mode: "interactive" });
  const query = `HoldfastStatus = "waiting" AND HoldfastSession = "${session.id}"`;
  await eventually(async () => (await stage.client.workflow.count(query)).count === 1);
  await session.handle.signal("stop");
  await session.readResult();
});

thoroughTest("with search attributes turned off none are sent, and the run is the same", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  expect(await session.run("Go", { settings: { searchAttributes: false } })).toMatchObject({ text: "One." });
  const { events } = await session.handle.fetchHistory();
  const sent = (events ?? []).flatMap((event) =>
    Object.keys(event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ?? {}),
  );
  // Temporal's own attribute, which every server has, gives the run's rules.
  expect(sent.filter((name) => name !== "TemporalChangeVersion")).toEqual([]);
});
