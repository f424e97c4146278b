import type { HoldfastErrorCode, Outcome } from "../../client/index.ts";

/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  /** The agent or a check failed. */
  failed: 1,
  /** Bad arguments, an unknown session or an invalid definition. */
  usage: 2,
  /** No server, no namespace, or no worker. */
  unreachable: 3,
  stopped: 4,
  limitReached: 5,
  /** The agent has paused, or has handed the task over to a person. */
  awaitsPerson: 6,
  /** A score of a suite is below `--fail-under`, or worse than in the run of `--fail-if-worse-than`. */
  thresholdMissed: 7,
  /** The user left with Ctrl-C while something was running. */
  interrupted: 130,
} as const;

export const OUTCOME_EXIT_CODES = {
  answered: EXIT.ok,
  delivered: EXIT.ok,
  "limit-reached": EXIT.limitReached,
  stopped: EXIT.stopped,
  failed: EXIT.failed,
  rejected: EXIT.failed,
  ended: EXIT.stopped,
  paused: EXIT.awaitsPerson,
  handoff: EXIT.awaitsPerson,
} as const satisfies Record<Outcome["type"], number>;

export const ERROR_EXIT_CODES = {
  unreachable: EXIT.unreachable,
  "server-refused": EXIT.unreachable,
  "namespace-unknown": EXIT.unreachable,
  "wait-cancelled": EXIT.interrupted,
  "no-worker": EXIT.unreachable,
  "configuration-invalid": EXIT.usage,
  "search-attributes-missing": EXIT.unreachable,
  "key-mismatch": EXIT.unreachable,
  "key-missing": EXIT.usage,
  "definition-invalid": EXIT.usage,
  "definition-unaccepted": EXIT.usage,
  "workspace-invalid": EXIT.usage,
  "input-invalid": EXIT.usage,
  "input-too-large": EXIT.usage,
  "input-unsupported": EXIT.usage,
  "session-busy": EXIT.usage,
  "queue-full": EXIT.failed,
  "session-unknown": EXIT.usage,
  "session-locked": EXIT.failed,
  "approval-unknown": EXIT.usage,
  "update-rejected": EXIT.usage,
  "session-ended": EXIT.failed,
  "run-terminated": EXIT.stopped,
  "run-timed-out": EXIT.failed,
  "run-failed": EXIT.failed,
  "output-invalid": EXIT.failed,
  "output-unreadable": EXIT.failed,
  "store-failed": EXIT.failed,
} as const satisfies Record<HoldfastErrorCode, number>;

/** What each exit code means, and what a script does about it. */
export const EXIT_GUIDE: readonly {
  readonly code: number;
  readonly meaning: string;
  /** In Markdown. */
  readonly remedy: string;
}[] = [
  { code: EXIT.ok, meaning: "success", remedy: "Nothing." },
  {
    code: EXIT.failed,
    meaning: "the agent or a check failed",
    remedy:
      "Read standard error, or `code` with `--json`. `holdfast continue SESSION` resumes a failed session.",
  },
  {
    code: EXIT.usage,
    meaning: "bad arguments or input",
    remedy: "Correct what the message names; `--help` has examples. A retry without a change fails again.",
  },
  {
    code: EXIT.unreachable,
    meaning: "no server, namespace or worker is reachable",
    remedy: "Run `holdfast doctor`, then retry. Running agents are not lost.",
  },
  {
    code: EXIT.stopped,
    meaning: "the run was stopped by a user or by a hook",
    remedy: "`holdfast continue SESSION` resumes it.",
  },
  {
    code: EXIT.limitReached,
    meaning: "a limit was reached (turns, tokens, time, cost)",
    remedy: "`holdfast continue SESSION` with a higher limit, for example `--max-turns 50`.",
  },
  {
    code: EXIT.awaitsPerson,
    meaning: "the agent has paused, or has handed the task over to a person",
    remedy: "Read its last answer, then prompt the session.",
  },
  {
    code: EXIT.thresholdMissed,
    meaning: "a score of a suite misses a threshold, or is worse than in an earlier run",
    remedy:
      "Read the lines on standard error; `holdfast eval show RUN` and `holdfast eval compare A B` show the cells.",
  },
  {
    code: EXIT.interrupted,
    meaning: "interrupted with Ctrl-C",
    remedy: "The run continues unless the command said that it stopped it: `holdfast attach SESSION`.",
  },
];

/** The text about exit codes and variables in `--help`. */
export const EXIT_CODES_HELP = `
Exit codes:
${EXIT_GUIDE.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`).join("\n")}

Environment:
  TEMPORAL_*        address, namespace, profile and keys of the server, as for every Temporal client
  HOLDFAST_HOME     the folder of the transcript, live output and the dev server's data (default: ~/.holdfast)
  HOLDFAST_DATABASE_URL
                    a PostgreSQL database that stores the transcript and live output instead
  HOLDFAST_REDACT_CONTENT=on
                    hide message texts in Temporal for runs that start here
  HOLDFAST_MODEL    the model if --model is not given
  HOLDFAST_DEBUG=1  print stack traces of errors, and Node's warnings
  NO_COLOR, FORCE_COLOR`;
