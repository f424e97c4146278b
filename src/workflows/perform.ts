import { scheduleActivity, scheduleLocalActivity } from "@temporalio/workflow";
import type { Activities, ToolActivity } from "../activities/activities.ts";
import type {
  CallModelCommand,
  CallToolCommand,
  CloseLoopCommand,
  OpenLoopCommand,
  RecordCommand,
} from "../core/command.ts";
import type { RunEvent, Setback } from "../core/run-event.ts";
import { localOptions, modelOptions, toolOptions, writeOptions } from "./activity-options.ts";
import { setbackOf } from "./set-back.ts";

/** What happened, before the driver says when. */
export type Happening = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

type ActivityCommand = OpenLoopCommand | CallModelCommand | CloseLoopCommand | RecordCommand;

/** Carries out one command through its activity: a command in, what became of it out. */
export async function perform(command: ActivityCommand, model: string | undefined): Promise<Happening> {
  switch (command.type) {
    case "open-loop": {
      const { type, session, ...input } = command;
      return answer(
        () => write<"open-loop">(type, input, "opens the loop"),
        (digest) => ({ type: "loop-opened", digest }),
        (setback) => ({ type: "open-set-back", setback }),
      );
    }
    case "call-model": {
      const { type, session, maxAttempts, ...input } = command;
      const options = modelOptions(maxAttempts, `turn ${command.turn} · ${model ?? "model"}`);
      return answer(
        () => scheduleActivity<ReturnOf<"model">>("model", [input], options),
        (digest) => ({ type: "model-replied", digest }),
        (setback) => ({ type: "model-set-back", setback }),
      );
    }
    case "close-loop": {
      const { type, session, ...input } = command;
      return answer(
        () => write<"close-loop">(type, input, command.outcome.type),
        (digest) => ({ type: "loop-closed", digest }),
        (setback) => ({ type: "close-set-back", setback }),
      );
    }
    case "record": {
      const { type, session, ...input } = command;
      return answer(
        () => write<"record">(type, input, `${command.inbox.length} for the inbox`),
        (digest) => ({ type: "recorded", digest }),
        (setback) => ({ type: "record-set-back", setback }),
      );
    }
  }
}

/** Runs one tool call. The activity's type is the tool's own name: that is what the timeline and the metrics show. */
export async function performTool(command: CallToolCommand): Promise<Happening> {
  const { local, session, timeoutMs, queue, summary, toolName, ...input } = command;
  const label = summary === "" ? `turn ${command.turn}` : `turn ${command.turn} · ${summary}`;
  type Digest = Awaited<ReturnType<ToolActivity>>;
  return answer(
    () =>
      local
        ? scheduleLocalActivity<Digest>(toolName, [input], localOptions(label))
        : scheduleActivity<Digest>(toolName, [input], toolOptions(timeoutMs, queue, label)),
    (digest) => ({ type: "tool-finished", call: command.call, digest }),
    (setback) => ({ type: "tool-set-back", call: command.call, setback }),
    local,
  );
}

type ReturnOf<Name extends keyof Activities> = Awaited<ReturnType<Activities[Name]>>;

function write<Name extends "open-loop" | "close-loop" | "record">(
  name: Name,
  input: Parameters<Activities[Name]>[0],
  summary: string,
): Promise<ReturnOf<Name>> {
  return scheduleActivity<ReturnOf<Name>>(name, [input], writeOptions(summary));
}

async function answer<Digest>(
  ask: () => Promise<Digest>,
  done: (digest: Digest) => Happening,
  setBack: (setback: Setback) => Happening,
  local = false,
): Promise<Happening> {
  let digest: Digest;
  try {
    digest = await ask();
  } catch (error) {
    return setBack(setbackOf(error, local));
  }
  return done(digest);
}
