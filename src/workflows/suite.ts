import {
  allHandlersFinished,
  CancellationScope,
  ContinueAsNew,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  scheduleActivity,
  setHandler,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import type { Activities } from "../activities/activity-types.ts";
import { toUsd } from "../core/budget/amounts.ts";
import { readControlChange } from "../core/suite/control-change.ts";
import type { SuiteProgress } from "../core/suite/suite-dashboard.ts";
import type { AnsweredCells, CellRange, TakenCells } from "../core/suite/suite-parts.ts";
import { countLanes, grantBudget, shareConcurrency, type WorkingPart } from "../core/suite/suite-progress.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { SuiteControl, SuiteStopCode } from "../schema/suite.ts";
import { buildWriteOptions, SUITE_PRIORITY, WORKFLOW_TASK_TIMEOUT } from "./activity-options.ts";
import { runAsJob } from "./job.ts";
import { controlSuiteSignal, SHARD_WORKFLOW, stopSignal, suiteStatusQuery } from "./messages.ts";
import { checkRequest } from "./request-shapes.ts";
import { continueRunAsNew, shouldRotate } from "./rotate.ts";
import { buildSettings, type RunSettings } from "./run-input.ts";
import { describeFailure, throwSuiteFailure } from "./suite-failure.ts";
import type { CarriedSuite, ShardRequest, SuiteRequest, SuiteResult } from "./suite-input.ts";
import { createSuitePublisher } from "./suite-status.ts";

const START: CarriedSuite = { after: -1, progress: 0 };

/** Asks and scores the cells of a suite: parts of it work side by side, each a child workflow. */
export function suite(request: SuiteRequest): Promise<SuiteResult> {
  return runAsJob((outside) => new SuiteRun(request, outside).run());
}

class SuiteRun {
  readonly #run = workflowInfo().workflowId;
  readonly #settings: RunSettings;
  readonly #parts = new Map<number, WorkingPart & { readonly workflow: string }>();
  readonly #publish;
  /** The scope of all parts: cancelling it stops them. */
  readonly #workScope = new CancellationScope();
  #carried: CarriedSuite;
  #control: SuiteControl;
  #stopped: { readonly reason: string; readonly code: SuiteStopCode } | undefined;
  #taken: TakenCells | undefined;
  #started = 0;
  #isChanged = false;
  /** How often an operator has changed the control. */
  #changes = 0;
  /** A part has ended because of a pause since the suite last began at its first cell. */
  #wasPaused = false;
  /** Why a part has failed since then. */
  #partFailure: string | undefined;

  constructor(request: SuiteRequest, outside: CancellationScope | undefined) {
    checkRequest(request, "suite");
    this.#settings = buildSettings(request);
    this.#control = request.control;
    this.#carried = request.carried ?? START;
    this.#publish = createSuitePublisher(this.#settings.searchAttributes);
    setHandler(controlSuiteSignal, (change) => this.#change(change), {
      description: "Pauses or resumes the suite, or changes its concurrency or budget",
    });
    setHandler(
      stopSignal,
      (reason) => this.#cancel(typeof reason === "string" ? reason : "stop was requested"),
      {
        description: "Ends the suite: stops the cells in flight, which stay pending",
      },
    );
    setHandler(suiteStatusQuery, () => this.#describe(), {
      description: "Reports how far the suite has come",
    });
    outside?.cancelRequested.catch(() => this.#cancel("the workflow was cancelled"));
  }

  async run(): Promise<SuiteResult | never> {
    try {
      return await this.#work();
    } catch (error) {
      // It is thrown too, and the run goes on.
      if (error instanceof ContinueAsNew) throw error;
      return await throwSuiteFailure(this.#run, error);
    }
  }

  async #work(): Promise<SuiteResult> {
    for (;;) {
      this.#isChanged = false;
      this.#publish(this.#describe());
      if (this.#control.state === "paused" && this.#stopped === undefined) {
        await condition(() => this.#control.state !== "paused" || this.#stopped !== undefined);
        continue;
      }
      const hasRoom = this.#parts.size < countLanes(this.#control) && !this.#mustRotate();
      if (this.#stopped === undefined && hasRoom && (await this.#startNext())) continue;
      if (this.#parts.size > 0) {
        const working = this.#parts.size;
        await condition(() => this.#parts.size < working || this.#isChanged);
        continue;
      }
      if (this.#stopped !== undefined) return await this.#end();
      if (this.#control.state === "paused") continue;
      if (this.#mustRotate()) {
        await condition(allHandlersFinished);
        return await continueRunAsNew<typeof suite>({
          control: this.#control,
          settings: this.#settings,
          carried: this.#carried,
        });
      }
      const { pending } = this.#taken?.counts ?? { pending: 0 };
      if (pending === 0 && this.#taken?.range === undefined) return await this.#end();
      // Cells before the cursor are still pending: a part left them, because of a pause, its budget, or another run.
      if (this.#carried.progress === 0 && !this.#wasPaused) {
        this.#stop(`no cell could be asked${this.#partFailure ?? ""}`, "no-progress");
        continue;
      }
      this.#carried = START;
      this.#wasPaused = false;
      this.#partFailure = undefined;
    }
  }

  /** Each run of the workflow starts a part at least, so that it makes progress. */
  #mustRotate(): boolean {
    return this.#started > 0 && shouldRotate(this.#settings);
  }

  /** Takes the next cells and starts a shard for them. Returns whether there were any. */
  async #startNext(): Promise<boolean> {
    const { after } = this.#carried;
    const changes = this.#changes;
    const taken = await this.#perform("take-cells", { run: this.#run, after }, "the next cells");
    this.#taken = taken;
    if (this.#stopped !== undefined) return false;
    // The store has what an operator asked for, also when the signal about it was lost.
    if (changes === this.#changes) this.#control = taken.control;
    if (this.#control.state !== "running") {
      if (this.#control.state === "stopping") this.#cancel("a user has stopped it");
      return false;
    }
    if (taken.tooMany !== undefined) {
      const { class: kind, failures } = taken.tooMany;
      this.#stop(`${failures} cells have failed with ${kind}`, "failures");
      return false;
    }
    if (taken.range === undefined) return false;
    const parts = [...this.#parts.values()];
    const nanoUsd = grantBudget(
      { ...taken, control: this.#control },
      taken.range,
      taken.counts.pending,
      parts,
    );
    if (nanoUsd === undefined) {
      if (parts.length === 0) this.#stop("the budget is used up", "budget");
      return false;
    }
    this.#carried = { ...this.#carried, after: taken.range.to };
    this.#startShard(taken.range, nanoUsd);
    return true;
  }

  #startShard(range: CellRange, nanoUsd: number | null): void {
    const { kind, after, to, cells } = range;
    const lane = [0, 1, 2, 3].find((one) => !this.#parts.has(one)) ?? 0;
    const workflow = `${this.#run}.cells-${after + 1}-${to}-${workflowInfo().runId.slice(0, 8)}-${this.#started}`;
    this.#started += 1;
    this.#parts.set(lane, { id: lane, nanoUsd, workflow });
    const request: ShardRequest = {
      run: this.#run,
      ...{ kind, after, to, nanoUsd, lane },
      concurrency: shareConcurrency(this.#control, lane),
      state: this.#control.state,
      settings: this.#settings,
    };
    const start = () =>
      startChild(SHARD_WORKFLOW, {
        workflowId: workflow,
        args: [request],
        staticSummary: `${cells} cells, ${after + 1} to ${to}`,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        parentClosePolicy: "REQUEST_CANCEL",
        cancellationType: "WAIT_CANCELLATION_COMPLETED",
        priority: SUITE_PRIORITY,
      });
    const result = this.#workScope.run(() =>
      start().then((handle) => handle.result() as Promise<AnsweredCells>),
    );
    const end = ({ cells, reason }: Pick<AnsweredCells, "cells" | "reason">) => {
      this.#parts.delete(lane);
      if (reason === "paused") this.#wasPaused = true;
      this.#carried = { ...this.#carried, progress: this.#carried.progress + cells };
      this.#publish(this.#describe());
    };
    // A shard that fails leaves its cells pending; the next round takes them again.
    result.then(
      (done) => end(done),
      (error: unknown) => {
        if (!isCancellation(error)) this.#partFailure = `: ${describeFailure(error)}`;
        end({ cells: 0, reason: "stopped" });
      },
    );
  }

  #change(given: unknown): void {
    const change = readControlChange(given);
    if (change.state === "stopping") {
      this.#cancel("a user has stopped it");
      return;
    }
    this.#changes += 1;
    this.#isChanged = true;
    this.#control = { ...this.#control, ...change };
    this.#tellParts();
  }

  #cancel(reason: string): void {
    this.#stop(reason, "user");
    this.#workScope.cancel();
  }

  /** Begins no further cell. Those in flight end by themselves. */
  #stop(reason: string, code: SuiteStopCode): void {
    this.#stopped ??= { reason, code };
    this.#isChanged = true;
    this.#control = { ...this.#control, state: "stopping" };
    this.#tellParts();
  }

  #tellParts(): void {
    for (const [lane, { workflow }] of this.#parts) {
      const change = { ...this.#control, concurrency: shareConcurrency(this.#control, lane) };
      getExternalWorkflowHandle(workflow)
        .signal(controlSuiteSignal, change)
        .catch(() => undefined);
    }
  }

  async #end(): Promise<SuiteResult> {
    const stopped = this.#stopped;
    const totals = await this.#perform(
      "end-suite",
      { run: this.#run, ...omitUndefined({ stopped }) },
      "the end",
    );
    await condition(allHandlersFinished);
    return {
      run: this.#run,
      status: stopped === undefined ? "ended" : "stopped",
      ...omitUndefined({ reason: stopped?.reason, stopCode: stopped?.code }),
      ...totals,
    };
  }

  #describe(): SuiteProgress {
    const { counts = { pending: 0, finished: 0, failed: 0 } } = this.#taken ?? {};
    const state = this.#stopped === undefined ? this.#control.state : ("stopping" as const);
    const spentUsd = toUsd(this.#taken?.spentNanoUsd ?? (this.#taken === undefined ? 0 : null));
    return { run: this.#run, ...this.#control, state, ...counts, parts: this.#parts.size, spentUsd };
  }

  #perform<Name extends "take-cells" | "end-suite">(
    name: Name,
    input: Parameters<Activities[Name]>[0],
    summary: string,
  ): ReturnType<Activities[Name]> {
    return scheduleActivity(name, [input], {
      ...buildWriteOptions(summary),
      priority: SUITE_PRIORITY,
    }) as ReturnType<Activities[Name]>;
  }
}
