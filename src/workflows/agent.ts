import { allHandlersFinished, CancellationScope, condition, workflowInfo } from "@temporalio/workflow";
import { apply } from "../core/machine/apply.ts";
import { listPendingApprovals } from "../core/machine/approvals.ts";
import { next } from "../core/machine/next.ts";
import { buildInitialState } from "../core/machine/start.ts";
import type { CallToolCommand, RecordCommand } from "../core/machine/state/activity-command.ts";
import type { CallToolsCommand, Command } from "../core/machine/state/command.ts";
import type { InboundMessage } from "../core/machine/state/inbound-message.ts";
import type { State } from "../core/machine/state/state.ts";
import { isStep, type RetryableCommand, STEPS } from "../core/machine/steps.ts";
import { buildTaskMessage } from "../core/machine/task.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { createApprovalTimers } from "./approval-timers.ts";
import { buildChildSession, runChild } from "./child.ts";
import { awaitEvent, startStep, startTool, type UntimedEvent } from "./perform.ts";
import { checkRequest } from "./request-shapes.ts";
import { continueRunAsNew, shouldRotate } from "./rotate.ts";
import { chooseRuleSet } from "./rule-set.ts";
import { registerPromptHandler, registerRunHandlers } from "./run-handlers.ts";
import {
  buildSettings,
  findPromptProblem,
  getRedaction,
  type ResumeRequest,
  type RunInput,
  type RunSettings,
  toInboundMessage,
} from "./run-input.ts";
import { finishRun, type RunResult } from "./run-result.ts";
import { createStatusPublisher } from "./status-publisher.ts";

/**
 * Drives the machine: asks the core for the next command, runs it, and reports what happened. The core decides
 * everything else.
 */
export async function agent(input: RunInput = {}): Promise<RunResult> {
  return await CancellationScope.nonCancellable(() => driveRun(input, CancellationScope.current().parent));
}

async function driveRun(input: RunInput, parentScope: CancellationScope | undefined): Promise<RunResult> {
  const { session, settings, initial } = initialise(input);
  const show = createStatusPublisher(settings);
  const updateApprovalTimers = createApprovalTimers();
  let state = initial;
  let work = new CancellationScope();
  const report = (happening: UntimedEvent): void => {
    const wasStopped = state.stop !== undefined;
    state = apply(state, { ...happening, atMs: Date.now() });
    updateApprovalTimers(state);
    // No command follows that would display it.
    if (happening.type === "title-changed") show(state);
    // After a stop, hooks are still notified of how the turn ended. Later events do not cancel these notifications.
    if (!wasStopped && state.stop !== undefined && isCancellable(next(state))) work.cancel();
  };
  registerRunHandlers(() => state, report);
  parentScope?.cancelRequested.catch(() =>
    report({ type: "stop-requested", reason: "the workflow was cancelled" }),
  );
  report({ type: "started" });
  for (const message of listFollowUps(input)) report({ type: "followed-up", message });
  registerPromptHandler(() => state, report);

  for (;;) {
    const command = takeCommand();
    switch (command.type) {
      case "wait":
        await waitFor(command.untilMs);
        break;
      case "rotate":
        await condition(allHandlersFinished);
        return await continueRunAsNew<typeof agent>({ resume: state, settings } satisfies ResumeRequest);
      case "finish":
        await condition(allHandlersFinished);
        if (next(state).type === "finish") return finishRun(session, command);
        break;
      default:
        if (isCancellable(command)) {
          work = new CancellationScope();
          await work.run(runCancellableCommands);
        } else report(await awaitEvent(startStep(command, state.pinned?.model)));
    }
  }

  function takeCommand(): Command {
    if (shouldRotate(settings) && !state.rotationRequested) report({ type: "rotation-requested" });
    show(state);
    return next(state);
  }

  /**
   * Runs model calls, tool calls and hooks one after the other, in the scope that a stop cancels, until another kind
   * of command is due.
   */
  async function runCancellableCommands(): Promise<void> {
    do {
      const command = takeCommand();
      if (!isCancellable(command)) return;
      const call = getOnlyCall(command);
      if (command.type === "call-tools" && call === undefined) {
        await callAll(command);
        continue;
      }
      // In place of further functions and their promises: nearly all commands of a run are executed here.
      const started =
        call === undefined ? startStep(command as RetryableCommand, state.pinned?.model) : startTool(call);
      let happening: UntimedEvent;
      try {
        happening = started.toEvent(await started.result);
      } catch (error) {
        happening = started.toFailedEvent(error);
      }
      report(happening);
      const rest = call === undefined ? undefined : continueCall(call);
      if (rest !== undefined) await rest;
    } while (state.stop === undefined);
  }

  /** Returns the call of a command that runs nothing beside it. */
  function getOnlyCall(command: Command): CallToolCommand | undefined {
    if (command.type !== "call-tools" || command.recordCommand !== undefined) return undefined;
    const [call, ...others] = command.calls;
    const isAlone = others.length === 0 && call?.child === undefined;
    return isAlone && listPendingApprovals(state).length === 0 ? call : undefined;
  }

  function callAll({ calls, recordCommand }: CallToolsCommand): Promise<unknown> {
    const writes = recordCommand === undefined ? [] : [writeRecords(recordCommand)];
    const runs = listPendingApprovals(state).length === 0 ? calls.map(completeCall) : [callBesideQuestions()];
    return awaitAll([...runs, ...writes]);
  }

  /** Writes records while sub-agents run, because these may run for long. A stop does not interrupt the write. */
  function writeRecords(command: RecordCommand): Promise<void> {
    return CancellationScope.nonCancellable(() => awaitEvent(startStep(command, undefined))).then(
      (happening) => {
        report(happening);
        const now = next(state);
        return now.type === "call-tools" && now.recordCommand !== undefined
          ? writeRecords(now.recordCommand)
          : undefined;
      },
    );
  }

  /** Runs calls until none is in flight. A call that the user approves meanwhile starts while the others run. */
  async function callBesideQuestions(): Promise<void> {
    const inFlight = new Map<number, Promise<void>>();
    const listUnstarted = (): readonly CallToolCommand[] => {
      const command = next(state);
      return command.type === "call-tools" ? command.calls.filter(({ call }) => !inFlight.has(call)) : [];
    };
    do {
      for (const call of listUnstarted()) {
        inFlight.set(
          call.call,
          completeCall(call).then(() => void inFlight.delete(call.call)),
        );
      }
      const allEnded = awaitAll([...inFlight.values()]);
      if (listPendingApprovals(state).length === 0) return void (await allEnded);
      const approved = CancellationScope.nonCancellable(() => condition(() => listUnstarted().length > 0));
      await Promise.race([allEnded, approved]);
    } while (inFlight.size > 0 || listUnstarted().length > 0);
  }

  /** Runs a call to its end. A lost call is dispatched again while its siblings still run. */
  function completeCall(call: CallToolCommand): Promise<void> {
    return startCall(call).then((happening) => {
      report(happening);
      return continueCall(call);
    });
  }

  /** Continues a call whose execution has ended, if the machine dispatches it again. */
  function continueCall(call: CallToolCommand): Promise<void> | undefined {
    const findAgain = () => findRunningCall(next(state), call.call);
    const dispatchAgain = () => {
      const command = findAgain();
      return command === undefined ? undefined : completeCall(command);
    };
    if (!listPendingApprovals(state).some(({ toolCallId }) => toolCallId === call.toolCallId))
      return dispatchAgain();
    // The tool asks the user a question. The call runs again beside its siblings, or waits until they have ended.
    const canContinue = () => findAgain() !== undefined || next(state).type !== "call-tools";
    return CancellationScope.nonCancellable(() => condition(canContinue)).then(dispatchAgain);
  }

  function startCall(call: CallToolCommand): Promise<UntimedEvent> {
    if (call.child === undefined) return awaitEvent(startTool(call));
    const child = buildChildSession(session);
    report({ type: "child-started", call: call.call, session: child });
    return runChild(call, call.child, child, settings);
  }

  async function waitFor(untilMs: number | undefined): Promise<void> {
    const isDue = () => next(state).type !== "wait";
    if (untilMs === undefined) await condition(isDue);
    else {
      const summary = WAIT_LABELS[state.phase.type];
      const isReached = await condition(isDue, Math.max(1, untilMs - Date.now()), omitUndefined({ summary }));
      if (!isReached) report({ type: "timer-fired" });
    }
  }
}

