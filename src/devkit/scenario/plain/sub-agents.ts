import { readTaskText } from "../../../activities/close-loop/task-text.ts";
import type { CallToolCommand } from "../../../core/machine/state/activity-command.ts";
import type { TaskReport, TaskRequest } from "../../../core/machine/state/task.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../../schema/record.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";
import { Stage } from "./stage.ts";

/** A started sub-agent: the vendor has its first request, or it has ended. */
export type Child = {
  readonly stage: Stage;
  readonly task: string;
  /** Runs to the end. */
  readonly finish: () => Promise<TaskReport>;
};

/** Drives a run from its task to its report. */
export type Drive = (
  stage: Stage,
  task: TaskRequest,
) => Promise<{ readonly outcome: Outcome; readonly report: TaskReport | undefined }>;

/**
 * Starts the sub-agent of a call, and runs it up to its first request.
 *
 * @param tell - Reports the start to the caller's machine.
 */
export async function beginChild(
  caller: Stage,
  command: CallToolCommand,
  given: Pick<TaskRequest, "allocation" | "maxTurns">,
  drive: Drive,
  tell: (happening: Happening) => void = (happening) => caller.machine.tell(happening),
): Promise<Child> {
  const { machine, scenario, subAgents, transcripts, transcript } = caller;
  const {
    call,
    toolName,
    toolCallId,
    loopId,
    turn,
    branch,
    answer,
    changedArguments: changed,
    summary,
  } = command;
  const part = scenario.subAgents.find(({ name }) => name === toolName);
  if (part === undefined) throw new Error(`The sub-agent ${toolName} does not exist`);
  const request: TaskRequest = {
    spawn: { session: caller.session, loopId, turn, toolCallId, toolName },
    branch,
    answer,
    ...omitUndefined({ changedArguments: changed }),
    summary,
    allocation: given.allocation,
    ...omitUndefined({ maxTurns: given.maxTurns }),
  };
  const task = await readTaskText(request, {
    readEntries: async (_, from, at, to) => transcript.listEntries(from).slice(at, to),
  });
  const session = `${caller.session}.sub-${transcripts.size}`;
  const gate = createLatch();
  const asked = createLatch();
  const admitted = () => {
    asked.open();
    return gate.opened;
  };
  const stage = new Stage(scenario, { caller, session, call: toolCallId, part, admitted });
  subAgents.push({ name: toolName, call: toolCallId, stage });
  tell({ type: "child-started", call, session });
  const end = drive(stage, request);
  await Promise.race([asked.opened, end]);
  return {
    stage,
    task,
    finish: async () => {
      stage.machine.passUntil(machine.nowMs);
      if (machine.isStopped) stage.machine.tell({ type: "stop-requested", reason: CANCELLED });
      gate.open();
      const { outcome, report } = await end;
      stage.people.mustBeOver();
      stage.end = outcome;
      machine.passUntil(stage.machine.nowMs);
      if (report === undefined) throw new Error(`The sub-agent ${toolName} ended without a report`);
      return report;
    },
  };
}

/** The reason that the workflow passes to its machine when it is cancelled. */
const CANCELLED = "the workflow was cancelled";

function createLatch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Rejects concurrent calls with equal tasks: the vendor distinguishes runs of a sub-agent by their tasks. */
export function mustDiffer(children: readonly Child[]): void {
  const names = children.map(({ stage, task }) => `${stage.path} ${task}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  throw new ScenarioError([`model: two concurrent calls have the same task (${twice.slice(1)})`]);
}
