import { setTimeout as sleep } from "node:timers/promises";
import {
  type Holdfast,
  HoldfastError,
  type Outcome,
  type PendingActivity,
  type Session,
  type WaitingCall,
} from "../../client/index.ts";
import { keyOf } from "./approval-questions.ts";
import { questionLines } from "./approval-view.ts";
import { ApprovalWatch } from "./approval-watch.ts";
import type { AttachAction } from "./attach-lines.ts";
import { statusRows } from "./commands/status.ts";
import type { Context } from "./context.ts";
import { EXIT, EXIT_OF_ERROR, EXIT_OF_OUTCOME } from "./exit-codes.ts";
import { Renderer } from "./render.ts";
import { count, describeCost, describeOutcome, shortened } from "./words.ts";

/** With so long nothing to show, the server is asked whether a vendor is being tried again. */
const QUIET_MS = 3_000;
/** Who leaves waits so long at most for a question that is under way. */
const LEAVE_MS = 2_000;

/** A session that runs elsewhere, shown at this terminal. */
export class AttachedSession {
  readonly #context: Context;
  readonly #holdfast: Holdfast;
  readonly #session: Session;
  readonly #write: (text: string) => void;
  readonly #renderer: Renderer;
  readonly #approvals: ApprovalWatch<WaitingCall>;
  readonly #announced = new Set<string>();
  #waiting: readonly WaitingCall[] = [];
  #shownAtMs = performance.now();
  #retry = "";
  #looking = Promise.resolve();

