import { z } from "zod";

// How the result of a cell is scored. Each scorer gives one number, most often from 0 to 1.

const MAX_PATTERN_CHARS = 4096;
const MAX_TEXT_CHARS = 64 * 1024;
const DEFAULT_COMMAND_TIMEOUT_MS = 60_000;

const name = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must be 1 to 64 letters, digits, -, _ or .")
  .optional()
  .describe("The name of the score, unique within the suite; the scorer's type by default.");

const expected = z
  .union([z.string(), z.array(z.string()).min(1)])
  .optional()
  .describe("The expected text, or several of which one must match; `expected` of the case by default.");

const ignoreCase = z.boolean().default(false).describe("Whether upper and lower case are equal.");

const trim = z
  .boolean()
  .default(true)
  .describe("Whether white space at both ends is ignored, in the answer and in the expected text.");

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .describe("A regular expression of JavaScript, without slashes.");

const flags = z
  .string()
  .regex(/^[imsu]*$/, "may contain i, m, s and u")
  .default("")
  .describe("The flags of the regular expression: `i`, `m`, `s`, `u`.");

/** The answer is equal to the expected text, or begins with it: 1 or 0. */
const ExactScorer = z.strictObject({
  type: z.literal("exact"),
  /** The name of the score. */
  name,
  /** The expected value; that of the case by default. */
  expected,
  /** Whether upper and lower case are equal. */
  ignoreCase,
  /** Whether white space at both ends is ignored. */
  trim,
  match: z
    .enum(["whole", "prefix"])
    .default("whole")
    .describe("`whole`: the answer is the expected text. `prefix`: it begins with the expected text."),
});

/** The answer contains the expected text: 1 or 0. */
const IncludesScorer = z.strictObject({
  type: z.literal("includes"),
  /** The name of the score. */
  name,
  /** The expected value; that of the case by default. */
  expected,
  /** Whether upper and lower case are equal. */
  ignoreCase,
  match: z.enum(["any", "all"]).default("any").describe("Whether one of several texts suffices."),
  normalize: z
    .boolean()
    .default(false)
    .describe(
      "Compares both texts in lower case, without ASCII punctuation and the articles a, an and the, and with single spaces.",
    ),
  eitherWay: z
    .boolean()
    .default(false)
    .describe(
      "Whether it also counts that the expected text contains the answer; an empty text is then equal only to an empty one.",
    ),
});

/** The answer matches a regular expression: 1 or 0. */
const RegexScorer = z.strictObject({
  type: z.literal("regex"),
  /** The name of the score. */
  name,
  pattern: pattern.optional().describe("A regular expression; `expected` of the case by default."),
  /** The flags of the regular expression. */
  flags,
  group: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("A group that must be equal to `expected` of the case; without it, a match suffices."),
});

/** A number of the answer is near the expected one: 1 or 0. */
const NumericScorer = z.strictObject({
  type: z.literal("numeric"),
  /** The name of the score. */
  name,
  expected: z.number().optional().describe("The expected number; `expected` of the case by default."),
  tolerance: z.number().min(0).default(0).describe("The largest difference that counts as equal."),
  relativeTolerance: z
    .number()
    .min(0)
    .default(0)
    .describe("The largest difference as a fraction of the expected number; the larger tolerance applies."),
  take: z.enum(["first", "last"]).default("last").describe("Which number of the answer is compared."),
});

/** The answer is JSON that has expected fields, or matches a schema: the fraction of fields that match. */
const JsonScorer = z.strictObject({
  type: z.literal("json"),
  /** The name of the score. */
  name,
  fields: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "Expected values by path, such as `address.city` or `items.0.name`; without a schema, the fields of `expected` of the case by default.",
    ),
  schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("A JSON Schema that the answer must match; an answer that does not match it scores 0."),
});

/** How near the answer is to the expected text: 1 minus the edit distance divided by the longer length. */
const EditDistanceScorer = z.strictObject({
  type: z.literal("edit-distance"),
  /** The name of the score. */
  name,
  /** The expected value; that of the case by default. */
  expected,
  /** Whether upper and lower case are equal. */
  ignoreCase,
  /** Whether white space at both ends is ignored. */
  trim,
});

const ExpectedCall = z.strictObject({
  name: z.string().min(1).describe("The name of the tool."),
  arguments: z.record(z.string(), z.unknown()).optional().describe("The expected arguments; any if absent."),
});

/** The tool calls of the run: the fraction of expected calls that were made. */
const ToolCallsScorer = z.strictObject({
  type: z.literal("tool-calls"),
  /** The name of the score. */
  name,
  calls: z
    .array(ExpectedCall)
    .optional()
    .describe("The expected calls; `expected` of the case, a list of the same form, by default."),
  order: z
    .enum(["exact", "in-order", "any"])
    .default("in-order")
    .describe(
      "`exact`: these calls and no others, in this order: 1 or 0. `in-order`: in this order, with others between them. `any`: in any order.",
    ),
  arguments: z
    .enum(["equal", "subset", "ignore"])
    .default("subset")
    .describe("Whether a call's arguments must equal the expected ones, contain them, or are ignored."),
});

