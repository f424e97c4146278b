import { setTimeout as sleep } from "node:timers/promises";
import { CancelledFailure, Context } from "@temporalio/activity";
import { DELEGATE_UPDATE, type DelegateRequest, type DelegateResult } from "../../core/job/team-messages.ts";
import type { TeamAction } from "../../core/machine/added-tools.ts";
import { computePauseMs } from "../../platform/async/back-off.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import {
  CheckArguments,
  DelegateArguments,
  SteerArguments,
  StopArguments,
  WaitArguments,
} from "../../tools/builtin/team-tools.ts";
import type { TeamTool } from "../../tools/tool.ts";
import { ToolError, type ToolOutput } from "../../tools/tool-execution.ts";
import { buildIdempotencyKey, type getCurrentStep } from "../step/step.ts";
import { type Execution, executeCall, toErrorExecution } from "./execution.ts";
import { callServer, getRunningMember, getTeam, queryTeam, type TeamHandle } from "./team-handle.ts";
import { formatTeam } from "./team-report.ts";

export type TeamCall = {
  readonly step: ReturnType<typeof getCurrentStep>;
  readonly transcript: Pick<Transcript, "readEntries" | "putText">;
  readonly signal: AbortSignal;
  /** The limit of the tool, or of the definition. */
  readonly timeoutMs?: number | undefined;
  /** The job receives no text of the task. */
  readonly redactContent?: true | undefined;
};

/** Runs a lead's call about its agents through the job that the lead works for. */
export async function callTeam(tool: TeamTool, call: ToolCallContent, context: TeamCall): Promise<Execution> {
  return await executeCall(tool, call, async (value) => {
    try {
      const output = await ACTIONS[tool.action](
        getTeam(context.step.session, Context.current().client, context.signal),
        value,
        context,
      );
      return { output, isError: false, outcomeUnknown: false };
    } catch (error) {
      if (context.signal.aborted) throw new CancelledFailure("CANCELLED");
      return toErrorExecution(error);
    }
  });
}

const ACTIONS: Record<TeamAction, (team: TeamHandle, value: unknown, call: TeamCall) => Promise<ToolOutput>> =
  {
    delegate: delegateTask,
    check_agents: checkAgents,
    wait_for_agents: waitForAgents,
    steer_agent: steerAgent,
    stop_agent: stopAgent,
  };

const TASK_BYTES = 160;

/** Starts an agent. The update's id is the call's id: however often the call runs, one agent starts. */
async function delegateTask(
  team: TeamHandle,
  value: unknown,
  { step, transcript, redactContent }: TeamCall,
): Promise<ToolOutput> {
  const { agent, task } = DelegateArguments.parse(value);
  const id = buildIdempotencyKey(step);
  const ref = await transcript.putText(task, Date.now());
  const few = redactContent === true ? "" : redactPreview(task, TASK_BYTES);
  const words: DelegateRequest = { id, agent, ref, task: few };
  const reply = await callServer(team, () =>
    team.job.executeUpdate<DelegateResult, [DelegateRequest]>(DELEGATE_UPDATE, {
      args: [words],
      updateId: id,
    }),
  );
  if (reply.type === "denied") throw new ToolError("failed", reply.reason);
  return buildOutput(`${reply.id} has started.`, { id: reply.id, session: reply.session });
}

async function checkAgents(team: TeamHandle, value: unknown, { transcript }: TeamCall): Promise<ToolOutput> {
  const { ids } = CheckArguments.parse(value);
  const { members } = await queryTeam(team, ids);
  return buildOutput(await formatTeam(members, transcript), { agents: members });
}

/** How often the job is polled. The end of an agent is noticed within the longer interval. */
const POLL_BACK_OFF = { firstMs: 100, longestMs: 2_000 };

/** Less than the limit of a tool without a time limit of its own. */
const MAX_WAIT_MS = 50 * 60_000;

async function waitForAgents(team: TeamHandle, value: unknown, call: TeamCall): Promise<ToolOutput> {
  const { ids, timeoutSecs } = WaitArguments.parse(value);
  const { transcript, signal, timeoutMs = MAX_WAIT_MS } = call;
  const untilMs =
    Date.now() + Math.min(timeoutMs, MAX_WAIT_MS, (timeoutSecs ?? Number.POSITIVE_INFINITY) * 1000);
  for (let polls = 1; ; polls += 1) {
    const { members } = await queryTeam(team, ids);
    const running = members.filter(({ status }) => status === "running").length;
    const leftMs = untilMs - Date.now();
    if (running === 0 || leftMs <= 0) {
      const note = running === 0 ? "" : `The timeout has passed; agents that still run: ${running}.\n\n`;
      return buildOutput(`${note}${await formatTeam(members, transcript)}`, { agents: members });
    }
    await sleep(Math.min(computePauseMs(POLL_BACK_OFF, polls), leftMs), undefined, { signal });
  }
}

async function steerAgent(
  team: TeamHandle,
  value: unknown,
  { step, transcript }: TeamCall,
): Promise<ToolOutput> {
  const { id, message } = SteerArguments.parse(value);
  const agent = await getRunningMember(team, id);
  const ref = await transcript.putText(message, Date.now());
  await callServer(team, () => agent.signal("steer", { id: buildIdempotencyKey(step), ref }), id);
  return buildOutput(`${id} reads the message before its next answer.`);
}

async function stopAgent(team: TeamHandle, value: unknown): Promise<ToolOutput> {
  const { id, reason } = StopArguments.parse(value);
  const agent = await getRunningMember(team, id);
  const suffix = reason === undefined || reason === "" ? "" : `: ${redactPreview(reason, TASK_BYTES)}`;
  await callServer(team, () => agent.signal("stop", `its lead stopped it${suffix}`), id);
  return buildOutput(`${id} is stopping; wait_for_agents returns its result.`);
}

function buildOutput(content: string, details?: unknown): ToolOutput {
  return { content: [{ type: "text", text: content }], ...omitUndefined({ details }) };
}
