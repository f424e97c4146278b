import { ScheduleNotFoundError, ScheduleOverlapPolicy } from "@temporalio/client";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { check } from "../../schema/check.ts";
import type { RetentionPolicy } from "../../schema/retention.ts";
import { WORKFLOW_TASK_TIMEOUT } from "../../workflows/activity-options.ts";
import type { RetentionRequest, RetentionResult } from "../../workflows/retention.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";

const RETENTION_WORKFLOW = "retention";

/** The policy that is set, and when it is applied. */
export type RetentionState = {
  /** Which sessions are deleted, and when. */
  readonly policy: RetentionPolicy;
  /** When the policy is applied, as a cron expression. */
  readonly cron: string | undefined;
  /** Whether the schedule is paused: then nothing is deleted. */
  readonly paused: boolean;
  /** When the policy is applied next. */
  readonly nextAt: Date | undefined;
};

/** When a policy is applied. */
export type SetRetentionOptions = {
  /** When the policy is applied; every night at half past three by default. */
  readonly cron?: string;
  /** The time zone of `cron`; UTC by default. */
  readonly timeZone?: string;
};

/** The retention policy, as a Temporal schedule: one per task queue. */
export class Retention {
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink) {
    this.#link = link;
  }

  get #scheduleId(): string {
    return `holdfast-retention-${this.#link.taskQueue}`;
  }

  /** Sets the policy, in place of an earlier one. */
  async set(
    policy: RetentionPolicy,
    { cron = "30 3 * * *", timeZone }: SetRetentionOptions = {},
  ): Promise<void> {
    const request: RetentionRequest = { policy: await validatePolicy(policy) };
    const link = this.#link;
    await this.#call(async () => {
      await this.remove();
      await link.client.schedule.create({
        scheduleId: this.#scheduleId,
        spec: { cronExpressions: [cron], ...omitUndefined({ timezone: timeZone }) },
        memo: { policy: request.policy, cron },
        policies: { overlap: ScheduleOverlapPolicy.SKIP },
        action: {
          type: "startWorkflow",
          workflowType: RETENTION_WORKFLOW,
          workflowId: this.#scheduleId,
          taskQueue: link.taskQueue,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          args: [request],
          staticSummary: "deletes sessions past their retention",
        },
      });
    });
  }

  /** Returns `undefined` where no policy is set: every session is retained. */
  async get(): Promise<RetentionState | undefined> {
    return await this.#call(async () => {
      try {
        const { memo, state, info } = await this.#link.client.schedule.getHandle(this.#scheduleId).describe();
        const { policy, cron } = (memo ?? {}) as { policy?: unknown; cron?: unknown };
        return {
          policy: await validatePolicy(policy),
          cron: typeof cron === "string" ? cron : undefined,
          paused: state.paused,
          nextAt: info.nextActionTimes[0],
        };
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return undefined;
        throw error;
      }
    });
  }

  /** Removes the policy: every session is retained from then on. */
  async remove(): Promise<void> {
    await this.#call(async () => {
      await this.#link.client.schedule
        .getHandle(this.#scheduleId)
        .delete()
        .catch((error: unknown) => {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
        });
    });
  }

  /** Exempts a session from every policy, or ends the exemption. */
  async setRetained(session: string, isRetained = true): Promise<void> {
    const { setSessionRetained } = await import("../runs/set-retained.ts");
    return setSessionRetained(this.#link, resolveSessionId(session), isRetained);
  }

  /** Applies a policy at once: the given one, or the one that is set. */
  async run(
    options: {
      /** The policy to apply; by default the one that is set. */
      readonly policy?: RetentionPolicy;
      /** Reports what would be deleted without deleting it. */
      readonly dryRun?: boolean;
    } = {},
  ): Promise<RetentionResult> {
    const policy =
      options.policy === undefined ? (await this.get())?.policy : await validatePolicy(options.policy);
    if (policy === undefined) {
      throw new HoldfastError("input-invalid", "No retention policy is set: every session is retained.");
    }
    const request: RetentionRequest = { policy, dryRun: options.dryRun ?? false };
    const link = this.#link;
    return await this.#call(
      () =>
        link.client.workflow.execute(RETENTION_WORKFLOW, {
          workflowId: `${this.#scheduleId}-now`,
          taskQueue: link.taskQueue,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          workflowIdConflictPolicy: "FAIL",
          args: [request],
        }) as Promise<RetentionResult>,
    );
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toHoldfastError(error, this.#link, this.#scheduleId);
    }
  }
}

async function validatePolicy(policy: unknown): Promise<RetentionPolicy> {
  const schema = await import("../../schema/retention.ts");
  const checked = check(schema.RetentionPolicy, policy, "policy");
  if (checked.ok) return checked.value;
  const { problems } = checked;
  throw new HoldfastError("input-invalid", `The retention policy is not valid: ${problems.join("; ")}`, {
    problems,
  });
}
