import proto from "@temporalio/proto";
import { SqliteTranscript } from "../dist/store/transcript/sqlite/sqlite-transcript.js";
import { createNullAgent, startAgent } from "./agents.mjs";
import { openEnvironment, round } from "./environment.mjs";

const { temporal } = proto;

const CONTEXT_BYTES = 100 * 1024;
/** The number of turns on each side of the measured turn. */
const WINDOW = 5;
/** The run with the last measured turn must be complete, so that its overhead is spread as in production. */
const WHOLE_RUN_TURN = 200;

export async function measure({ log, quick }) {
  const last = quick ? 60 : 1000;
  const stage = await openEnvironment();
  try {
    await stage.start("./agent-worker.mjs");
    const transcript = await SqliteTranscript.open({ path: `${stage.home}/transcript.db` });
    const ref = await transcript.putText("context ".repeat(CONTEXT_BYTES / 8), Date.now());
    await transcript.close();
    const definition = createNullAgent({ turns: last + WHOLE_RUN_TURN, tool: "null_unsafe" });
    const handle = await startAgent(stage.client, definition, { ref });
    log(`running ${last + WHOLE_RUN_TURN} turns`);
    await handle.result();
    const turns = await measureTurns(stage.client, handle.workflowId, handle.firstExecutionRunId, log);
    const early = averageTurns(turns.slice(10 - WINDOW, 10 + WINDOW));
    const late = averageTurns(turns.slice(last - WINDOW, last + WINDOW));
    return {
      bytesTurn10: Math.round(early.bytes),
      bytesTurn1000: Math.round(late.bytes),
      ratio: round(late.bytes / early.bytes, 3),
      eventsPerTurn: round(late.events, 1),
    };
  } finally {
    await stage.strike();
  }
}

/** Computes bytes and events of each turn; the cost of opening and closing a run is spread over its turns. */
async function measureTurns(client, workflowId, firstRun, log) {
  const turns = [];
  for (let runId = firstRun, runs = 1; runId; runs++) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const own = [];
    let around = 0;
    let nextRun = "";
    // Events after the last turn prepare continue-as-new, or close the run.
    let ending = false;
    for (const event of events) {
      const bytes = temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
      if (event.workflowExecutionStartedEventAttributes) around += bytes;
      else if (event.workflowExecutionContinuedAsNewEventAttributes) {
        around += bytes;
        nextRun = event.workflowExecutionContinuedAsNewEventAttributes.newExecutionRunId;
      } else {
        const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
        ending ||= type === "record" || type === "close-loop";
        if (type === "call-model") own.push({ bytes: 0, events: 0 });
        const turn = own.at(-1);
        if (turn === undefined || ending) around += bytes;
        else {
          turn.bytes += bytes;
          turn.events += 1;
        }
      }
    }
    log(`run ${runs}: ${own.length} turns, ${events.length} events, ${around} bytes around them`);
    turns.push(
      ...own.map(({ bytes, events: count }) => ({ bytes: bytes + around / own.length, events: count })),
    );
    runId = nextRun;
  }
  return turns;
}

function averageTurns(turns) {
  const sum = turns.reduce(
    (all, turn) => ({ bytes: all.bytes + turn.bytes, events: all.events + turn.events }),
    {
      bytes: 0,
      events: 0,
    },
  );
  return { bytes: sum.bytes / turns.length, events: sum.events / turns.length };
}
