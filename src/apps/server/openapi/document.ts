import { type ZodType, z } from "zod";
import { AgentEvent } from "../../../schema/agent-event.ts";
import { AgentMessage, Content, Usage } from "../../../schema/message.ts";
import { Entry, Outcome } from "../../../schema/record.ts";
import { SentSessionEvent } from "../../../schema/session-event.ts";
import * as answers from "./answer-schemas.ts";
import * as evaluations from "./evaluation-schemas.ts";
import { EVALUATION, type Operation, type OperationAnswer } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { groupProblems, Problem } from "./problem-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** The answers' schemas that have a name in the document; all others are part of the place that uses them. */
const COMPONENTS: Readonly<Record<string, ZodType>> = {
  AgentEvent,
  AgentMessage,
  Content,
  Entry,
  Outcome,
  Problem,
  SessionEvent: SentSessionEvent,
  Usage,
  ...answers,
  ...evaluations,
};

const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

const STREAMS = {
  "session-events": {
    schema: {
      type: "string",
      description:
        "Server-sent events, whose data is JSON. Events without a name are a `SessionEvent`; their `id` is its cursor. " +
        "The last event of a run has the name `result`, and `StreamResult` as data. An event with the name `problem` says " +
        "why the stream cannot continue for now, and has a `Problem` as data. Comments keep the connection open.",
    },
    "x-events": {
      message: refer("SessionEvent"),
      result: refer("StreamResult"),
      problem: refer("Problem"),
    },
  },
  "evaluation-events": {
    schema: {
      type: "string",
      description:
        "Server-sent events, whose data is JSON. Events without a name are `EvaluationProgress`: the present state, then each " +
        "change, at most one a second. The last event of a run that has ended has the name `result`, and the same data. An " +
        "event with the name `problem` says why the stream cannot continue for now, and has a `Problem` as data. Comments " +
        "keep the connection open.",
    },
    "x-events": {
      message: refer("EvaluationProgress"),
      result: refer("EvaluationProgress"),
      problem: refer("Problem"),
    },
  },
  chat: {
    schema: {
      type: "string",
      description:
        "Server-sent events, whose data is a chunk of the AI SDK's UI message stream as JSON, or `[DONE]`.",
    },
  },
} as const;

const DESCRIPTION =
  "Durable AI agents over HTTP. Every operation with a lock needs the token that `holdfast serve` printed or was given. " +
  "Clients must accept fields that this document does not name.";

/**
 * Builds the OpenAPI document of this server from the schemas that validate its requests.
 *
 * @param version - The version of Holdfast.
 */
export function buildOpenApi(version: string): Json {
  return {
    openapi: "3.1.1",
    info: {
      title: "Holdfast",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ token: [] }],
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: buildPaths(),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: buildComponents(),
    },
  };
}

function buildPaths(): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: buildOperation(operation) };
  }
  return paths;
}

function buildOperation(operation: Operation): Json {
  const { id, tag, summary, body, isPublic = false } = operation;
  const parameters = buildParameters(operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isPublic ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: buildRequestBody(body) }),
    responses: buildResponses(operation),
  };
}

function buildParameters({ path, query, headers = {} }: Operation): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: describePathParameter(path, name),
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = toInputSchema(schema);
    return { name, in: "query", ...(description === undefined ? {} : { description }), schema: rest };
  });
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function describePathParameter(path: string, name: string): string {
  if (name === "key") return "The key in the address that the server printed.";
  return path.startsWith(EVALUATION) ? "The id of the run." : "The session's id.";
}

function buildRequestBody(schema: ZodType): Json {
  return {
    // The server reads an empty body as an empty object.
    required: !schema.safeParse({}).success,
    content: { "application/json": { schema: toInputSchema(schema) } },
  };
}

function buildResponses({ answers: ownAnswers, problems, isPublic }: Operation): Json {
  const responses: Record<string, unknown> = {};
  for (const [status, answer] of Object.entries(ownAnswers)) responses[status] = buildResponse(answer);
  for (const [status, codes] of groupProblems(problems, isPublic === true)) {
    responses[status] = {
      description: `The request failed: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
      content: { "application/problem+json": { schema: refer("Problem") } },
    };
  }
  return responses;
}

function buildResponse({ description, schema, stream, headers }: OperationAnswer): Json {
  const content =
    stream === undefined
      ? schema && { "application/json": { schema: toOutputSchema(schema) } }
      : { "text/event-stream": STREAMS[stream] };
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return {
    description,
    ...(described.length === 0 ? {} : { headers: Object.fromEntries(described) }),
    ...(content === undefined ? {} : { content }),
  };
}

function buildComponents(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of NAMES) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => allowFurtherFields(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

/** Answers may have fields that their schema does not name. */
function allowFurtherFields(jsonSchema: { additionalProperties?: unknown }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function toOutputSchema(schema: ZodType): Json {
  const name = NAMES.get(schema);
  if (name === undefined) throw new Error("An answer of the OpenAPI document has a schema without a name");
  return refer(name);
}

function toInputSchema(schema: ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

function refer(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
