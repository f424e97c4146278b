import type { HoldfastErrorCode, Outcome } from "../../client/index.ts";

/** What a script reads from a command's end. */
export const EXIT = {
  ok: 0,
  /** The agent, or a check, failed. */
  failed: 1,
  /** Bad arguments, an unknown session, a definition that is not valid. */
  usage: 2,
  /** No server, no namespace, or no worker. */
  unreachable: 3,
  stopped: 4,
  limitReached: 5,
  /** Left with Ctrl-C while something was running. */
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
} as const satisfies Record<Outcome["type"], number>;

export const ERROR_EXIT_CODES = {
  unreachable: EXIT.unreachable,
  "server-refused": EXIT.unreachable,
  "namespace-unknown": EXIT.unreachable,
  "wait-cancelled": EXIT.interrupted,
  "no-worker": EXIT.unreachable,
  "configuration-invalid": EXIT.usage,
  "search-attributes-missing": EXIT.unreachable,
  "keys-differ": EXIT.unreachable,
  "key-missing": EXIT.usage,
  "definition-invalid": EXIT.usage,
  "definition-unaccepted": EXIT.usage,
  "workspace-invalid": EXIT.usage,
  "input-invalid": EXIT.usage,
  "input-too-large": EXIT.usage,
  "session-busy": EXIT.usage,
  "queue-full": EXIT.failed,
  "session-unknown": EXIT.usage,
  "session-locked": EXIT.failed,
  "approval-unknown": EXIT.usage,
  "update-refused": EXIT.usage,
  "session-ended": EXIT.failed,
  "run-terminated": EXIT.stopped,
  "run-timed-out": EXIT.failed,
  "run-broken": EXIT.failed,
  "output-invalid": EXIT.failed,
  "output-unreadable": EXIT.failed,
  "store-failed": EXIT.failed,
} as const satisfies Record<HoldfastErrorCode, number>;

/** For `--help`. */
export const EXIT_CODES_HELP = `
Exit codes:
  0    done
  1    the agent failed, or a check did
  2    bad arguments or input
  3    no server, namespace or worker can be reached
  4    the run was stopped, by a person or by a hook
  5    a limit was reached (turns, tokens, time, cost)
  130  left with Ctrl-C

Environment:
  TEMPORAL_*        address, namespace, profile and keys of the server, as for every Temporal client
  HOLDFAST_HOME     transcript, live output and the dev server's data; ~/.holdfast unless set
  HOLDFAST_DATABASE_URL
                    the PostgreSQL database that holds transcript and live output instead
  HOLDFAST_SHOW_WORDS=off
                    Temporal shows no words of the runs that are started here
  HOLDFAST_MODEL    the model where --model is not given
  HOLDFAST_DEBUG=1  stack traces of errors
  NO_COLOR, FORCE_COLOR`;