const ExpectedFile = z.strictObject({
  exists: z.boolean().optional().describe("Whether the file exists; with `false` it must not."),
  equals: z.string().optional().describe("The whole content, without white space at its end."),
  includes: z.string().optional().describe("A text that the file contains."),
  matches: pattern.optional().describe("A regular expression that the file matches."),
});

/** Files of the workspace: the fraction of files that are as expected. */
const FilesScorer = z.strictObject({
  type: z.literal("files"),
  /** The name of the score. */
  name,
  files: z
    .record(z.string().min(1), ExpectedFile)
    .refine((files) => Object.keys(files).length > 0, { error: "must name at least one file" })
    .describe("What is expected of files, by their path in the workspace."),
});

const template = z.string().max(MAX_TEXT_CHARS);

/** A command in the workspace, in the sandbox: 1 if it ends with the exit code, otherwise 0. */
const CommandScorer = z.strictObject({
  type: z.literal("command"),
  /** The name of the score. */
  name,
  command: z.string().min(1).max(MAX_TEXT_CHARS).describe("The command, for bash, in the workspace."),
  files: z
    .record(z.string().min(1), template)
    .default({})
    .describe(
      "Files that are written before the command runs, by path: `{{answer}}` is the answer, `{{code}}` its first block of code (or the whole answer), `{{expected}}` and `{{metadata.NAME}}` are those of the case.",
    ),
  exitCode: z.number().int().min(0).max(255).default(0).describe("The exit code of a success."),
  timeoutMs: z
    .number()
    .int()
    .positive()
    .max(3_600_000)
    .default(DEFAULT_COMMAND_TIMEOUT_MS)
    .describe("The time limit, in milliseconds; a command that takes longer scores 0."),
  memoryMb: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("The memory limit of the command, in MiB; none if absent."),
});

const limited = {
  /** The name of the score. */
  name,
  max: z.number().min(0).optional().describe("The largest value that passes; any if absent."),
};

/** The cost of the cell, in dollars. Lower is better. */
const CostScorer = z.strictObject({ type: z.literal("cost"), ...limited });
/** The turns of the cell. Lower is better. */
const TurnsScorer = z.strictObject({ type: z.literal("turns"), ...limited });
/** The time of the cell, in milliseconds. Lower is better. */
const TimeScorer = z.strictObject({ type: z.literal("time"), ...limited });

/** A function that the worker has registered. */
const CustomScorer = z.strictObject({
  type: z.literal("custom"),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must be 1 to 64 letters, digits, -, _ or .")
    .describe("The name under which the worker has registered it."),
  version: z
    .string()
    .max(64)
    .optional()
    .describe("The version of the function: another one scores finished cells again."),
  settings: z.record(z.string(), z.unknown()).default({}).describe("Passed to the function."),
});

const RubricPoint = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, "must be 1 to 40 letters, digits, - or _")
    .describe("The name of the point."),
  description: z.string().min(1).max(2000).describe("What the answer must do to get it."),
  points: z.number().positive().default(1).describe("What it is worth."),
});

/** The fields of a judge, without the agent that grades. */
export const JUDGE_FIELDS = {
  type: z.literal("judge"),
  /** The name of the score. */
  name,
  rubric: z.array(RubricPoint).min(1).max(32).describe("The points that an answer can get."),
  instructions: z
    .string()
    .max(MAX_TEXT_CHARS)
    .optional()
    .describe("What the judge is told beside the rubric."),
};

/** A model that grades the answer by a rubric: the fraction of the points. The judge is a stored definition. */
const JudgeScorer = z.strictObject({
  ...JUDGE_FIELDS,
  judge: z.string().min(1).describe("The hash of the judge's stored definition."),
});

/** The scorers that name no agent. */
export const PLAIN_SCORERS = [
  ExactScorer,
  IncludesScorer,
  RegexScorer,
  NumericScorer,
  JsonScorer,
  EditDistanceScorer,
  ToolCallsScorer,
  FilesScorer,
  CommandScorer,
  CostScorer,
  TurnsScorer,
  TimeScorer,
  CustomScorer,
] as const;

/** A scorer as it is stored with a run. */
export const Scorer = z.discriminatedUnion("type", [...PLAIN_SCORERS, JudgeScorer]);
export type Scorer = z.infer<typeof Scorer>;
export type ScorerOf<Type extends Scorer["type"]> = Extract<Scorer, { type: Type }>;

/** Scores of which a lower value is the better one. */
export const LOWER_IS_BETTER: ReadonlySet<Scorer["type"]> = new Set(["cost", "turns", "time"]);
