import { allHandlersFinished, CancellationScope, condition, workflowInfo } from "@temporalio/workflow";
import { apply } from "../core/machine/apply.ts";
import { pendingApprovals } from "../core/machine/approvals.ts";
import { next } from "../core/machine/next.ts";
import { start } from "../core/machine/start.ts";
import type {
  CallToolCommand,
  CallToolsCommand,
  Command,
  RecordCommand,
} from "../core/machine/state/command.ts";
import type { State } from "../core/machine/state/state.ts";
import { type AskingCommand, isStep, STEPS } from "../core/machine/steps.ts";
import { taskMessage } from "../core/machine/task.ts";
import { childSession, performChild } from "./child.ts";
import {
  messageFrom,
  problemOf,
  type ResumeRequest,
  type RunInput,
  type RunSettings,
  settingsFrom,
  wordsOf,
} from "./input.ts";
import { listen, listenForPrompts } from "./listen.ts";
import { type Happening, perform, performTool } from "./perform.ts";
import { mustBeRequest } from "./request-shapes.ts";
import { finish, type RunResult } from "./result.ts";
import { goOnAsNew, isLong } from "./rotate.ts";
import { rulesAtStart } from "./rules.ts";
import { showcase } from "./shown.ts";

/** Drives the machine: asks what to do, has it done, tells what happened. Everything else is in the core. */
export async function agent(input: RunInput = {}): Promise<RunResult> {
  return await CancellationScope.nonCancellable(() => drive(input, CancellationScope.current().parent));
}

async function drive(input: RunInput, outside: CancellationScope | undefined): Promise<RunResult> {
  const { session, settings, initial } = begin(input);
  const show = showcase(settings.searchAttributes);
  let state = initial;
  let work = new CancellationScope();
  const tell = (happening: Happening): void => {
    const wasStopped = state.stop !== undefined;
    state = apply(state, { ...happening, atMs: Date.now() });
    // Behind a stop hooks are still told how the turn has ended: what comes then does not end them.
    if (!wasStopped && state.stop !== undefined && isWork(next(state))) work.cancel();
  };
  listen(() => state, tell);
  outside?.cancelRequested.catch(() =>
    tell({ type: "stop-requested", reason: "the workflow was cancelled" }),
  );
  tell({ type: "begun" });
  listenForPrompts(() => state, tell);

  for (;;) {
    const command = due();
    switch (command.type) {
      case "wait":
        await waitFor(command.untilMs);
        break;
      case "rotate":
        await condition(allHandlersFinished);
        return await goOnAsNew<typeof agent>({ resume: state, settings } satisfies ResumeRequest);
      case "finish":
        await condition(allHandlersFinished);
        if (next(state).type === "finish") return finish(session, command);
        break;
      default:
        if (isWork(command)) {
          work = new CancellationScope();
          await work.run(workOn);
        } else tell(await perform(command, state.pinned?.model));
    }
  }

  function due(): Command {
    if (isLong(settings) && !state.rotate) tell({ type: "rotation-due" });
    show(state);
    return next(state);
  }

  /** Model, tools and hooks in turn, in the one scope that stop cancels, until something else is due. */
  async function workOn(): Promise<void> {
    do {
      const command = due();
      if (command.type === "call-tools") await callAll(command);
      else if (isWork(command)) tell(await perform(command, state.pinned?.model));
      else return;
    } while (state.stop === undefined);
  }

  function callAll({ calls, beside }: CallToolsCommand): Promise<unknown> {
    const written = beside === undefined ? [] : [writeDown(beside)];
    const called = pendingApprovals(state).length === 0 ? calls.map(carryThrough) : [callBesideQuestions()];
    return oneOrAll([...called, ...written]);
  }

  /** Beside sub-agents, which may be long; a stop does not cut it short. */
  function writeDown(command: RecordCommand): Promise<void> {
    return CancellationScope.nonCancellable(() => perform(command, undefined)).then((happening) => {
      tell(happening);
      const now = next(state);
      return now.type === "call-tools" && now.beside !== undefined ? writeDown(now.beside) : undefined;
    });
  }

  /** Until no call is under way; one that a person has approved meanwhile starts beside the others. */
  async function callBesideQuestions(): Promise<void> {
    const flying = new Map<number, Promise<void>>();
    const waiting = (): readonly CallToolCommand[] => {
      const command = next(state);
      return command.type === "call-tools" ? command.calls.filter(({ call }) => !flying.has(call)) : [];
    };
    do {
      for (const call of waiting()) {
        flying.set(
          call.call,
          carryThrough(call).then(() => void flying.delete(call.call)),
        );
      }
      const landed = oneOrAll([...flying.values()]);
      if (pendingApprovals(state).length === 0) return void (await landed);
      const approved = CancellationScope.nonCancellable(() => condition(() => waiting().length > 0));
      await Promise.race([landed, approved]);
    } while (flying.size > 0 || waiting().length > 0);
  }

  /** A lost call is given out again while its siblings are still at work. */
  function carryThrough(call: CallToolCommand): Promise<void> {
    return startCall(call).then((happening) => {
      tell(happening);
      const again = () => stillRunning(next(state), call.call);
      const goOn = () => {
        const command = again();
        return command === undefined ? undefined : carryThrough(command);
      };
      if (!pendingApprovals(state).some(({ toolCallId }) => toolCallId === call.toolCallId)) return goOn();
      // Its tool asks a person: it is called again beside its siblings, or waits when they are over.
      const due = () => again() !== undefined || next(state).type !== "call-tools";
      return CancellationScope.nonCancellable(() => condition(due)).then(goOn);
    });
  }

  function startCall(call: CallToolCommand): Promise<Happening> {
    if (call.child === undefined) return performTool(call);
    const child = childSession(session);
    tell({ type: "child-started", call: call.call, session: child });
    return performChild(call, call.child, child, settings);
  }

  async function waitFor(untilMs: number | undefined): Promise<void> {
    const arrived = () => next(state).type !== "wait";
    if (untilMs === undefined) await condition(arrived);
    else if (!(await condition(arrived, Math.max(1, untilMs - Date.now())))) tell({ type: "time-passed" });
  }
}

