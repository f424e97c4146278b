import type { ZodObject, ZodType } from "zod";
import type { ProblemCode } from "../problem.ts";

type Tag = "Sessions" | "Messages" | "Branches" | "Approvals" | "Evaluations" | "Chat" | "Codec" | "Server";

export type OperationAnswer = {
  readonly description: string;
  /** JSON of this schema. */
  readonly schema?: ZodType;
  /** A stream of server-sent events, in place of JSON. */
  readonly stream?: "session-events" | "evaluation-events" | "chat";
  readonly headers?: Readonly<Record<string, string>>;
};

/** What the OpenAPI document says about one route. */
export type Operation = {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With its parameters in braces. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  /** Needs no token. */
  readonly isPublic?: true;
  readonly query?: ZodObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ZodType;
  readonly answers: Readonly<Record<number, OperationAnswer>>;
  readonly problems: readonly ProblemCode[];
};

/** The path of a session. */
export const SESSION = "/v1/sessions/{id}";

/** The path of a run of a suite. */
export const EVALUATION = "/v1/evaluations/{id}";

export const json = (description: string, schema: ZodType): OperationAnswer => ({ description, schema });
