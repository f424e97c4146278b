import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { connect } from "../dist/client/index.js";
import { SqliteTranscript } from "../dist/store/transcript/sqlite/sqlite-transcript.js";
import { countAnswers, countMessages, countModelMessages, countUnsafe } from "./count.mjs";
import { createAgent, PROMPT, STEERING, UNSAFE_COMMAND, UNSAFE_LOG } from "./job.mjs";
import { Narrator } from "./narrator.mjs";
import { WorkerKiller } from "./worker-killer.mjs";

const KILL_LOCATIONS = {
  model: "in the middle of the model's stream",
  tool: "in the middle of a bash command",
};

/** Runs the whole demo and returns the report. */
export async function runStory(stage, { model: modelName }, teller) {
  const server = await stage.startServer();
  teller.line("server", `Temporal at ${server.address}, its UI at ${server.uiUrl}`);
  const model = await stage.startModel(modelName);
  teller.line("model", model.name);
  const keeper = await stage.startWorkers(server, model, {
    onReady: (number, pid) => teller.line(`worker ${number}`, `ready (pid ${pid})`, "green"),
    onOwnEnd: (number, how) => teller.line(`worker ${number}`, `ended by itself: ${how}`, "red"),
  });
  const transcript = await SqliteTranscript.open({ path: join(stage.home, "transcript.db") });
  stage.finally(() => transcript.close());
  const { address, namespace } = server;
  const holdfast = await connect({ address, namespace, home: stage.home, transcript });
  stage.finally(() => holdfast.close());
  const leaving = new AbortController();
  stage.finally(async () => leaving.abort());
  const { signal } = leaving;

  const prompt = { id: `prompt-${randomUUID()}`, text: PROMPT.replaceAll("\n", " ") };
  const steering = { id: `steering-${randomUUID()}`, text: STEERING };
  const sent = [prompt];
  const session = await holdfast.start({
    agent: createAgent(model, stage.workspace),
    prompt: prompt.text,
    messageId: prompt.id,
  });
  const page = `${server.uiUrl}/namespaces/${namespace}/workflows/${session.id}/${session.runId}/history`;
  teller.plain(`\n${page}\n`);

  const narrator = new Narrator(teller);
  const striker = new WorkerKiller({
    session: session.id,
    transcript,
    keeper,
    strike: model.strike,
    workspace: stage.workspace,
    onKill: async (where, { number, pid }) => {
      narrator.cut();
      teller.line("SIGKILL", `worker ${number} (pid ${pid}) ${KILL_LOCATIONS[where]}`, "red");
      if (where === "tool") {
        teller.say("steering", `sent while no worker runs: “${steering.text}”`, "cyan");
        sent.push(steering);
        await session.steer(steering.text, { messageId: steering.id });
      }
      await model.struck();
    },
    onRecovery: ({ worker, ms }, { kind }) =>
      teller.line(
        "recovered",
        `worker ${worker + 1} started the next step (${kind}) ${(ms / 1000).toFixed(1)} s after the kill`,
        "green",
      ),
  });

  const watching = (async () => {
    for await (const { event } of session.events({ signal })) {
      narrator.take(event);
      striker.take(event);
    }
  })();
  const result = await Promise.race([
    Promise.all([session.tryResult({ signal }), watching]).then(([ended]) => ended),
    striker.failed,
    keeper.failed,
  ]);
  teller.line(
    "run",
    `ended: ${describe(result.outcome)}`,
    result.outcome.type === "answered" ? "green" : "red",
  );

  teller.line("tests", "the demo runs node --test in the workspace");
  const testsPassed = await runProjectTests(stage.workspace);
  return {
    ...(await measure({ stage, server, session, transcript, model, sent })),
    kills: striker.recoveries.length,
    recoveries: striker.recoveries,
    recoveryMs: striker.recoveries.map(({ ms }) => ms),
    testsPassed,
    page,
  };
}

function describe(outcome) {
  const { type, stopReason, reason, message } = outcome;
  return [type, stopReason ?? reason ?? message].join(", ");
}

async function measure({ stage, server, session, transcript, model, sent }) {
  const entries = await session.messages.list();
  const turns = entries.filter(({ message }) => message.role === "assistant").length;
  const { headBranch } = await transcript.readSession(session.id);
  const length = await transcript.countEntries(session.id, headBranch);
  const storedCounts = countMessages({
    sent,
    entries,
    length,
    forked: await countForked(transcript, session.id, length),
  });
  const ledger = await model.ledger();
  const body = ledger?.requests.findLast(({ outcome }) => outcome === "answered")?.body;
  const modelCounts = body == null ? { lost: 0, duplicated: 0 } : countModelMessages({ sent, entries, body });
  const answers = ledger === null ? null : countAnswers(ledger);
  return {
    turns,
    answers,
    answersPaid: answers?.paid ?? null,
    answersRepaid: answers?.repaid ?? null,
    messagesLost: storedCounts.lost + modelCounts.lost,
    messagesDuplicated: storedCounts.duplicated + modelCounts.duplicated,
    unsafeToolsTwice: await countUnsafeRepeats(stage.workspace, entries),
    historyBytesPerTurn: Math.round((await measureHistory(server, session)) / Math.max(1, turns)),
  };
}

/** Returns entries at a position that the session's head inherits from another branch. */
async function countForked(transcript, session, length) {
  let written = 0;
  for (const { id, parent } of await transcript.readBranches(session)) {
    written += (await transcript.countEntries(session, id)) - (parent?.position ?? 0);
  }
  return written - length;
}

/** Returns null if the command was never started, so that there is nothing to count. */
async function countUnsafeRepeats(workspace, entries) {
  const text = await readFile(join(workspace, UNSAFE_LOG), "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  const asked = entries
    .flatMap(({ message }) => (message.role === "assistant" ? message.content : []))
    .filter(
      ({ type, name, arguments: args }) =>
        type === "toolCall" && name === "bash" && UNSAFE_COMMAND.test(args?.command),
    ).length;
  return lines.length === 0 ? null : countUnsafe(lines, asked);
}

async function measureHistory({ address, namespace }, { id, runId }) {
  const connection = await Connection.connect({ address });
  try {
    const { raw } = await new Client({ connection, namespace }).workflow.getHandle(id, runId).describe();
    return Number(raw.workflowExecutionInfo.historySizeBytes);
  } finally {
    await connection.close();
  }
}

function runProjectTests(cwd) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, ["--test"], { cwd, env }, (error) => resolve(error === null));
  });
}
