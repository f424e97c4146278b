import { setTimeout as sleep } from "node:timers/promises";
import { CancelledFailure, Context } from "@temporalio/activity";
import { DELEGATE, type Delegated, type DelegateWords } from "../../core/job/team-messages.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import {
  CheckCall,
  DelegateCall,
  SteerCall,
  StopCall,
  type TeamAct,
  WaitCall,
} from "../../tools/builtin/team-tools.ts";
import { type TeamTool, ToolError, type ToolOutput } from "../../tools/tool.ts";
import { type currentStep, idempotencyKey } from "../step/step.ts";
import { type Execution, executed, thrown } from "./execution.ts";
import { memberAtWork, outside, type TeamHandle, teamOf, viewOf } from "./team-handle.ts";
import { teamWords } from "./team-words.ts";

export type TeamCall = {
  readonly step: ReturnType<typeof currentStep>;
  readonly transcript: Pick<Transcript, "entries" | "putText">;
  readonly signal: AbortSignal;
  /** Of the tool, or the definition. */
  readonly timeoutMs?: number | undefined;
  /** What the job is told of a task holds no words of it. */
  readonly words?: "none" | undefined;
};

/** A call of a lead about its agents: carried out by the job that it works for. */
export async function callTeam(tool: TeamTool, call: ToolCallContent, context: TeamCall): Promise<Execution> {
  return await executed(tool, call, async (value) => {
    try {
      const output = await ACTS[tool.act](
        teamOf(context.step.session, Context.current().client, context.signal),
        value,
        context,
      );
      return { output, isError: false, outcomeUnknown: false };
    } catch (error) {
      if (context.signal.aborted) throw new CancelledFailure("CANCELLED");
      return thrown(error);
    }
  });
}

const ACTS: Record<TeamAct, (team: TeamHandle, value: unknown, call: TeamCall) => Promise<ToolOutput>> = {
  delegate,
  check_agents: check,
  wait_for_agents: wait,
  steer_agent: steer,
  stop_agent: stop,
};

const TASK_BYTES = 160;

/** The update's id is the call's: however often the call is made, one agent is begun. */
async function delegate(
  team: TeamHandle,
  value: unknown,
  { step, transcript, words: shown }: TeamCall,
): Promise<ToolOutput> {
  const { agent, task } = DelegateCall.parse(value);
  const id = idempotencyKey(step);
  const ref = await transcript.putText(task, Date.now());
  const few = shown === "none" ? "" : shownBriefly(task, TASK_BYTES);
  const words: DelegateWords = { id, agent, ref, task: few };
  const said = await outside(team, () =>
    team.job.executeUpdate<Delegated, [DelegateWords]>(DELEGATE, { args: [words], updateId: id }),
  );
  if (said.type === "refused") throw new ToolError("failed", said.reason);
  return text(`${said.id} has begun.`, { id: said.id, session: said.session });
}

async function check(team: TeamHandle, value: unknown, { transcript }: TeamCall): Promise<ToolOutput> {
  const { ids } = CheckCall.parse(value);
  const { members } = await viewOf(team, ids);
  return text(await teamWords(members, transcript), { agents: members });
}

/** How often the job is asked; an end is noticed within the longer of them. */
const LOOK_FIRST_MS = 100;
const LOOK_MS = 2_000;

/** Below the time that a tool may take that has no limit of its own. */
const MAX_WAIT_MS = 50 * 60_000;

async function wait(team: TeamHandle, value: unknown, call: TeamCall): Promise<ToolOutput> {
  const { ids, timeoutSecs } = WaitCall.parse(value);
  const { transcript, signal, timeoutMs = MAX_WAIT_MS } = call;
  const untilMs =
    Date.now() + Math.min(timeoutMs, MAX_WAIT_MS, (timeoutSecs ?? Number.POSITIVE_INFINITY) * 1000);
  for (let pauseMs = LOOK_FIRST_MS; ; pauseMs = Math.min(LOOK_MS, pauseMs * 2)) {
    const { members } = await viewOf(team, ids);
    const running = members.filter(({ status }) => status === "running").length;
    const leftMs = untilMs - Date.now();
    if (running === 0 || leftMs <= 0) {
      const note = running === 0 ? "" : `The time is up; ${running} still at work.\n\n`;
      return text(`${note}${await teamWords(members, transcript)}`, { agents: members });
    }
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
  }
}

async function steer(team: TeamHandle, value: unknown, { step, transcript }: TeamCall): Promise<ToolOutput> {
  const { id, message } = SteerCall.parse(value);
  const agent = await memberAtWork(team, id);
  const ref = await transcript.putText(message, Date.now());
  await outside(team, () => agent.signal("steer", { id: idempotencyKey(step), ref }), id);
  return text(`${id} reads it before its next answer.`);
}

async function stop(team: TeamHandle, value: unknown): Promise<ToolOutput> {
  const { id, reason } = StopCall.parse(value);
  const agent = await memberAtWork(team, id);
  const why = reason === undefined || reason === "" ? "" : `: ${shownBriefly(reason, TASK_BYTES)}`;
  await outside(team, () => agent.signal("stop", `its lead has ended it${why}`), id);
  return text(`${id} is being stopped; wait_for_agents gives what it has said.`);
}

function text(words: string, details?: unknown): ToolOutput {
  return { content: [{ type: "text", text: words }], ...(details === undefined ? {} : { details }) };
}
