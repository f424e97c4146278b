import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { buildScenarioEvents } from "./events.ts";
import { driveRun } from "./plain/driver.ts";
import { Stage } from "./plain/stage.ts";
import type { PlayResult, RunStart, ScheduleStep, SentArrival, SubAgentPlayResult } from "./play-result.ts";
import type { Scenario } from "./schema.ts";

export type PlainPlay = { readonly played: PlayResult; readonly schedule: readonly ScheduleStep[] };

/**
 * Plays a scenario on the machine alone. Rejects with a `ScenarioError` when the scenario is impossible.
 *
 * @param stage - For callers that inspect it afterwards.
 */
export async function playPlain(scenario: Scenario, stage = new Stage(scenario)): Promise<PlainPlay> {
  const { people, transcript, notes } = stage;
  let end = await driveRun(stage, firstRun(scenario, people.due("start").sent[0]));
  for (let rest = people.due("end"); rest.sent.length > 0; rest = people.due("end")) {
    for (const sent of rest.sent) end = await driveRun(stage, laterRun(scenario, sent));
  }
  people.mustBeOver();
  return {
    schedule: stage.schedule,
    played: {
      events: buildScenarioEvents(transcript.loops),
      hooks: stage.hookScript.listCalls(transcript.records.map(({ loopId }) => loopId)),
      sent: notes.sent,
      ran: notes.ran,
      outcome: end.outcome,
      text: end.text,
      inbox: transcript.inbox.map(({ text = "" }) => text),
      refused: notes.refused,
      continuedAsNew: notes.continuedAsNew,
      subAgents: subPlayed(stage),
    },
  };
}

function subPlayed({ subAgents }: Stage): readonly SubAgentPlayResult[] {
  return subAgents.map(({ name, call, stage }) => ({
    name,
    call,
    events: buildScenarioEvents(stage.transcript.loops),
    sent: stage.notes.sent,
    outcome: stage.end ?? { type: "delivered", messages: 0 },
    subAgents: subPlayed(stage),
  }));
}

function firstRun({ prompt, promptId = "prompt", mode }: Scenario, first: SentArrival | undefined): RunStart {
  return {
    mode,
    ...(prompt === undefined ? {} : { prompt: { id: promptId, text: prompt } }),
    ...omitUndefined({ with: first }),
  };
}

/** A message for an idle session starts a run that only delivers it. */
function laterRun({ mode }: Scenario, sent: SentArrival): RunStart {
  if (sent.do === "run") return { mode, prompt: { id: sent.messageId, text: sent.text } };
  if (sent.do !== "continue") return { mode: "run", with: sent };
  const { kind, at, loop, limits } = sent;
  return {
    mode,
    continued: {
      kind,
      ...omitUndefined({ at, loop, limits }),
    },
  };
}
