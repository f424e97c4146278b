import { executeChild, proxyActivities, workflowInfo } from "@temporalio/workflow";

// The plain equivalent of a sub-agent call: a child workflow with the same activities in the same order.

const activities = proxyActivities({ startToCloseTimeout: "1 minute", heartbeatTimeout: "5 seconds" });

const NOTHING = { entries: [], events: [] };

/** Calls the model and runs the answer's task until the number of calls is reached, then gets a final answer. */
async function runPlainTree({ definitionHash, childHash, calls }) {
  const session = workflowInfo().workflowId;
  const prompt = { id: "prompt", text: "go", atMs: Date.now(), origin: "prompt" };
  const loop = await openLoop({ definitionHash, prompts: [prompt] });
  let position = 1;
  let number = 1;
  let outbox = NOTHING;
  for (let turn = 0; turn < calls; turn++) {
    const { calls: made } = await callModel({
      definitionHash,
      loop,
      number: number++,
      turn,
      position,
      outbox,
    });
    const spawn = { session, loopId: loop.loopId, turn, toolCallId: made[0].id, toolName: "scout" };
    const child = `${session}.sub-${turn}`;
    const task = { spawn, branch: "main", answer: position };
    const [report] = await Promise.all([
      executeChild("plainChild", { workflowId: child, args: [{ definitionHash: childHash, task }] }),
      activities.record({ ...createWrite(loop, number++, position + 1, NOTHING), inbox: [] }),
    ]);
    outbox = { entries: [createResult(spawn, position + 1, report)], events: [] };
    position += 2;
  }
  await callModel({ definitionHash, loop, number: number++, turn: calls, position, outbox });
  await closeLoop({ loop, number, position, turns: calls + 1 });
}

async function runPlainChild({ definitionHash, task }) {
  const session = workflowInfo().workflowId;
  const prompt = { id: task.spawn.toolCallId, task, atMs: Date.now(), origin: "prompt" };
  const loop = await openLoop({ definitionHash, prompts: [prompt], spawn: task.spawn });
  await callModel({ definitionHash, loop, number: 1, turn: 0, position: 1, outbox: NOTHING });
  await closeLoop({ loop, number: 2, position: 1, turns: 1 });
  return { session, branch: "main", position: 1 };
}

// The name of an export is the type of its workflow.
export { runPlainChild as plainChild, runPlainTree as plainTree };

function openLoop(input) {
  return activities["open-loop"]({ number: 0, generation: 0, ...input });
}

function callModel({ definitionHash, loop, number, turn, position, outbox }) {
  return activities["call-model"]({
    ...createWrite(loop, number, outbox.entries[0]?.position ?? position, outbox),
    definitionHash,
    turn,
    view: { branch: "main", ranges: [{ from: 0, to: position }] },
    position,
  });
}

function closeLoop({ loop, number, position, turns }) {
  return activities["close-loop"]({
    ...createWrite(loop, number, position + 1, NOTHING),
    outcome: { type: "answered", stopReason: "stop" },
    answer: position,
    turns,
    costUsd: 0,
  });
}

function createWrite({ loopId }, number, base, outbox) {
  return { number, generation: 0, loopId, branch: "main", base, outbox };
}

function createResult({ toolCallId, toolName, turn }, position, from) {
  const body = { type: "report", toolCallId, toolName, isError: false, text: "", from, messages: 2 };
  return { position, origin: "tool", atMs: Date.now(), turn, body };
}
