import { z } from "zod";
import { Scorer } from "./scorer.ts";

// A suite: cases, configurations and repetitions, of which each combination is a cell. Here is what a run of it stores; how
// a file describes it is in config/suite-file.

export const MAX_MESSAGES = 100;
export const MAX_NAME_CHARS = 200;

/** A path in the workspace: relative, with forward slashes, and not above it. */
export const CasePath = z
  .string()
  .min(1)
  .max(1024)
  .refine((path) => !path.startsWith("/") && !path.split("/").includes(".."), {
    error: "must be a relative path within the workspace",
  });

/** The position of a recorded session at which a cell begins. */
export const CaseFork = z.strictObject({
  session: z.string().min(1).describe("The id of the recorded session."),
  turn: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("The number of answers of the session that the cell begins with; all of them by default."),
});
export type CaseFork = z.infer<typeof CaseFork>;

/** One case of a suite. */
export const SuiteCase = z.strictObject({
  id: z.string().min(1).max(MAX_NAME_CHARS).describe("The id of the case, unique within the suite."),
  messages: z
    .array(z.string().min(1))
    .max(MAX_MESSAGES)
    .describe("The user's messages: each is sent when the previous one is answered."),
  files: z
    .record(CasePath, z.string())
    .optional()
    .describe("The texts of files that a fresh workspace begins with, by path."),
  fork: CaseFork.optional().describe("The recorded session with which the cell begins."),
  expected: z.unknown().optional().describe("What the scorers compare with."),
  metadata: z.record(z.string(), z.unknown()).optional().describe("Facts for scorers and reports."),
});
export type SuiteCase = z.infer<typeof SuiteCase>;

/**
 * How the cells of a configuration are asked. `answer`: one request without tools, many of them by one activity.
 * `agent`: a run of its own for each.
 */
export const CellKind = z.enum(["answer", "agent"]);
export type CellKind = z.infer<typeof CellKind>;

/** One configuration of a suite. */
export const SuiteConfiguration = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .describe("The name of the configuration, unique within the suite."),
  definitionHash: z.string().min(1).describe("The hash of the stored definition."),
  agentName: z.string().describe("The name of the agent."),
  model: z.string().describe("The model, as `provider/id`."),
  kind: CellKind.describe("How its cells are asked."),
  parameters: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("The values of the matrix that this configuration stands for."),
});
export type SuiteConfiguration = z.infer<typeof SuiteConfiguration>;

export const MAX_CONFIGURATIONS = 200;
export const MAX_SCORERS = 32;
export const MAX_CONCURRENCY = 1000;

/** What a run of a suite is pinned to. */
export const SuitePlan = z.strictObject({
  name: z.string().min(1).max(MAX_NAME_CHARS).describe("The name of the suite."),
  tags: z.array(z.string().min(1).max(MAX_NAME_CHARS)).max(32).describe("Tags, to find runs by."),
  configurations: z.array(SuiteConfiguration).min(1).max(MAX_CONFIGURATIONS).describe("The configurations."),
  repetitions: z.number().int().min(1).max(10_000).describe("How often each case is repeated."),
  scorers: z.array(Scorer).max(MAX_SCORERS).describe("The scorers."),
  stopAfterFailures: z
    .number()
    .int()
    .positive()
    .nullable()
    .describe("After this many failures of the same class nothing new begins; `null` for no limit."),
  fresh: z.boolean().optional().describe("Whether every cell is asked, also if its answers are stored."),
  keepWorkspaces: z.boolean().describe("Whether the workspaces of cells stay after they are scored."),
  workspaces: z.string().optional().describe("The folder in which workspaces are made. Absolute."),
});
export type SuitePlan = z.infer<typeof SuitePlan>;

/** What an operator may change while the run works. */
export const SuiteControl = z.strictObject({
  state: z.enum(["running", "paused", "stopping"]).describe("Whether cells begin."),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(MAX_CONCURRENCY)
    .describe("The cells that are asked side by side."),
  maxCostUsd: z.number().positive().nullable().describe("The budget of the run; `null` for none."),
});
export type SuiteControl = z.infer<typeof SuiteControl>;

/**
 * Why a run was stopped. `failures`: too many cells have failed in the same way. `no-progress`: cells are pending, and none
 * of them could be asked.
 */
export const SuiteStopCode = z.enum(["user", "budget", "failures", "no-progress"]);
export type SuiteStopCode = z.infer<typeof SuiteStopCode>;

/**
 * `planning`: its cells are being written, and nothing has begun. `ended`: no cell is pending. `stopped`: a user has stopped
 * it, its budget is spent, or too many cells have failed in the same way; `reason` says which.
 */
export const SuiteStatus = z.enum(["planning", "running", "paused", "ended", "stopped", "failed"]);
export type SuiteStatus = z.infer<typeof SuiteStatus>;