function begin(input: RunInput): { session: string; settings: RunSettings; initial: State } {
  mustBeRequest(input, "run");
  const settings = settingsFrom(input);
  if ("resume" in input) return { session: input.resume.session, settings, initial: input.resume };
  const { task, within } = input;
  const { session, ...part } = within ?? { session: workflowInfo().workflowId };
  const prompt = task === undefined ? messageFrom(input.prompt, Date.now()) : taskMessage(task, Date.now());
  const problem =
    task === undefined && input.continuation === undefined ? problemOf(input.prompt) : undefined;
  const initial = start({
    session,
    mode: input.mode ?? "run",
    idleTimeoutMs: input.idleTimeoutMs ?? null,
    localSteps: settings.localSteps,
    ...wordsOf(settings),
    asked: {
      ...(input.definition === undefined ? {} : { definition: input.definition }),
      ...(input.definitionHash === undefined ? {} : { hash: input.definitionHash }),
    },
    prompts: prompt === undefined ? [] : [prompt],
    ...(problem === undefined ? {} : { problem }),
    ...(input.continuation === undefined ? {} : { continuation: input.continuation }),
    ...(task === undefined ? {} : { task }),
    ...(input.share === undefined ? {} : { share: input.share }),
    ...("evaluation" in part ? { part } : {}),
    rules: rulesAtStart(),
    nowMs: Date.now(),
  });
  return { session, settings, initial };
}

/** Commands that stop cuts short; the others are brief and write what must be written. */
/** What a stop cancels: tool calls, and steps that ask somebody. */
function isWork(command: Command): command is CallToolsCommand | AskingCommand {
  return command.type === "call-tools" || (isStep(command) && STEPS[command.type].retry === "ask");
}

function oneOrAll(promises: readonly Promise<void>[]): Promise<unknown> {
  const [first, ...others] = promises;
  return first !== undefined && others.length === 0 ? first : Promise.all(promises);
}

function stillRunning(command: Command, call: number): CallToolCommand | undefined {
  const tools: CallToolsCommand | undefined = command.type === "call-tools" ? command : undefined;
  return tools?.calls.find((one) => one.call === call);
}
