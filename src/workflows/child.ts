import { uuid4 } from "@temporalio/workflow";
import type { CallToolCommand } from "../core/machine/state/activity-command.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { runPart } from "./part.ts";
import type { UntimedEvent } from "./perform.ts";
import type { RunSettings, StartRequest } from "./run-input.ts";

type ChildParams = NonNullable<CallToolCommand["child"]>;

/** Creates the id of a child session in the run, so that a run that was reset creates another one (design 3.3). */
export function buildChildSession(session: string): string {
  return `${session}.sub-${uuid4().slice(0, 8)}`;
}

/** Runs a sub-agent from its start to its report. Cancelling the scope stops the sub-agent and waits for its end. */
export function runChild(
  command: CallToolCommand,
  child: ChildParams,
  session: string,
  settings: RunSettings,
): Promise<UntimedEvent> {
  const { call, toolCallId, toolName, loopId, branch, answer, summary, changedArguments: changed } = command;
  const request: StartRequest = {
    definitionHash: child.definitionHash,
    settings,
    task: {
      spawn: { session: command.session, loopId, turn: command.turn, toolCallId, toolName },
      branch,
      answer,
      ...omitUndefined({ changedArguments: changed }),
      summary,
      allocation: child.allocation,
      ...omitUndefined({ maxTurns: child.maxTurns }),
    },
  };
  const label = summary === "" ? `turn ${command.turn}` : `turn ${command.turn} · ${summary}`;
  return runPart(session, request, `${toolName} · ${label}`).then((end) => {
    if (end.type === "reported") return { type: "child-finished", call, report: end.report };
    const { reason, report } = end;
    return { type: "child-lost", call, reason, ...omitUndefined({ report }) };
  });
}
