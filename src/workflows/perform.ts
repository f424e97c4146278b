import { scheduleActivity, scheduleLocalActivity, workflowInfo } from "@temporalio/workflow";
import type { Activities } from "../activities/activities.ts";
import type {
  CallModelCommand,
  CallToolCommand,
  CloseLoopCommand,
  CompactCommand,
  FilterInputCommand,
  MoveDefinitionCommand,
  OpenLoopCommand,
  RecordCommand,
  RunHookCommand,
} from "../core/command.ts";
import type { ToolDigest } from "../core/digest.ts";
import type { RunEvent } from "../core/run-event.ts";
import { localOptions, modelOptions, toolOptions, writeOptions } from "./activity-options.ts";
import { setbackOf } from "./set-back.ts";

/** What happened, before the driver says when. */
export type Happening = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

type ActivityCommand =
  | OpenLoopCommand
  | CallModelCommand
  | CompactCommand
  | RunHookCommand
  | FilterInputCommand
  | MoveDefinitionCommand
  | CloseLoopCommand
  | RecordCommand;

/** As the timeline says it. */
const WHY = {
  grown: "the context has grown",
  asked: "on request",
  overflow: "it does not fit",
} satisfies Record<CompactCommand["why"]["type"], string>;

/** What keeps the activity from asking at all may pass; a hook that fails has answered. */
const HOOK_ATTEMPTS = 3;

// No `async` here: for each promise of a workflow the SDK takes a stack trace and maps it back to its sources, which
// is most of what a short activation costs.

/** Carries out one command through its activity: a command in, what became of it out. */
export function perform(command: ActivityCommand, model: string | undefined): Promise<Happening> {
  switch (command.type) {
    case "open-loop": {
      const { type, ...input } = inSession(command);
      return write<"open-loop">(type, { ...input, ...chain() }, "opens the loop").then(
        (digest) => ({ type: "loop-opened", digest }),
        setBack("open-set-back"),
      );
    }
    case "call-model": {
      const { type, maxAttempts, ...input } = inSession(command);
      const options = modelOptions(maxAttempts, `turn ${command.turn} · ${model ?? "model"}`);
      return scheduleActivity<ReturnOf<"model">>("model", [input], options).then(
        (digest) => ({ type: "model-replied", digest }),
        setBack("model-set-back"),
      );
    }
    case "compact": {
      const { type, maxAttempts, ...input } = inSession(command);
      const options = modelOptions(maxAttempts, `turn ${command.turn} · ${WHY[command.why.type]}`);
      return scheduleActivity<ReturnOf<"compact">>("compact", [input], options).then(
        (digest) => ({ type: "compacted", digest }),
        setBack("compact-set-back"),
      );
    }
    case "run-hook": {
      const { type, ...input } = inSession(command);
      const options = modelOptions(HOOK_ATTEMPTS, `turn ${command.turn} · ${command.ask.point}`);
      return scheduleActivity<ReturnOf<"run-hook">>("run-hook", [input], options).then(
        (digest) => ({ type: "hooks-answered", digest }),
        setBack("hook-set-back"),
      );
    }
    case "filter-input": {
      const { type, maxAttempts, ...input } = inSession(command);
      const options = modelOptions(maxAttempts, `turn ${command.turn} · ${input.messages.length} waiting`);
      return scheduleActivity<ReturnOf<"filter-input">>("filter-input", [input], options).then(
        (digest) => ({ type: "input-filtered", digest }),
        setBack("filter-set-back"),
      );
    }
    case "move-definition": {
      const { type, ...input } = inSession(command);
      return write<"move-definition">(type, input, `turn ${command.turn}`).then(
        (digest) => ({ type: "definition-moved", digest }),
        setBack("move-set-back"),
      );
    }
    case "close-loop": {
      const { type, ...input } = inSession(command);
      return write<"close-loop">(type, input, command.outcome.type).then(
        (digest) => ({ type: "loop-closed", digest }),
        setBack("close-set-back"),
      );
    }
    case "record": {
      const { type, ...input } = inSession(command);
      return write<"record">(type, input, `${command.inbox.length} for the inbox`).then(
        (digest) => ({ type: "recorded", digest }),
        setBack("record-set-back"),
      );
    }
  }
}

/** Runs one tool call. The activity's type is the tool's own name: that is what the timeline and the metrics show. */
export function performTool(command: CallToolCommand): Promise<Happening> {
  const { local, timeoutMs, queue, summary, toolName, ...input } = inSession(command);
  const label = summary === "" ? `turn ${command.turn}` : `turn ${command.turn} · ${summary}`;
  const result = local
    ? scheduleLocalActivity<ToolDigest>(toolName, [input], localOptions(label))
    : scheduleActivity<ToolDigest>(toolName, [input], toolOptions(timeoutMs, queue, label));
  return result.then(
    (digest) => ({ type: "tool-finished", call: command.call, digest }),
    (error) => ({ type: "tool-set-back", call: command.call, setback: setbackOf(error, local) }),
  );
}

/** An activity is told the session only where its workflow has another id. */
function inSession<Command extends { readonly session: string }>({
  session,
  ...rest
}: Command): Omit<Command, "session"> & { readonly session?: string } {
  return session === workflowInfo().workflowId ? rest : { ...rest, session };
}

/** The first run of this one's chain, where that is another. */
function chain(): { readonly firstRun?: string } {
  const { firstExecutionRunId, runId } = workflowInfo();
  return firstExecutionRunId === runId ? {} : { firstRun: firstExecutionRunId };
}

type ReturnOf<Name extends keyof Activities> = Awaited<ReturnType<Activities[Name]>>;

function write<Name extends "open-loop" | "move-definition" | "close-loop" | "record">(
  name: Name,
  input: Parameters<Activities[Name]>[0],
  summary: string,
): Promise<ReturnOf<Name>> {
  return scheduleActivity<ReturnOf<Name>>(name, [input], writeOptions(summary));
}

function setBack(
  type:
    | "open-set-back"
    | "model-set-back"
    | "compact-set-back"
    | "hook-set-back"
    | "filter-set-back"
    | "move-set-back"
    | "close-set-back"
    | "record-set-back",
) {
  return (error: unknown): Happening => ({ type, setback: setbackOf(error, false) });
}
