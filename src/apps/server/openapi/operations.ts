import type { ZodType } from "zod";
import { ChatRequest } from "../chat-request.ts";
import { AnswerBody, ApproveBody, DenyBody, MessageBody, PromptBody, SendBody } from "../request-schemas.ts";
import {
  AnsweredCall,
  ChatHistory,
  CodecPayloads,
  Health,
  OpenApiDocument,
  PendingCalls,
  QueuedMessage,
  SentMessage,
  SentPrompt,
} from "./answer-schemas.ts";
import { BRANCHES } from "./branch-operations.ts";
import { EVALUATIONS } from "./evaluation-operations.ts";
import { json, type Operation, SESSION } from "./operation.ts";
import { BODY_PROBLEMS, READ_PROBLEMS, RUN_PROBLEMS, START_PROBLEMS } from "./problem-schema.ts";
import { SESSIONS } from "./session-operations.ts";

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
  ...EVALUATIONS,
  ...CHATS,
  ...SERVER,
];
