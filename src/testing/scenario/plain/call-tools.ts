import type { Execution } from "../../../activities/execution.ts";
import { callIn, toolResult } from "../../../activities/tool-result.ts";
import type { CallToolCommand } from "../../../core/command.ts";
import { maskFor } from "../../../providers/mask.ts";
import { ScenarioError } from "../scenario-error.ts";
import { type Running, RunningCalls } from "./running-call.ts";
import type { Stage } from "./stage.ts";

/**
 * The calls that run side by side, until none is left. They end in the scenario's order; one that a person approves
 * meanwhile joins them, a stop ends those that are left, and the worker's death loses them.
 */
export async function callTools(stage: Stage, commands: readonly CallToolCommand[]): Promise<void> {
  const { people, machine, notes } = stage;
  const calls = new RunningCalls(stage);
  await join(commands);
  for (let one = calls.nextToEnd(); one !== undefined; one = calls.nextToEnd()) {
    const { toolCallId, toolName, call } = one.command;
    people.arrive(people.dueDuring(toolCallId, toolName));
    if (people.hasCrashed()) {
      const lost = [one, ...calls.takeAll()];
      notes.schedule.push({ type: "worker-lost", calls: lost.map(({ command }) => command.toolCallId) });
      for (const { command } of lost) {
        machine.tell({ type: "tool-set-back", call: command.call, setback: { type: "lost", attempts: 1 } });
      }
      await join(due());
      continue;
    }
    if (machine.isStopped) {
      notes.schedule.push({ type: "cancelled", call: toolCallId, left: calls.left });
      machine.tell({ type: "tool-set-back", call, setback: { type: "cancelled" } });
      continue;
    }
    const approved = due().filter((command) => command.call !== call && !calls.has(command));
    await join(approved, 1);
    notes.schedule.push({
      type: "ended",
      call: toolCallId,
      deed: one.deed,
      quick: one.command.local,
      left: calls.left,
    });
    await finish(stage, one);
  }

  /** Those that are run, and those that have their result without it, beside so many others that run. */
  async function join(all: readonly CallToolCommand[], others = 0): Promise<void> {
    if (all.length === 0) return;
    const unrun: [CallToolCommand, Execution][] = [];
    for (const command of all) {
      stage.transcript.write(command.outbox, command.branch, command.loopId);
      const result = await calls.begin(command);
      if (result !== undefined) unrun.push([command, result]);
    }
    calls.noteBegun();
    for (const [command, result] of unrun) tellResult(stage, command, result);
    if (unrun.length > 0) notes.schedule.push({ type: "unrun", left: calls.left + others });
  }

  function due(): readonly CallToolCommand[] {
    const command = machine.next();
    return command.type === "call-tools" ? command.calls : [];
  }
}

async function finish(stage: Stage, { command, deed, run }: Running): Promise<void> {
  stage.machine.pass(deed.takesMs ?? 0);
  if (deed.hangs === true) stage.machine.pass(timeoutOf(stage, command));
  tellResult(stage, command, await run(deed));
}

function tellResult(
  { transcript, machine }: Stage,
  { branch, answer, call: index, position, loopId, turn, arguments: changed }: CallToolCommand,
  execution: Execution,
): void {
  const call = callIn(transcript.message(branch, answer), index, changed);
  if (call === undefined) throw new Error(`There is no call ${index} at position ${answer}`);
  const { message, digest } = toolResult(call, execution, {
    turnId: { loopId, turnIndex: turn },
    mask: maskFor([]),
    atMs: machine.nowMs,
  });
  transcript.put(branch, { position, origin: "tool", message });
  machine.tell({ type: "tool-finished", call: index, digest: { ...digest, branch } });
}

function timeoutOf({ scenario }: Stage, { toolName, timeoutMs }: CallToolCommand): number {
  if (timeoutMs !== undefined) return timeoutMs;
  const at = scenario.tools.findIndex(({ name }) => name === toolName);
  throw new ScenarioError([
    `tools.${at}.does: "${toolName}" hangs for ever: it has no timeoutMs, and nothing stops the run`,
  ]);
}
