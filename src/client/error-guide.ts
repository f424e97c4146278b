import type { HoldfastErrorCode } from "./holdfast-error.ts";

/** What a user needs to know about an error code. `npm run errors` writes docs/errors.md from it. */
export type ErrorGuide = {
  /** When this error occurs, in Markdown. */
  readonly cause: string;
  /** What resolves it, in Markdown. */
  readonly remedy: string;
};

export const ERROR_GUIDE: Readonly<Record<HoldfastErrorCode, ErrorGuide>> = {
  unreachable: {
    cause: "No Temporal server answers at the address, or it stopped answering. Running agents are not lost.",
    remedy:
      "Start a server with `holdfast dev`, or correct the address (`--address`, `TEMPORAL_ADDRESS`). `holdfast doctor` names " +
      "the address that it tried. Agents continue when the server is back.",
  },
  "server-refused": {
    cause:
      "The Temporal server rejects the connection or the request: a wrong API key or certificate, a missing permission, or " +
      "a request that this server does not support.",
    remedy:
      "Read the server's own words at the end of the message. Check `TEMPORAL_API_KEY` and the `TEMPORAL_TLS_*` variables. " +
      "If the server does not list search attributes, connect with `searchAttributes: false`.",
  },
  "namespace-unknown": {
    cause: "The server has no namespace with this name; `facts.namespaces` lists those that it has.",
    remedy: "Specify one of them (`--namespace`, `TEMPORAL_NAMESPACE`), or create it with `facts.command`.",
  },
  "configuration-invalid": {
    cause:
      "A Temporal profile, a `TEMPORAL_*` variable, a `HOLDFAST_*` variable or an option of `connect()` has a value that " +
      "cannot be used, or two of them contradict each other.",
    remedy: "Correct the variable or the option that the message names.",
  },
  "search-attributes-missing": {
    cause:
      "The namespace lacks Holdfast's search attributes, or has them with other types, which would block every run.",
    remedy:
      "Run `holdfast doctor --fix`, or the command in `facts.command`. Without the right to register them, connect with " +
      "`searchAttributes: false`.",
  },
  "definition-invalid": {
    cause:
      "The agent's definition, mode or output schema is not valid; `facts.problems` lists every problem.",
    remedy:
      "Correct each listed field. `holdfast config check FILE` reports the problems of an agent file with line and column.",
  },
  "definition-unaccepted": {
    cause:
      "The session was imported, and nobody has accepted its agent on this machine. `facts.problems` says what it uses.",
    remedy:
      "Read what the agent may do. Then accept it with the command in `facts.command`, or specify your own definition.",
  },
  "workspace-invalid": {
    cause: "The workspace is not an existing folder, or its state at a position cannot be restored.",
    remedy: "Specify the absolute path of an existing folder that the worker can also open.",
  },
  "input-invalid": {
    cause: "An argument has a value that its option does not accept, or the session rejects it.",
    remedy: "Correct the argument that the message names.",
  },
  "input-too-large": {
    cause: "A message, an answer or metadata is larger than `facts.maxBytes`.",
    remedy:
      "Put the text into a file of the workspace, and refer to the file. Store large metadata yourself, and send its id.",
  },
  "input-unsupported": {
    cause:
      "The model, or one of its fallbacks, does not read a part of the message: an image, a PDF document, or a file of another type.",
    remedy:
      "Send the part as a text, or choose a model that reads it (`holdfast models` lists what each one reads). If the catalogue is " +
      "wrong about a model, set `input` in its configuration.",
  },
  "session-busy": {
    cause: "The session has a run, and the operation needs an idle session.",
    remedy:
      "Send the message with `session.steer` or `session.followUp`, or wait for `session.result()`. `session.send` works " +
      "in any state.",
  },
  "queue-full": {
    cause: "As many messages wait for the agent as may wait: `facts.waiting` of `facts.maxWaiting`.",
    remedy:
      "Retry after the agent has read some of them, or empty the queues with `session.queues.clear()`. If no run is " +
      "open, start one with `holdfast continue SESSION`: it reads them.",
  },
  "session-unknown": {
    cause: "The namespace and the transcript have no session or job with this id.",
    remedy:
      "List the sessions with `holdfast list`. Check that this process uses the same namespace, and the same home folder or " +
      "database, as the one that created the session.",
  },
  "session-locked": {
    cause: "Another process is saving the same session into the same folder.",
    remedy: "Retry. If one session has several writers by design, give each of them a folder of its own.",
  },
  "approval-unknown": {
    cause:
      "No call of the session waits for an answer, or not the named one: it may be answered elsewhere, or its time is up.",
    remedy:
      "List the pending calls with `holdfast status SESSION` or `session.approvals.list()`, and answer one of them.",
  },
  "update-rejected": {
    cause:
      "The new definition cannot replace the current one during the session; `facts.problems` lists the reasons.",
    remedy: "Change what the reasons name, or start a session with the new definition.",
  },
  "session-ended": {
    cause: "The run ended before it accepted the message, or the session has no run.",
    remedy:
      "Send a new prompt with `session.prompt` or `holdfast continue SESSION`. `session.send` chooses this by itself.",
  },
  "wait-cancelled": {
    cause: "The caller's own `signal` ended the wait. The run continues.",
    remedy: "Wait again with `session.result()`, in this process or in another one.",
  },
  "no-worker": {
    cause: "No worker took the request in time, or the worker that a command started does not start.",
    remedy:
      "Start one with `holdfast worker` for the same namespace and task queue. `holdfast doctor` says whether the queue has " +
      "workers; a worker's own reason is in its log.",
  },
  "run-terminated": {
    cause: "Somebody terminated the run in Temporal, so that it has no result.",
    remedy: "Prompt the session to continue: everything that the run had completed is in the transcript.",
  },
  "run-timed-out": {
    cause: "The run exceeded a workflow timeout that was set outside Holdfast, for example by the namespace.",
    remedy:
      "Remove that timeout. To bound an agent's time, set `limits.maxDurationMs`: the session then ends in good order.",
  },
  "run-failed": {
    cause: "The run failed. `facts.outcome` has the fault if the agent itself ended with it.",
    remedy:
      "Read the fault in the message. Resolve it (a vendor's key, the quota, the model's name), then continue with the " +
      "command in `facts.command` or `holdfast continue SESSION`.",
  },
  "output-invalid": {
    cause:
      "The output matches the schema that the session is pinned to, but not the zod schema of this client.",
    remedy:
      "Read it with the schema of the program that started the session, or start a session with the new schema.",
  },
  "output-unreadable": {
    cause:
      "The output is too long for a workflow's result, and the transcript of this machine does not contain it.",
    remedy:
      "Read it where the worker's transcript is, or let both use one PostgreSQL database (`HOLDFAST_DATABASE_URL`).",
  },
  "key-mismatch": {
    cause: "The workers of the task queue encrypt with other keys than this process. Nothing was sent.",
    remedy:
      "Set the same keys for both in `HOLDFAST_ENCRYPTION_KEYS`; keys with the same name must have the same bytes.",
  },
  "key-missing": {
    cause: "A stored value is encrypted with a key that this process does not have, or has with other bytes.",
    remedy: "Add the named key to `HOLDFAST_ENCRYPTION_KEYS`, after the key that encrypts new values.",
  },
  "store-failed": {
    cause:
      "The transcript cannot be read or written: a full disk, a damaged file, a missing permission, or a lost database.",
    remedy:
      "Resolve what the message names, and retry. `holdfast doctor` checks the store; `holdfast restore` reads a backup.",
  },
};
