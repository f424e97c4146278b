import { createHookedUpdates } from "../../../activities/tool/tool-updates.ts";
import type { ViewAnswer } from "../../../activities/tool/view-call.ts";
import { listPendingApprovals } from "../../../core/machine/approvals.ts";
import type { CallToolCommand } from "../../../core/machine/state/activity-command.ts";
import { ScenarioError } from "../scenario-error.ts";
import { perform } from "./perform.ts";
import { buildCallEvent } from "./perform-call.ts";
import { type Running, RunningCalls } from "./running-call.ts";
import { type Stage, toStep } from "./stage.ts";
import type { Drive } from "./sub-agents.ts";

/**
 * Runs concurrent calls until none is left. They end in the scenario's order. A call that the user approves meanwhile
 * joins them, a stop ends the remaining ones, and the worker's death loses them.
 */
export async function callTools(
  stage: Stage,
  commands: readonly CallToolCommand[],
  drive: Drive,
): Promise<void> {
  const { people, machine, notes } = stage;
  const calls = new RunningCalls(stage, drive);
  // As in the workflow: calls join running ones only if questions are open; otherwise they wait until all have ended.
  const beside = listPendingApprovals(machine.state).length > 0;
  await join(commands);
  for (let one = calls.nextToEnd(); one !== undefined; one = calls.nextToEnd()) {
    const { toolCallId, toolName, call } = one.command;
    people.arrive(people.dueDuring(toolCallId, toolName));
    if (people.hasCrashed()) {
      if (one.child !== undefined) throw new ScenarioError([findCrash(toolName)]);
      const lost = [one, ...calls.takeAll()];
      notes.schedule.push({ type: "worker-lost", calls: lost.map(({ command }) => command.toolCallId) });
      for (const { command } of lost) {
        machine.tell({ type: "tool-failed", call: command.call, failure: { type: "lost", attempts: 1 } });
      }
      await join(listDueCalls().filter((again) => lost.some(({ command }) => command.call === again.call)));
      continue;
    }
    if (one.child !== undefined) {
      if (machine.isStopped && calls.left > 0) throw new ScenarioError([STOPPED_TOGETHER]);
      const report = await one.child.finish();
      machine.tell({ type: "child-finished", call, report });
      notes.schedule.push({ type: "child-ended", left: calls.left });
      continue;
    }
    if (machine.isStopped) {
      notes.schedule.push({ type: "cancelled", call: toolCallId, left: calls.left });
      machine.tell({ type: "tool-failed", call, failure: { type: "cancelled" } });
      continue;
    }
    if (beside) await join(listDueCalls(call), 1, call);
    notes.schedule.push({
      type: "ended",
      call: toolCallId,
      deed: one.deed,
      quick: one.command.isLocal,
      left: calls.left,
    });
    await finish(stage, one);
  }

  /** Separates the calls to run from those with an immediate result, next to the given number of running calls. */
  async function join(all: readonly CallToolCommand[], others = 0, ending?: number): Promise<void> {
    if (all.length === 0) return;
    const unrun: [CallToolCommand, ViewAnswer][] = [];
    for (const command of all) {
      const placed = { ...command, branch: stage.transcript.write(command) };
      const result = await calls.begin(placed);
      if (result !== undefined) unrun.push([placed, result]);
    }
    calls.noteBegun();
    await writeBeside();
    for (const [command, result] of unrun) tellResult(stage, command, result);
    if (unrun.length === 0) return;
    const quick = unrun.flatMap(([{ isLocal, toolCallId }]) => (isLocal ? [toolCallId] : []));
    notes.schedule.push({ type: "unrun", left: calls.left + others, quick });
    // A view call that waited for the previous one.
    if (beside) await join(listDueCalls(ending), others, ending);
  }

  /** While only sub-agents run, no other step writes the outbox. */
  async function writeBeside(): Promise<void> {
    const command = machine.next();
    if (command.type !== "call-tools" || command.recordCommand === undefined) return;
    machine.tell(await perform(stage, command.recordCommand));
    await writeBeside();
  }

  /** Returns the calls that should run but do not run yet, except the call that ends now. */
  function listDueCalls(ending?: number): readonly CallToolCommand[] {
    const command = machine.next();
    const all = command.type === "call-tools" ? command.calls : [];
    return all.filter((one) => one.call !== ending && !calls.has(one));
  }
}

/** Reports an undefined order: Temporal may receive either end first. */
const STOPPED_TOGETHER =
  "arrives: a stop ends calls and a running sub-agent in an undefined order: let it arrive when only the sub-agent runs";

function findCrash(name: string): string {
  return `arrives: a caller of sub-agents has no step that a worker could lose: put the crash into "arrives" of ${name}`;
}

async function finish(stage: Stage, { command, deed, run }: Running): Promise<void> {
  stage.machine.pass(deed.takesMs ?? 0);
  const show = createHookedUpdates(
    () => undefined,
    { id: command.toolCallId, name: command.toolName },
    command,
    { ...toStep(command), call: command.call },
    stage.definition,
    stage,
  );
  for (const text of deed.shows ?? []) show(text);
  if (deed.hangs === true) stage.machine.pass(getTimeoutMs(stage, command));
  tellResult(stage, command, await run(deed));
}

function tellResult(stage: Stage, command: CallToolCommand, answer: ViewAnswer): void {
  const made = buildCallEvent(stage, command, answer, command.branch);
  stage.machine.tell(stage.results.keep(command, command.branch, made));
}

function getTimeoutMs({ scenario }: Stage, { toolName, timeoutMs }: CallToolCommand): number {
  if (timeoutMs !== undefined) return timeoutMs;
  const at = scenario.tools.findIndex(({ name }) => name === toolName);
  throw new ScenarioError([
    `tools.${at}.does: "${toolName}" hangs forever: it has no timeoutMs, and nothing stops the run`,
  ]);
}
