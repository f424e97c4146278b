import type { ZodType } from "zod";
import { ChatRequest } from "../chat-request.ts";
import {
  AnswerBody,
  ApproveBody,
  DeleteQuery,
  DenyBody,
  EventsQuery,
  ListQuery,
  MessageBody,
  MessagesQuery,
  PromptBody,
  SendBody,
  StartBody,
  StopBody,
  TitleBody,
} from "../request-schemas.ts";
import {
  AnsweredCall,
  ChatHistory,
  CodecPayloads,
  DeletedSessions,
  Health,
  MessagePage,
  OpenApiDocument,
  PendingCalls,
  QueuedMessage,
  SentMessage,
  SentPrompt,
  SessionList,
  SessionStatus,
  StartedRun,
  StoppedRun,
  StoredTitle,
} from "./answer-schemas.ts";
import { BRANCHES } from "./branch-operations.ts";
import type { Operation, OperationAnswer } from "./operation.ts";
import {
  BODY_PROBLEMS,
  QUERY_PROBLEMS,
  READ_PROBLEMS,
  RUN_PROBLEMS,
  START_PROBLEMS,
} from "./problem-schema.ts";

const json = (description: string, schema: ZodType): OperationAnswer => ({ description, schema });

const SESSION = "/v1/sessions/{id}";

const SESSIONS: readonly Operation[] = [
  {
    id: "listSessions",
    method: "get",
    path: "/v1/sessions",
    tag: "Sessions",
    summary: "List sessions",
    query: ListQuery,
    answers: { 200: json("The sessions.", SessionList) },
    problems: [...QUERY_PROBLEMS, ...READ_PROBLEMS],
  },
  {
    id: "startSession",
    method: "post",
    path: "/v1/sessions",
    tag: "Sessions",
    summary: "Start a run in a new session, or the next run of an idle one",
    body: StartBody,
    answers: {
      201: { ...json("The run has started.", StartedRun), headers: { location: "The session's address." } },
    },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  },
  {
    id: "getSession",
    method: "get",
    path: SESSION,
    tag: "Sessions",
    summary: "Read a session's status; after its run, also how it ended and what it used",
    answers: { 200: json("The status.", SessionStatus) },
    problems: READ_PROBLEMS,
  },
  {
    id: "deleteSession",
    method: "delete",
    path: SESSION,
    tag: "Sessions",
    summary: "Delete a session and those of the agents below it",
    query: DeleteQuery,
    answers: { 200: json("What was deleted.", DeletedSessions) },
    problems: [...QUERY_PROBLEMS, ...RUN_PROBLEMS],
  },
  {
    id: "setTitle",
    method: "put",
    path: `${SESSION}/title`,
    tag: "Sessions",
    summary: "Give a session another title",
    body: TitleBody,
    answers: { 200: json("The title as it is stored.", StoredTitle) },
    problems: [...BODY_PROBLEMS, ...READ_PROBLEMS],
  },
  {
    id: "listMessages",
    method: "get",
    path: `${SESSION}/messages`,
    tag: "Messages",
    summary: "Read a part of the conversation",
    query: MessagesQuery,
    answers: { 200: json("The messages.", MessagePage) },
    problems: [...QUERY_PROBLEMS, ...READ_PROBLEMS],
  },
  {
    id: "streamEvents",
    method: "get",
    path: `${SESSION}/events`,
    tag: "Sessions",
    summary: "Follow a session: recorded events and live output, in one order, each once",
    query: EventsQuery,
    headers: { "Last-Event-ID": "The id of the last event that was received. Takes precedence over `from`." },
    answers: {
      200: { description: "The events until the run ends, and its result.", stream: "session-events" },
      204: { description: "Nothing is left: do not reconnect." },
    },
    problems: [...QUERY_PROBLEMS, "cursor-invalid", "too-many-streams", "server-closing", ...RUN_PROBLEMS],
  },
  {
    id: "stopSession",
    method: "post",
    path: `${SESSION}/stop`,
    tag: "Sessions",
    summary: "Stop the run: the request to the vendor, the tools, then the loop",
    body: StopBody,
    answers: { 202: json("The stop is requested.", StoppedRun) },
    problems: [...BODY_PROBLEMS, ...RUN_PROBLEMS],
  },
];

const queueOperation = (id: string, path: string, summary: string): Operation => ({
  id,
  method: "post",
  path: `${SESSION}/${path}`,
  tag: "Messages",
  summary,
  body: MessageBody,
  answers: { 202: json("The message is queued.", QueuedMessage) },
  problems: [...BODY_PROBLEMS, ...RUN_PROBLEMS],
});

