import type { ErrorGuide } from "../../client/error-guide.ts";
import type { ServerProblemCode } from "./problem.ts";

/** What a user needs to know about the problems of `holdfast serve` itself. */
export const PROBLEM_GUIDE: Readonly<Record<ServerProblemCode, ErrorGuide>> = {
  "token-missing": {
    cause: "The request has no bearer token.",
    remedy: "Send `Authorization: Bearer TOKEN`, with the token that `holdfast serve` printed or received.",
  },
  "token-invalid": {
    cause:
      "The token is not this server's. Without `--token-env` or `--token-file`, each start creates a new one.",
    remedy: "Send the current token, or give the server a fixed one with `--token-file`.",
  },
  "host-not-allowed": {
    cause:
      "The request's `Host` is not a name of this server; it may come from a page that abuses a visitor's browser.",
    remedy: "Use the address that the server printed, or start it with `--allow-host NAME`.",
  },
  "origin-not-allowed": {
    cause: "A page of another origin sent the request.",
    remedy: "Start the server with `--allow-origin ORIGIN` if that page may use it.",
  },
  "route-unknown": {
    cause: "The server has no such address; `/codec/*` exists only with encryption keys.",
    remedy: "Read the addresses in `/openapi.json`.",
  },
  "method-not-allowed": {
    cause: "The address does not support this method.",
    remedy: "Use a method of `allow`.",
  },
  "body-too-large": {
    cause: "The request's body is larger than `maxBytes`.",
    remedy:
      "Put long texts into files of the workspace. A page of the AI SDK should send only its last message.",
  },
  "body-invalid": {
    cause: "The body is not JSON, or a field of it is wrong or missing.",
    remedy: "Correct each field that `detail` names.",
  },
  "query-invalid": {
    cause: "A parameter of the query is unknown, or has a value that it does not accept.",
    remedy: "Correct each parameter that `problems` lists.",
  },
  "cursor-invalid": {
    cause: "The event id or `from` is not one that this server sends.",
    remedy: "Send an event id that you received, or `from=loop`, `from=session` or `from=now`.",
  },
  "request-invalid": {
    cause: "The request is not proper HTTP, for example without a `Host`.",
    remedy: "Use an HTTP/1.1 client.",
  },
  "too-many-streams": {
    cause: "As many streams are open as `--max-streams` allows.",
    remedy: "Close streams that nobody reads, retry later, or raise `--max-streams`.",
  },
  "server-closing": {
    cause: "The server is shutting down.",
    remedy: "Retry when it runs again, with the last event id to miss nothing.",
  },
  "codec-failed": {
    cause:
      "The payloads belong to another namespace, are damaged, or are encrypted with a key that the server lacks.",
    remedy: "Start the server for that namespace with all keys that are still in use.",
  },
  "chat-stale": {
    cause: "The session continued elsewhere after the message that the page answered.",
    remedy: "Reload the messages with `GET /v1/chat/SESSION`.",
  },
  "internal-error": {
    cause: "An error in Holdfast. The server has logged it.",
    remedy: "Retry. If it persists, report it with the output of `holdfast serve`.",
  },
};
