import {
  decodeMessage,
  decodeUsage,
  encodeMessage,
  encodeUsage,
} from "../../conversation/message-file-format.ts";
import { asList, isObject, type JsonObject, parseJsonOrThrow } from "../../platform/text/json.ts";
import { check } from "../../schema/check.ts";
import { RecordedSession } from "../../schema/recorded-session.ts";
import { HoldfastError } from "../holdfast-error.ts";

// The sources' own file format of a session: pretty JSON with snake_case fields. Messages and compaction blocks retain their
// own spelling (PER-02 to PER-04, SES-16).

const toSnakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toCamelCase = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The values of these keys have their own spelling. */
const USER_KEYED_FIELDS: Readonly<Record<string, (value: unknown, direction: "to" | "from") => unknown>> = {
  messages: (value, way) => asList(value).map((one) => convertMessage(one, way)),
  inputMessages: (value, way) => asList(value).map((one) => convertMessage(one, way)),
  toolResults: (value, way) => asList(value).map((one) => convertMessage(one, way)),
  outputMessage: convertMessage,
  usage: convertUsage,
  evaluationUsage: convertUsage,
  compactionBlock: convertBlock,
  metadata: (value) => value,
  events: (value) => value,
  turnId: (value, way) => (way === "to" ? value : renameKeys(value, toCamelCase)),
};

/** Configuration keys that have other names in the sources. */
const CONFIG_NAMES: Readonly<Record<string, string>> = { thinking: "thinking_level" };

/** Writes a session as JSON, with the field names of the format's other readers. Throws if the session is invalid. */
export function sessionToJson(session: RecordedSession): string {
  const checked = check(RecordedSession, session, "session");
  if (!checked.ok) throw createSavedSessionError(checked.problems);
  return `${JSON.stringify(convertValue(checked.value, "to"), null, 2)}\n`;
}

/** Reads a file of Holdfast or of the sources. Fills in fields that older files omit. */
export function sessionFromJson(json: string): RecordedSession {
  const value = parseJsonOrThrow(json, (reason) => createSavedSessionError([`it is not JSON: ${reason}`]));
  if (!isObject(value)) throw createSavedSessionError(["it is not a JSON object"]);
  const checked = check(RecordedSession, fillDefaults(convertValue(value, "from") as JsonObject), "session");
  if (checked.ok) return checked.value;
  throw createSavedSessionError(checked.problems);
}

function createSavedSessionError(problems: readonly string[]): HoldfastError {
  return new HoldfastError("input-invalid", `This is not a saved session: ${problems.join("; ")}`, {
    problems,
  });
}

function convertValue(value: unknown, direction: "to" | "from", parent = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => convertValue(item, direction, parent));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => {
      // Writes an unknown cost explicitly: it differs from no cost.
      if (of === undefined || (of === null && toCamelCase(key) !== "costUsd")) return [];
      const name =
        parent === "config" && toCamelCase(key) === "thinkingLevel" ? "thinking" : toCamelCase(key);
      const own = USER_KEYED_FIELDS[name];
      const converted = own === undefined ? convertValue(of, direction, name) : own(of, direction);
      const spelling = parent === "config" ? (CONFIG_NAMES[name] ?? toSnakeCase(name)) : toSnakeCase(name);
      return [[direction === "to" ? spelling : name, converted]];
    }),
  );
}

function convertMessage(value: unknown, direction: "to" | "from"): unknown {
  return direction === "to" ? encodeMessage(value as object) : decodeMessage(value);
}

function convertUsage(value: unknown, direction: "to" | "from"): unknown {
  return direction === "to" ? encodeUsage(value as object) : decodeUsage(value);
}

/** Converts a compaction block. Its keys are camelCase, except those around its two sections. */
function convertBlock(value: unknown, direction: "to" | "from"): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => {
      const name = toCamelCase(key);
      const section = isObject(of)
        ? Object.fromEntries(
            Object.entries(of).map(([inner, deep]) =>
              inner === "messages"
                ? [inner, asList(deep).map((one) => convertMessage(one, direction))]
                : [toCamelCase(inner), renameKeys(deep, toCamelCase)],
            ),
          )
        : of;
      return [direction === "from" || name === "createdAt" ? name : toSnakeCase(name), section];
    }),
  );
}

function renameKeys(value: unknown, spelling: (key: string) => string): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [spelling(key), of]));
}

/** Fills in the fields that files of older programs omit. */
function fillDefaults(session: JsonObject): JsonObject {
  const loops = asList(session["loops"]).filter(isObject);
  const createdAt = session["createdAt"] ?? loops[0]?.["startedAt"];
  return {
    scope: "ephemeral",
    ...session,
    createdAt,
    lastActiveAt: session["lastActiveAt"] ?? createdAt,
    formation: convertTag(session["formation"]) ?? { type: "first_loop", timestamp: createdAt },
    loops: loops.map((loop) => ({
      sessionId: session["sessionId"],
      agentId: session["agentId"],
      messages: [],
      turns: [],
      events: [],
      childrenLoopIds: [],
      childLoopRefs: [],
      usage: decodeUsage(undefined),
      ...loop,
      status: typeof loop["status"] === "string" ? loop["status"].toLowerCase() : "completed",
      // Old records may have no kind, or null.
      continuationKind: convertTag(loop["continuationKind"]) ?? { type: "initial" },
    })),
  };
}

/** Converts `{"FirstLoop": {…}}` and `"Initial"` to `{"type": "first_loop", …}` and `{"type": "initial"}`. */
function convertTag(value: unknown): unknown {
  const toLowerSnake = (name: string) => toSnakeCase(name.charAt(0).toLowerCase() + name.slice(1));
  if (typeof value === "string") return { type: toLowerSnake(value) };
  if (!isObject(value)) return undefined;
  if ("type" in value) return { ...value, type: toLowerSnake(String(value["type"])) };
  const [first] = Object.entries(value);
  return first === undefined
    ? undefined
    : {
        type: toLowerSnake(first[0]),
        ...(isObject(first[1]) ? (renameKeys(first[1], toCamelCase) as JsonObject) : {}),
      };
}
