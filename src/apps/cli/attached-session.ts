import { HoldfastError } from "../../client/holdfast-error.ts";
import type { Holdfast, Outcome, PendingActivity, Session, WaitingCall } from "../../client/index.ts";
import { isLiveOutput } from "../../client/read/live-events.ts";
import { readRunSummary } from "../../client/runs/run-summary.ts";
import { raceTimeout } from "../../platform/async/race.ts";
import { getCallKey } from "./approval-dialog.ts";
import { ApprovalPoller } from "./approval-poller.ts";
import { formatApprovalRequest } from "./approval-view.ts";
import { formatStatusRows } from "./commands/status.ts";
import type { Context } from "./context.ts";
import { ERROR_EXIT_CODES, EXIT, OUTCOME_EXIT_CODES } from "./exit-codes.ts";
import type { AttachAction } from "./parse-attach-line.ts";
import { Renderer } from "./render.ts";
import type { ImageProtocol } from "./terminal-image.ts";
import { describeOutcome, describeTotals, shortenText } from "./text.ts";

/** After this long without output, the session asks the server whether a step is being retried. */
const RETRY_CHECK_AFTER_MS = 3_000;
/** How long detaching waits at most for requests in progress. */
const MAX_DETACH_MS = 2_000;

/** A session that runs elsewhere, displayed at this terminal. */
export class AttachedSession {
  readonly #context: Context;
  readonly #holdfast: Holdfast;
  readonly #session: Session;
  readonly #write: (text: string) => void;
  readonly #renderer: Renderer;
  readonly #approvals: ApprovalPoller<WaitingCall>;
  readonly #announced = new Set<string>();
  #waitingCalls: readonly WaitingCall[] = [];
  #lastOutputAtMs = performance.now();
  #lastRetryLine = "";
  #retryCheck = Promise.resolve();

