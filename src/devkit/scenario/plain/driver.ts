import { findLastAnswer } from "../../../activities/close-loop/task-text.ts";
import { buildClosedDigest, getMaxTextBytes } from "../../../activities/close-loop/write-steps.ts";
import { filterMessages } from "../../../activities/filter-input/filter-input.ts";
import { notifyLoopEnd } from "../../../activities/hooks/loop-hooks.ts";
import { listPendingApprovals } from "../../../core/machine/approvals.ts";
import type { CloseLoopCommand, Command, FilterInputCommand } from "../../../core/machine/state/command.ts";
import { buildTaskMessage, type TaskReport, type TaskRequest } from "../../../core/machine/task.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";
import { maskVariableValue } from "../events.ts";
import type { PlayResult, RunStart } from "../play-result.ts";
import { ScenarioError } from "../scenario-error.ts";
import { callModel, compact } from "./call-model.ts";
import { callTools } from "./call-tools.ts";
import type { Happening } from "./machine.ts";
import { openLoop } from "./open-loop.ts";
import { record } from "./record.ts";
import { runHook } from "./run-hook.ts";
import { continuationOf } from "./run-start.ts";
import { type Stage, stepOf } from "./stage.ts";
import { worldOf } from "./world.ts";

/** Commands that one run may take: more is a loop without an end. */
const MAX_COMMANDS = 5_000;

/** Drives the machine through one run of the session: asks `next`, has it carried out, tells what happened. */
export async function driveRun(stage: Stage, run: RunStart): Promise<RunEnd> {
  const { machine, people, scenario } = stage;
  const continuation = continuationOf(stage.transcript, run);
  stage.note({ type: "start", ...run });
  machine.begin({
    session: stage.session,
    mode: run.mode,
    idleTimeoutMs: scenario.idleTimeoutMs ?? null,
    localSteps: true,
    asked: { definition: stage.definition },
    prompts: run.prompt === undefined ? [] : [{ ...run.prompt, atMs: machine.nowMs }],
    ...(continuation === undefined ? {} : { continuation }),
  });
  if (run.with !== undefined) people.take(run.with);
  return await toTheEnd(stage);
}

/** A sub-agent's run, from its task to its report. */
async function driveTask(stage: Stage, task: TaskRequest): Promise<RunEnd> {
  const { machine } = stage;
  machine.begin({
    session: stage.session,
    mode: "run",
    idleTimeoutMs: null,
    localSteps: true,
    asked: { hash: task.spawn.toolName },
    prompts: [buildTaskMessage(task, machine.nowMs)],
    task,
  });
  return await toTheEnd(stage);
}

type RunEnd = Pick<PlayResult, "outcome" | "text"> & { readonly report: TaskReport | undefined };

async function toTheEnd(stage: Stage): Promise<RunEnd> {
  const { machine } = stage;
  machine.tell({ type: "begun" });
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
  throw new ScenarioError([`model: the run does not come to an end within ${MAX_COMMANDS} commands`]);
}

async function carryOut(stage: Stage, command: Exclude<Command, { type: "finish" }>): Promise<void> {
  const { machine } = stage;
  switch (command.type) {
    case "open-loop":
      held(stage, "open");
      return machine.tell(await openLoop(stage, command));
    case "call-model":
      return machine.tell(await callModel(stage, command));
    case "compact":
      return machine.tell(await compact(stage, command));
    case "run-hook":
      return machine.tell(await runHook(stage, command));
    case "move-definition":
      throw new ScenarioError(["a scenario keeps its agent: nobody can ask for another definition"]);
    case "filter-input":
      return machine.tell(await filterInput(stage, command));
    case "call-tools":
      return await callTools(stage, command.calls, driveTask);
    case "close-loop":
      return await closeLoop(stage, command);
    case "record":
      return record(stage, command);
    case "wait":
      return wait(stage, command.untilMs);
    case "rotate":
      stage.notes.continuedAsNew += 1;
      return machine.rotate();
    default:
      assertNever(command);
  }
}

async function closeLoop(stage: Stage, command: CloseLoopCommand): Promise<void> {
  const { transcript, machine, definition } = stage;
  const { answer, isOutput, definitionHash } = command;
  const branch = transcript.write(command);
  transcript.closeLoop({ ...command, branch });
  held(stage, "close");
  if (definitionHash !== undefined) await tellEnd(stage, command, branch);
  const message = answer === undefined ? undefined : transcript.getMessage(branch, answer);
  const output = isOutput === true ? definition.output : undefined;
  const words = await wordsLeft(stage, command, branch);
  const said = buildClosedDigest(message, answer, output, getMaxTextBytes(command));
  machine.tell({
    type: "loop-closed",
    digest: { ...said, ...(words === undefined ? {} : { words }), branch },
  });
}

/** Of a sub-agent: where the words stand that its caller is given. */
async function wordsLeft(stage: Stage, { isTask, outbox }: CloseLoopCommand, branch: string) {
  const end = outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (isTask !== true || end?.type !== "AgentEnd") return undefined;
  return await findLastAnswer(stage.session, branch, end, worldOf(stage).transcript);
}

async function tellEnd(stage: Stage, command: CloseLoopCommand, branch: string): Promise<void> {
  const { definition } = stage;
  const end = command.outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (definition.hooks["after-loop"] === undefined || end?.type !== "AgentEnd") return;
  const asking = { definition, dependencies: worldOf(stage), signal: new AbortController().signal };
  const { from, to, usage } = end;
  const { loopId } = command;
  await notifyLoopEnd({ step: stepOf(command), loopId, usage }, { branch, from, to }, asking);
}

async function filterInput(
  { transcript, definition, filters, log }: Stage,
  command: FilterInputCommand,
): Promise<Happening> {
  const branch = transcript.write(command);
  const words = command.messages.map(({ id, text = "" }) => ({ id, text }));
  const { signal } = new AbortController();
  const verdicts = await filterMessages(words, definition.inputFilters, { filters, log }, signal);
  return { type: "input-filtered", digest: { branch, verdicts } };
}

/** A step that only writes: held up where something arrives meanwhile. */
function held(stage: Stage, step: "open" | "close"): void {
  const { nth, sent } = stage.people.due(step);
  if (sent.length === 0) return;
  stage.note({ type: "held", step, nth });
  stage.people.arrive(sent);
  stage.note({ type: "let-go", step, nth });
}

function wait(stage: Stage, untilMs: number | undefined): void {
  const { machine, people } = stage;
  const { phase } = machine.state;
  if (phase.type === "calling-model" && untilMs !== undefined) {
    people.arrive(people.due("backoff").sent);
    machine.passUntil(untilMs);
    if (machine.next().type === "wait") machine.tell({ type: "time-passed" });
    return;
  }
  const asks = phase.type === "calling-tools";
  const { nth, sent } = people.due(asks ? "approval" : "wait");
  stage.note({ type: asks ? "asks-people" : "waits" });
  people.arrive(sent);
  if (sent.length > 0 || machine.next().type !== "wait") return;
  if (untilMs !== undefined) {
    machine.passUntil(untilMs);
    machine.tell({ type: "time-passed" });
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
  return `arrives: ${calls.join(", ")} would wait for a person for ever: answer at ${moment}, or set agent.approvals.timeoutMs`;
}
