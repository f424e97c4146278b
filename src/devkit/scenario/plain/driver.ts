import { listPendingApprovals } from "../../../core/machine/approvals.ts";
import type { Command } from "../../../core/machine/state/command.ts";
import type { TaskReport, TaskRequest } from "../../../core/machine/state/task.ts";
import { buildTaskMessage } from "../../../core/machine/task.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../../schema/continuation.ts";
import { maskVariableValue } from "../events.ts";
import type { MemoryTranscript } from "../memory-transcript.ts";
import { buildContinuation, type ContinuedFrom, type PlayResult, type RunStart } from "../play-result.ts";
import { ScenarioError } from "../scenario-error.ts";
import { callTools } from "./call-tools.ts";
import { perform } from "./perform.ts";
import type { Stage } from "./stage.ts";

/** The maximum number of commands of one run; more indicate an endless loop. */
const MAX_COMMANDS = 5_000;

/** Drives the machine through one run of the session: gets the next command, performs it, reports the result. */
export async function driveRun(stage: Stage, run: RunStart): Promise<RunEnd> {
  const { machine, people, scenario } = stage;
  const continuation = resolveContinuation(stage.transcript, run);
  stage.note({ type: "start", ...run });
  machine.begin({
    session: stage.session,
    mode: run.mode,
    idleTimeoutMs: scenario.idleTimeoutMs ?? null,
    localSteps: true,
    requestedDefinition: { definition: stage.definition },
    prompts: run.prompt === undefined ? [] : [{ ...run.prompt, atMs: machine.nowMs }],
    ...omitUndefined({ continuation }),
  });
  if (run.with !== undefined) people.take(run.with);
  return await toTheEnd(stage);
}

/**
 * Drives a sub-agent's run from its task to its report.
 *
 * @testonly
 */
export async function driveTask(stage: Stage, task: TaskRequest): Promise<RunEnd> {
  const { machine } = stage;
  machine.begin({
    session: stage.session,
    mode: "run",
    idleTimeoutMs: null,
    localSteps: true,
    requestedDefinition: { hash: task.spawn.toolName },
    prompts: [buildTaskMessage(task, machine.nowMs)],
    task,
  });
  return await toTheEnd(stage);
}

type RunEnd = Pick<PlayResult, "outcome" | "text"> & { readonly report: TaskReport | undefined };

async function toTheEnd(stage: Stage): Promise<RunEnd> {
  const { machine } = stage;
  machine.tell({ type: "started" });
  for (let commands = 0; commands <= MAX_COMMANDS; commands++) {
    const command = machine.next();
    if (command.type === "finish") {
      stage.note({ type: "over" });
      const { outcome, text } = command.last;
      return { outcome: maskVariableValue(outcome), text, report: command.report };
    }
    if ("number" in command && command.type !== "open-loop") stage.noteStep(command);
    await carryOut(stage, command);
  }
  throw new ScenarioError([`model: the run does not end within ${MAX_COMMANDS} commands`]);
}

async function carryOut(stage: Stage, command: Exclude<Command, { type: "finish" }>): Promise<void> {
  const { machine } = stage;
  switch (command.type) {
    case "call-tools":
      return await callTools(stage, command.calls, driveTask);
    case "wait":
      return wait(stage, command.untilMs);
    case "rotate":
      stage.notes.continuedAsNew += 1;
      return machine.rotate();
    case "make-title":
      throw new ScenarioError(["a scenario cannot ask a model for titles"]);
    case "update-definition":
      throw new ScenarioError(["a scenario cannot change its agent to another definition"]);
    default:
      if (command.type === "open-loop") stage.hold("open");
      machine.tell(await perform(stage, command));
  }
}

function wait(stage: Stage, untilMs: number | undefined): void {
  const { machine, people } = stage;
  const { phase } = machine.state;
  if (phase.type === "calling-model" && untilMs !== undefined) {
    people.arrive(people.due("backoff").sent);
    machine.passUntil(untilMs);
    if (machine.next().type === "wait") machine.tell({ type: "timer-fired" });
    return;
  }
  const asks = phase.type === "calling-tools";
  const { nth, sent } = people.due(asks ? "approval" : "wait");
  stage.note({ type: asks ? "asks-people" : "waits" });
  people.arrive(sent);
  if (sent.length > 0 || machine.next().type !== "wait") return;
  if (untilMs !== undefined) {
    machine.passUntil(untilMs);
    machine.tell({ type: "timer-fired" });
    return;
  }
  if (asks) throw new ScenarioError([forEver(stage, nth)]);
  people.arrive([
    { do: "stop", reason: "nothing more arrives", messageId: "", when: { during: "wait", nth: 0 } },
  ]);
}

function forEver({ machine }: Stage, nth: number): string {
  const calls = listPendingApprovals(machine.state).map(({ toolCallId, tool }) => `${toolCallId} (${tool})`);
  const moment = `{"during": "approval"${nth === 0 ? "" : `, "nth": ${nth}`}}`;
  return `arrives: ${calls.join(", ")} would wait for approval forever: answer at ${moment}, or set agent.approvals.timeoutMs`;
}

/** Resolves where a run continues to a position of the transcript. */
function resolveContinuation(
  transcript: MemoryTranscript,
  { continued }: RunStart,
): Continuation | undefined {
  if (continued === undefined) return undefined;
  return buildContinuation(continued, findPosition(transcript, continued));
}

function findPosition(transcript: MemoryTranscript, { at, loop }: ContinuedFrom) {
  if (at === undefined && loop === undefined) return undefined;
  const branch = transcript.getBranch(loop);
  if (branch === undefined) {
    throw new ScenarioError([
      `arrives: loop ${loop} does not exist; the number of loops is ${transcript.loops.length}`,
    ]);
  }
  return { branch, position: at ?? transcript.listEntries(branch).length };
}