  /** @param images - How the terminal displays images, if `write` leaves lines as they are. */
  constructor(
    context: Context,
    holdfast: Holdfast,
    id: string,
    write: (text: string) => void,
    images?: ImageProtocol,
  ) {
    this.#context = context;
    this.#holdfast = holdfast;
    this.#session = holdfast.session(id);
    this.#write = write;
    this.#renderer = new Renderer({ write, paint: context.out, images });
    this.#approvals = new ApprovalPoller(
      () => this.#session.approvals.list(),
      (calls) => this.#announceCalls(calls),
    );
  }

  /**
   * Displays the session until its run ends.
   *
   * @returns The exit code for the run's outcome; undefined if the signal ended the display.
   */
  async follow(from: string, signal: AbortSignal): Promise<number | undefined> {
    // Fails immediately for a mistyped id.
    const { open } = await this.#session.status();
    if (open) this.#approvals.start();
    const retries = setInterval(() => {
      this.#retryCheck = this.#checkRetries();
    }, RETRY_CHECK_AFTER_MS);
    try {
      await this.#showEvents(from, signal);
    } finally {
      clearInterval(retries);
      this.#approvals.stop();
      const settled = Promise.all([this.#approvals.waitUntilIdle(), this.#retryCheck]);
      await raceTimeout(settled, MAX_DETACH_MS);
    }
    return signal.aborted ? undefined : await this.#reportResult();
  }

  async carryOut(action: AttachAction): Promise<void> {
    try {
      switch (action.type) {
        case "steer":
          return void (await this.#session.steer(action.text));
        case "follow-up":
          return void (await this.#session.followUp(action.text));
        case "stop":
          return void (await this.#session.stop("stopped at an attached terminal"));
        case "approve":
        case "deny":
          return await this.#answerCall(action);
        case "approvals":
          this.#announced.clear();
          return this.#waitingCalls.length === 0
            ? this.report("No call waits for approval.")
            : this.#announceCalls(this.#waitingCalls);
        case "status":
          return await this.#reportStatus();
        case "tell":
          return this.report(action.text);
        case "help":
        case "leave":
          return;
      }
    } catch (error) {
      this.report((error as Error).message);
    }
  }

  report(text: string): void {
    this.#renderer.endLine();
    if (this.#context.json) this.#printJson({ type: "notice", text });
    else this.#write(`${this.#context.out.yellow(text)}\n`);
  }

  async #showEvents(from: string, signal: AbortSignal): Promise<void> {
    for await (const item of this.#session.events({ from, signal })) {
      if (this.#context.json) this.#context.printEvent(item);
      else this.#renderer.show(item.event);
      this.#recordOutput(!isLiveOutput(item.event));
    }
    if (!this.#context.json) this.#renderer.endLine();
  }

  #recordOutput(isRecorded: boolean): void {
    this.#lastOutputAtMs = performance.now();
    if (isRecorded) this.#approvals.poll();
  }

  async #answerCall(action: Extract<AttachAction, { type: "approve" | "deny" }>): Promise<void> {
    const call = this.#waitingCalls.find(({ toolCallId }) => toolCallId === action.call);
    // A first word that is not the id of a call begins the reason.
    const isNamed = call !== undefined || action.type === "approve";
    const callId = isNamed ? action.call : undefined;
    const target = call === undefined ? this.#session : this.#holdfast.session(call.session);
    if (action.type === "approve" && call?.questionRef !== undefined) await target.approvals.answer(callId);
    else if (action.type === "approve") await target.approvals.approve(callId);
    else {
      const reason = [isNamed ? undefined : action.call, action.reason].filter((word) => word !== undefined);
      await target.approvals.deny(callId, reason.length === 0 ? {} : { reason: reason.join(" ") });
    }
    this.#approvals.poll();
  }

  #announceCalls(calls: readonly WaitingCall[]): void {
    this.#waitingCalls = calls;
    for (const call of calls.filter((one) => !this.#announced.has(getCallKey(one)))) {
      this.#announced.add(getCallKey(call));
      if (this.#context.json) {
        this.#printJson({ type: "needs-approval", ...call });
        continue;
      }
      this.#renderer.endLine();
      const lines = formatApprovalRequest(call, { paint: this.#context.out, whole: false });
      const values =
        call.questionRef === undefined
          ? ""
          : `; with values: holdfast answer ${call.session} ${call.toolCallId}`;
      const hint = `/approve ${call.toolCallId}, or /deny ${call.toolCallId} REASON${values}`;
      this.#write([...lines, this.#context.out.yellow(`  ${hint}`), ""].join("\n"));
    }
  }

  async #checkRetries(): Promise<void> {
    if (performance.now() - this.#lastOutputAtMs < RETRY_CHECK_AFTER_MS) return;
    const status = await this.#session.status().catch(() => undefined);
    const retried = status?.pending.find(
      ({ attempt, lastFailure }) => attempt > 1 && lastFailure !== undefined,
    );
    const line = retried === undefined ? "" : formatRetry(retried);
    if (line !== "" && line !== this.#lastRetryLine) this.report(line);
    this.#lastRetryLine = line;
  }

  async #reportStatus(): Promise<void> {
    const status = await this.#session.status();
    if (this.#context.json) return this.#printJson({ type: "status", ...status });
    const rows = await formatStatusRows(this.#session, status, this.#context.options);
    this.report(rows.map(([name, value]) => `${name}: ${value}`).join("\n"));
  }

  async #reportResult(): Promise<number> {
    const found = await readRunSummary(this.#session);
    const { outcome } = found;
    const code = await this.#getExitCode(outcome);
    if (this.#context.json) this.#printJson({ ...found, exitCode: code });
    else {
      const ending = outcome === undefined ? "ended without an outcome" : describeOutcome(outcome);
      const summary = `${ending} · ${describeTotals(found)} · session ${this.#session.id}`;
      this.#write(`${code === EXIT.ok ? this.#context.out.dim(summary) : this.#context.out.red(summary)}\n`);
    }
    return code;
  }

  /** Returns the exit code of `holdfast run`; for a run that the server no longer has, it comes from the record. */
  async #getExitCode(outcome: Outcome | undefined): Promise<number> {
    try {
      return OUTCOME_EXIT_CODES[(await this.#session.tryResult()).outcome.type];
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const isForgotten = error.code === "session-unknown" && outcome !== undefined;
      return isForgotten ? OUTCOME_EXIT_CODES[outcome.type] : ERROR_EXIT_CODES[error.code];
    }
  }

  #printJson(value: object): void {
    this.#context.printJson({ session: this.#session.id, ...value });
  }
}

function formatRetry({
  type,
  attempt,
  maxAttempts,
  lastFailure = "",
  nextAttemptAt,
}: PendingActivity): string {
  const of = maxAttempts === undefined ? "" : ` of ${maxAttempts}`;
  const next = nextAttemptAt === undefined ? "" : `, next at ${nextAttemptAt.toISOString()}`;
  return `(${type}: attempt ${attempt}${of}${next}; last failure: ${shortenText(lastFailure, 300)})`;
}