/** Lists the messages that are queued from the start. A run that continues has them in its state. */
function listFollowUps(input: RunInput): readonly InboundMessage[] {
  const given = "resume" in input ? [] : (input.followUps ?? []);
  return given.flatMap((one) => toInboundMessage(one, Date.now()) ?? []);
}

/** What the timeline displays for the timer of a wait. */
const WAIT_LABELS: { readonly [Type in State["phase"]["type"]]?: string } = {
  "calling-model": "until the vendor is called again",
  "calling-tools": "until the first question expires",
  waiting: "until the idle time-out",
};

function initialise(input: RunInput): { session: string; settings: RunSettings; initial: State } {
  checkRequest(input, "run");
  const settings = buildSettings(input);
  if ("resume" in input) return { session: input.resume.session, settings, initial: input.resume as State };
  const { task, within } = input;
  const { session, ...part } = within ?? { session: workflowInfo().workflowId };
  const prompt =
    task === undefined ? toInboundMessage(input.prompt, Date.now()) : buildTaskMessage(task, Date.now());
  const problem =
    task === undefined && input.continuation === undefined ? findPromptProblem(input.prompt) : undefined;
  const initial = buildInitialState({
    session,
    mode: input.mode ?? "run",
    idleTimeoutMs: input.idleTimeoutMs ?? null,
    localSteps: settings.localSteps,
    ...getRedaction(settings),
    requestedDefinition: {
      ...omitUndefined({ definition: input.definition, hash: input.definitionHash }),
    },
    prompts: prompt === undefined ? [] : [prompt],
    ...omitUndefined({ problem, continuation: input.continuation, task, share: input.share }),
    ...omitUndefined({ title: input.title }),
    showsTitle: settings.title !== undefined && settings.redactContent !== true,
    ...("evaluation" in part ? { part } : {}),
    ruleSet: chooseRuleSet(),
    nowMs: Date.now(),
  });
  return { session, settings, initial };
}

/**
 * Returns whether a stop cancels this command: tool calls, and steps that call a vendor or an application. The other
 * commands are brief and write what must be written.
 */
function isCancellable(command: Command): command is CallToolsCommand | RetryableCommand {
  return command.type === "call-tools" || (isStep(command) && STEPS[command.type].retry === "ask");
}

function awaitAll(promises: readonly Promise<void>[]): Promise<unknown> {
  const [first, ...others] = promises;
  return first !== undefined && others.length === 0 ? first : Promise.all(promises);
}

function findRunningCall(command: Command, call: number): CallToolCommand | undefined {
  const tools: CallToolsCommand | undefined = command.type === "call-tools" ? command : undefined;
  return tools?.calls.find((one) => one.call === call);
}