  constructor(context: Context, holdfast: Holdfast, id: string, write: (text: string) => void) {
    this.#context = context;
    this.#holdfast = holdfast;
    this.#session = holdfast.session(id);
    this.#write = write;
    this.#renderer = new Renderer({ write, paint: context.out });
    this.#approvals = new ApprovalWatch(
      () => this.#session.approvals(),
      (calls) => this.#hear(calls),
    );
  }

  /**
   * Shows the session until its run has ended.
   *
   * @returns The exit code that its end stands for; nothing when the signal ended the showing.
   */
  async follow(from: string, signal: AbortSignal): Promise<number | undefined> {
    // A mistyped id is told at once.
    const { open } = await this.#session.status();
    if (open) this.#approvals.start();
    const retries = setInterval(() => {
      this.#looking = this.#lookForRetries();
    }, QUIET_MS);
    try {
      if (this.#context.json) await this.#print(from, signal);
      else await this.#show(from, signal);
    } finally {
      clearInterval(retries);
      this.#approvals.stop();
      const settled = Promise.all([this.#approvals.settled(), this.#looking]);
      await Promise.race([settled, sleep(LEAVE_MS, undefined, { ref: false })]);
    }
    return signal.aborted ? undefined : await this.#concluded();
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
        case "refuse":
          return await this.#answer(action);
        case "approvals":
          this.#announced.clear();
          return this.#waiting.length === 0
            ? this.tell("Nothing waits for your word.")
            : this.#hear(this.#waiting);
        case "status":
          return await this.#tellStatus();
        case "tell":
          return this.tell(action.text);
        case "help":
        case "leave":
          return;
      }
    } catch (error) {
      this.tell((error as Error).message);
    }
  }

  tell(text: string): void {
    this.#renderer.endLine();
    if (this.#context.json) this.#json({ type: "notice", text });
    else this.#write(`${this.#context.out.yellow(text)}\n`);
  }

  /** For scripts: events, each with the cursor behind it. */
  async #print(from: string, signal: AbortSignal): Promise<void> {
    for await (const { cursor, event } of this.#session.events({ from, signal })) {
      this.#json({ cursor, event });
      this.#noteShown(!event.type.endsWith("Update"));
    }
  }

  async #show(from: string, signal: AbortSignal): Promise<void> {
    for await (const item of this.#session.watch({ from: from as "loop", signal })) {
      this.#renderer.show(item);
      this.#noteShown(item.type === "event");
    }
    this.#renderer.endLine();
  }

  #noteShown(isRecorded: boolean): void {
    this.#shownAtMs = performance.now();
    if (isRecorded) this.#approvals.look();
  }

  async #answer(action: Extract<AttachAction, { type: "approve" | "refuse" }>): Promise<void> {
    const call = this.#waiting.find(({ toolCallId }) => toolCallId === action.call);
    // What is no call's name is the beginning of a reason.
    const isNamed = call !== undefined || action.type === "approve";
    const named = isNamed ? action.call : undefined;
    const whose = call === undefined ? this.#session : this.#holdfast.session(call.session);
    if (action.type === "approve" && call?.question !== undefined) await whose.answer(named);
    else if (action.type === "approve") await whose.approve(named);
    else {
      const reason = [isNamed ? undefined : action.call, action.reason].filter((word) => word !== undefined);
      await whose.refuse(named, reason.length === 0 ? {} : { reason: reason.join(" ") });
    }
    this.#approvals.look();
  }

  #hear(calls: readonly WaitingCall[]): void {
    this.#waiting = calls;
    for (const call of calls.filter((one) => !this.#announced.has(keyOf(one)))) {
      this.#announced.add(keyOf(call));
      if (this.#context.json) {
        this.#json({ type: "needs-approval", ...call });
        continue;
      }
      this.#renderer.endLine();
      const lines = questionLines(call, { paint: this.#context.out, whole: false });
      const values =
        call.question === undefined
          ? ""
          : `; with values: holdfast answer ${call.session} ${call.toolCallId}`;
      const which = `/approve ${call.toolCallId}, or /deny ${call.toolCallId} REASON${values}`;
      this.#write([...lines, this.#context.out.yellow(`  ${which}`), ""].join("\n"));
    }
  }

  async #lookForRetries(): Promise<void> {
    if (performance.now() - this.#shownAtMs < QUIET_MS) return;
    const status = await this.#session.status().catch(() => undefined);
    const retried = status?.pending.find(
      ({ attempt, lastFailure }) => attempt > 1 && lastFailure !== undefined,
    );
    const said = retried === undefined ? "" : retryLine(retried);
    if (said !== "" && said !== this.#retry) this.tell(said);
    this.#retry = said;
  }

  async #tellStatus(): Promise<void> {
    const status = await this.#session.status();
    if (this.#context.json) return this.#json({ type: "status", ...status });
    const rows = await statusRows(this.#session, status, this.#context.options);
    this.tell(rows.map(([name, value]) => `${name}: ${value}`).join("\n"));
  }

  async #concluded(): Promise<number> {
    const { turns = 0, costUsd = null, outcome } = await this.#session.status();
    const code = await this.#exitCode(outcome);
    if (this.#context.json) this.#json({ type: "result", outcome, turns, costUsd, exitCode: code });
    else {
      const how = outcome === undefined ? "ended from outside" : describeOutcome(outcome);
      const words = [how, count(turns, "turn"), describeCost(costUsd), `session ${this.#session.id}`].join(
        " · ",
      );
      this.#write(`${code === EXIT.ok ? this.#context.out.dim(words) : this.#context.out.red(words)}\n`);
    }
    return code;
  }

  /** As `holdfast run` ends; of a run that the server has forgotten the record says it. */
  async #exitCode(outcome: Outcome | undefined): Promise<number> {
    try {
      return EXIT_OF_OUTCOME[(await this.#session.result()).outcome.type];
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const isForgotten = error.code === "session-unknown" && outcome !== undefined;
      return isForgotten ? EXIT_OF_OUTCOME[outcome.type] : EXIT_OF_ERROR[error.code];
    }
  }

  #json(value: object): void {
    this.#context.printJson({ session: this.#session.id, ...value });
  }
}

function retryLine({ type, attempt, maxAttempts, lastFailure = "", nextAttemptAt }: PendingActivity): string {
  const of = maxAttempts === undefined ? "" : ` of ${maxAttempts}`;
  const next = nextAttemptAt === undefined ? "" : `, next at ${nextAttemptAt.toISOString()}`;
  return `(${type}: attempt ${attempt}${of}${next}; last failure: ${shortened(lastFailure, 300)})`;
}