const MESSAGES: readonly Operation[] = [
  {
    id: "promptSession",
    method: "post",
    path: `${SESSION}/prompt`,
    tag: "Messages",
    summary: "Send the next prompt: to the run that waits for one, or to a new run",
    body: PromptBody,
    answers: { 202: json("The prompt is accepted.", SentPrompt) },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  },
  {
    id: "sendMessage",
    method: "post",
    path: `${SESSION}/send`,
    tag: "Messages",
    summary: "Send one message, whatever the session's state",
    body: SendBody,
    answers: { 202: json("The message is delivered.", SentMessage) },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  },
  queueOperation("steerSession", "steer", "Queue a message that is delivered before the agent's next answer"),
  queueOperation(
    "followUp",
    "follow-up",
    "Queue a message that is delivered when the agent would otherwise stop",
  ),
];

const answerOperation = (id: string, path: string, summary: string, body: ZodType): Operation => ({
  id,
  method: "post",
  path: `${SESSION}/${path}`,
  tag: "Approvals",
  summary,
  body,
  answers: { 200: json("The run has accepted the answer.", AnsweredCall) },
  problems: [...BODY_PROBLEMS, ...RUN_PROBLEMS, "approval-unknown"],
});

const APPROVALS: readonly Operation[] = [
  {
    id: "listApprovals",
    method: "get",
    path: `${SESSION}/approvals`,
    tag: "Approvals",
    summary: "List the pending calls of the session and of all agents below it",
    answers: { 200: json("The pending calls.", PendingCalls) },
    problems: READ_PROBLEMS,
  },
  answerOperation("approveCall", "approve", "Approve a pending call", ApproveBody),
  answerOperation("denyCall", "deny", "Deny a pending call", DenyBody),
  answerOperation("answerCall", "answer", "Answer the question of a pending call's tool", AnswerBody),
];

const CHATS: readonly Operation[] = [
  {
    id: "sendChatMessage",
    method: "post",
    path: "/v1/chat",
    tag: "Chat",
    summary: "Send what `DefaultChatTransport` of the AI SDK sends, and stream the response",
    body: ChatRequest,
    answers: { 200: { description: "The AI SDK's UI message stream, version 1.", stream: "chat" } },
    problems: [
      ...BODY_PROBLEMS,
      ...START_PROBLEMS,
      ...(["chat-stale", "approval-unknown", "too-many-streams", "server-closing"] as const),
    ],
  },
  {
    id: "getChat",
    method: "get",
    path: "/v1/chat/{id}",
    tag: "Chat",
    summary: "Read the newest messages of a chat",
    answers: { 200: json("The messages.", ChatHistory) },
    problems: READ_PROBLEMS,
  },
  {
    id: "resumeChat",
    method: "get",
    path: "/v1/chat/{id}/stream",
    tag: "Chat",
    summary: "Resume the stream of an answer that is in progress",
    answers: {
      200: { description: "The AI SDK's UI message stream, version 1.", stream: "chat" },
      204: { description: "No answer is in progress." },
    },
    problems: [...READ_PROBLEMS, "too-many-streams", "server-closing"],
  },
];

const codecOperation = (id: string, path: string, summary: string, isPublic: boolean): Operation => ({
  id,
  method: "post",
  path,
  tag: "Codec",
  summary,
  ...(isPublic ? { isPublic: true as const } : {}),
  headers: { "X-Namespace": "The namespace of the payloads." },
  body: CodecPayloads,
  answers: { 200: json("The converted payloads.", CodecPayloads) },
  problems: [
    ...BODY_PROBLEMS,
    "codec-failed",
    "route-unknown",
    ...(isPublic ? ["token-invalid" as const] : []),
  ],
});

const SERVER: readonly Operation[] = [
  codecOperation("encodePayloads", "/codec/encode", "Encrypt payloads", false),
  codecOperation("decodePayloads", "/codec/decode", "Decrypt payloads", false),
  codecOperation(
    "encodePayloadsWithKey",
    "/codec/{key}/encode",
    "Encrypt payloads for the Temporal UI",
    true,
  ),
  codecOperation(
    "decodePayloadsWithKey",
    "/codec/{key}/decode",
    "Decrypt payloads for the Temporal UI",
    true,
  ),
  {
    id: "checkHealth",
    method: "get",
    path: "/healthz",
    tag: "Server",
    summary: "Tell whether the server runs",
    isPublic: true,
    answers: { 200: json("The server runs.", Health) },
    problems: [],
  },
  {
    id: "getOpenApi",
    method: "get",
    path: "/openapi.json",
    tag: "Server",
    summary: "Read this document",
    isPublic: true,
    answers: { 200: json("An OpenAPI 3.1 document.", OpenApiDocument) },
    problems: [],
  },
];

/** All operations of the server. */
export const OPERATIONS: readonly Operation[] = [
  ...SESSIONS,
  ...MESSAGES,
  ...BRANCHES,
  ...APPROVALS,
  ...CHATS,
  ...SERVER,
];
