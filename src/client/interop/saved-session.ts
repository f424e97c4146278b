import {
  messageFromFile,
  messageToFile,
  usageFromFile,
  usageToFile,
} from "../../conversation/saved-messages.ts";
import { check } from "../../schema/check.ts";
import { RecordedSession } from "../../schema/recorded-session.ts";
import { HoldfastError } from "../error.ts";

// The sources' own file of a session: pretty JSON with snake_case fields; messages and compaction blocks keep their own
// spelling (PER-02 to PER-04, SES-16).

type Fields = Readonly<Record<string, unknown>>;

const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What stands below these keys has a spelling of its own. */
const OWN: Readonly<Record<string, (value: unknown, direction: "to" | "from") => unknown>> = {
  messages: (value, way) => list(value).map((one) => message(one, way)),
  inputMessages: (value, way) => list(value).map((one) => message(one, way)),
  toolResults: (value, way) => list(value).map((one) => message(one, way)),
  outputMessage: message,
  usage,
  evaluationUsage: usage,
  compactionBlock: block,
  metadata: (value) => value,
  events: (value) => value,
  turnId: (value, way) => (way === "to" ? value : named(value, camel)),
};

/** Keys of the configuration that the sources call otherwise. */
const CONFIG_TO: Readonly<Record<string, string>> = { thinking: "thinking_level" };

export function sessionToJson(session: RecordedSession): string {
  const checked = check(RecordedSession, session, "session");
  if (!checked.ok) throw invalid(checked.problems);
  return `${JSON.stringify(converted(checked.value, "to"), null, 2)}\n`;
}

/** Reads a file of ours or of the sources'; what older ones leave out is filled in. */
export function sessionFromJson(json: string): RecordedSession {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalid([`it is not JSON: ${(error as Error).message}`]);
  }
  if (!isFields(value)) throw invalid(["it is not a JSON object"]);
  const checked = check(RecordedSession, filled(converted(value, "from") as Fields), "session");
  if (checked.ok) return checked.value;
  throw invalid(checked.problems);
}

function invalid(problems: readonly string[]): HoldfastError {
  return new HoldfastError("input-invalid", `This is not a saved session: ${problems.join("; ")}`, {
    problems,
  });
}

function converted(value: unknown, way: "to" | "from", parent = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => converted(item, way, parent));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => {
      // An unknown cost is said: it is not the same as none.
      if (of === undefined || (of === null && camel(key) !== "costUsd")) return [];
      const name = parent === "config" && camel(key) === "thinkingLevel" ? "thinking" : camel(key);
      const own = OWN[name];
      const said = own === undefined ? converted(of, way, name) : own(of, way);
      const spelt = parent === "config" ? (CONFIG_TO[name] ?? snake(name)) : snake(name);
      return [[way === "to" ? spelt : name, said]];
    }),
  );
}

function message(value: unknown, way: "to" | "from"): unknown {
  return way === "to" ? messageToFile(value as object) : messageFromFile(value);
}

function usage(value: unknown, way: "to" | "from"): unknown {
  return way === "to" ? usageToFile(value as object) : usageFromFile(value);
}

/** Its keys are camelCase, but for those around its two sections. */
function block(value: unknown, way: "to" | "from"): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => {
      const name = camel(key);
      const said = isFields(of)
        ? Object.fromEntries(
            Object.entries(of).map(([inner, deep]) =>
              inner === "messages"
                ? [inner, list(deep).map((one) => message(one, way))]
                : [camel(inner), named(deep, camel)],
            ),
          )
        : of;
      return [way === "from" || name === "createdAt" ? name : snake(name), said];
    }),
  );
}

function named(value: unknown, spelling: (key: string) => string): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [spelling(key), of]));
}

/** What a file that an older program has written does not say. */
function filled(session: Fields): Fields {
  const loops = list(session["loops"]).filter(isFields);
  const createdAt = session["createdAt"] ?? loops[0]?.["startedAt"];
  return {
    scope: "ephemeral",
    ...session,
    createdAt,
    lastActiveAt: session["lastActiveAt"] ?? createdAt,
    formation: tagged(session["formation"]) ?? { type: "first_loop", timestamp: createdAt },
    loops: loops.map((loop) => ({
      sessionId: session["sessionId"],
      agentId: session["agentId"],
      messages: [],
      turns: [],
      events: [],
      childrenLoopIds: [],
      childLoopRefs: [],
      usage: usageFromFile(undefined),
      ...loop,
      status: typeof loop["status"] === "string" ? loop["status"].toLowerCase() : "completed",
      // Old records may say nothing, or null.
      continuationKind: tagged(loop["continuationKind"]) ?? { type: "initial" },
    })),
  };
}

/** `{"FirstLoop": {…}}` and `"Initial"` are `{"type": "first_loop", …}` and `{"type": "initial"}`. */
function tagged(value: unknown): unknown {
  const lower = (name: string) => snake(name.charAt(0).toLowerCase() + name.slice(1));
  if (typeof value === "string") return { type: lower(value) };
  if (!isFields(value)) return undefined;
  if ("type" in value) return { ...value, type: lower(String(value["type"])) };
  const [first] = Object.entries(value);
  return first === undefined
    ? undefined
    : { type: lower(first[0]), ...(isFields(first[1]) ? (named(first[1], camel) as Fields) : {}) };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
