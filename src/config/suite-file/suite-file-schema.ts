import { z } from "zod";
import {
  CaseFork,
  CasePath,
  MAX_CONCURRENCY,
  MAX_CONFIGURATIONS,
  MAX_MESSAGES,
  MAX_NAME_CHARS,
  MAX_SCORERS,
} from "../../schema/suite.ts";
import { allowNone, describeKey, describeRequiredKey, integerFrom } from "../agent-file/define-field.ts";
import { Matrix } from "./matrix-axes.ts";
import { ScorerTable } from "./scorer-table.ts";

// The format of a suite file in TOML, YAML and JSON. The reference is generated from this schema.

const text = z.string().min(1);
const shortText = text.max(MAX_NAME_CHARS);

/** What a suite has where its file or its code states nothing. */
export const SUITE_DEFAULTS = {
  repetitions: 1,
  /** Enough to keep a vendor busy, and below the limits of most accounts. */
  concurrency: 20,
  /** A wrong key fails every cell: twenty of them show it. */
  stopAfterFailures: 20,
} as const;

/** Fields that a suite file and a suite in code have in common. */
export const SUITE_FIELDS = {
  name: shortText,
  tags: z.array(shortText).max(32),
  repetitions: integerFrom(1, 10_000),
  concurrency: integerFrom(1, MAX_CONCURRENCY),
  maxCostUsd: z.number().positive(),
  stopAfterFailures: integerFrom(1),
  keepWorkspaces: z.boolean(),
  versions: z.record(z.string(), shortText),
} as const;

/** A case as files and code state it. */
export const CaseTable = z.strictObject({
  id: describeKey(
    z.union([shortText, z.number().int()]),
    "Its id, unique within the suite; by default a hash of its input, its files and its fork.",
  ),
  input: describeKey(
    z.union([text, z.array(text).min(1).max(MAX_MESSAGES)]),
    "The user's message, or several of which each is sent when the previous one is answered. Required without `fork`.",
  ),
  files: describeKey(
    z.record(
      CasePath,
      z.union([
        z.string(),
        z.strictObject({
          from: describeRequiredKey(
            text,
            "The path of a file with the text, relative to the file of the cases.",
          ),
        }),
      ]),
    ),
    "Files that its workspace begins with, by path: a text, or `{ from = PATH }`.",
  ),
  fork: describeKey(CaseFork, "The recorded session with which it begins."),
  expected: describeKey(z.unknown(), "What the scorers compare with."),
  metadata: describeKey(z.record(z.string(), z.unknown()), "Facts for scorers and reports."),
  tags: describeKey(z.array(shortText), "Tags; reports have them as `metadata.tags`."),
});

/** A case as files and code state it, before its files are read. */
export type SuiteCaseTable = {
  /** Its id, unique within the suite. */
  readonly id?: string | number | undefined;
  /** The user's message, or several. */
  readonly input?: string | readonly string[] | undefined;
  /** Texts of files that its workspace begins with, by path. */
  readonly files?:
    | Readonly<
        Record<
          string,
          | string
          | {
              /** The path of a file with the text. */
              readonly from: string;
            }
        >
      >
    | undefined;
  /** The recorded session with which it begins. */
  readonly fork?: CaseFork | undefined;
  /** What the scorers compare with. */
  readonly expected?: unknown;
  /** Facts for scorers and reports. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tags; reports have them as `metadata.tags`. */
  readonly tags?: readonly string[] | undefined;
};

export const SuiteFile = z.strictObject({
  $schema: describeKey(z.string(), "The location of the JSON Schema of this format, for editors."),
  name: describeRequiredKey(SUITE_FIELDS.name, "The name of the suite."),
  tags: describeKey(SUITE_FIELDS.tags, "Tags, to find runs by.", []),
  agents: describeKey(
    z.array(text).min(1).max(MAX_CONFIGURATIONS),
    "The configurations: agent files, as `FILE` or `FILE#AGENT`, relative to this file. Each is one configuration, with the name of its file. A suite has either `agents` or [matrix].",
  ),
  repetitions: describeKey(
    SUITE_FIELDS.repetitions,
    "How often each case is repeated.",
    SUITE_DEFAULTS.repetitions,
  ),
  concurrency: describeKey(
    SUITE_FIELDS.concurrency,
    "The cells that are asked side by side.",
    SUITE_DEFAULTS.concurrency,
  ),
  max_cost: describeKey(
    allowNone(SUITE_FIELDS.maxCostUsd),
    "The budget of a run, in dollars; nothing begins when it is spent.",
    "none",
  ),
  stop_after_failures: describeKey(
    allowNone(SUITE_FIELDS.stopAfterFailures),
    "After this many failures of the same class nothing new begins.",
    SUITE_DEFAULTS.stopAfterFailures,
  ),
  keep_workspaces: describeKey(
    SUITE_FIELDS.keepWorkspaces,
    "Whether the workspaces of cells stay after they are scored.",
    false,
  ),
  versions: describeKey(
    SUITE_FIELDS.versions,
    "Versions of your own tools, tool servers, hooks and functions, by name. Runs share the cells of an agent only if each of those that it uses has a version here.",
  ),
  cases: describeRequiredKey(
    z.union([text, z.array(CaseTable).min(1)]),
    "The cases: a file with the extension .jsonl, .csv, .mjs, .js or .cjs, relative to this file, or [[cases]].",
  ),
  scorers: describeKey(z.array(ScorerTable).max(MAX_SCORERS), "How answers are scored.", []),
  matrix: describeKey(
    Matrix,
    "The configurations: every combination of these values, of which the last key varies fastest.",
  ),
});
