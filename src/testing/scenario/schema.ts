import { z } from "zod";
import { AgentDefinition } from "../../schema/definition.ts";
import { ReplayClass } from "../../schema/tool.ts";
import { ReplyUsage } from "../model-server/reply.ts";
import { definitionInput } from "./definition.ts";
import { impossibilities } from "./impossible.ts";
import { ScenarioError } from "./scenario-error.ts";

// The form of a scenario: what a model says, what tools give, what arrives when. Explained in docs/scenarios.md.

const milliseconds = z.number().int().nonnegative();
const index = z.number().int().nonnegative();

/** `?` behind a type: the argument may be left out. */
export const ParameterType = z.enum(["string", "number", "boolean", "string?", "number?", "boolean?"]);

/** What becomes of one call of a tool: one of `gives`, `fails`, `throws`, `hangs`. */
export const Deed = z
  .strictObject({
    /** The result's text. */
    gives: z.string().optional(),
    /** The tool says that it failed, in these words. */
    fails: z.string().optional(),
    /** The tool's code throws an error with this message. */
    throws: z.string().optional(),
    /** It never ends by itself: its time-out or a stop ends it. */
    hangs: z.literal(true).optional(),
    /** How long it takes, by the run's clock. */
    takesMs: milliseconds.optional(),
    /** Ends behind this call of the same unit, by id; calls end in call order otherwise, quick ones first. */
    after: z.string().optional(),
  })
  .superRefine((deed, context) => exactlyOne(deed, ["gives", "fails", "throws", "hangs"], context));
export type Deed = z.infer<typeof Deed>;

export const ScenarioTool = z.strictObject({
  /** What the model calls it. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Its arguments by name; calls that do not fit are answered as the real stack answers them. */
  parameters: z.record(z.string(), ParameterType).default({}),
  replay: ReplayClass.default("unsafe"),
  /** Runs as a local activity; only for a `pure` tool. Nothing can arrive while it runs. */
  quick: z.boolean().default(false),
  timeoutMs: milliseconds.optional(),
  /** One for each call of this tool, in call order; the last one counts for all further calls. */
  does: z
    .array(Deed)
    .min(1)
    .default([{ gives: "ok" }]),
});
export type ScenarioTool = z.infer<typeof ScenarioTool>;

export const ScenarioToolCall = z.strictObject({
  /** `call_{reply}_{index}` when absent. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  name: z.string(),
  /** A string is sent as it stands, JSON or not. */
  arguments: z.unknown().optional(),
});

/** What one request to the vendor gets: an answer, or one of `error`, `cut`, `breaksOff`. */
export const ScenarioReply = z
  .strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    toolCalls: z.array(ScenarioToolCall).optional(),
    /** By default what the content says. `guardRail`: the vendor refuses. */
    stopReason: z.enum(["stop", "length", "toolUse", "guardRail"]).optional(),
    /** Tokens; 10 in and 5 out where not said. */
    usage: ReplyUsage.optional(),
    /** Until the first byte, by the run's clock. */
    takesMs: milliseconds.optional(),
    /** An HTTP error instead of an answer. */
    error: z
      .strictObject({
        status: z.number().int().min(400).max(599),
        /** The vendor's own words for the status when absent. */
        body: z.string().optional(),
        /** The delay that the vendor asks for. */
        retryAfterMs: milliseconds.optional(),
      })
      .optional(),
    /** The stream ends in the middle. */
    cut: z.literal(true).optional(),
    /** The vendor's error event in the middle of the stream. */
    breaksOff: z.strictObject({ type: z.string(), message: z.string() }).optional(),
  })
  .superRefine((reply, context) => {
    const ways = (["error", "cut", "breaksOff"] as const).filter((way) => reply[way] !== undefined);
    if (ways.length > 1) context.addIssue({ code: "custom", message: `only one of ${ways.join(", ")}` });
    const says = reply.text !== undefined || reply.toolCalls !== undefined || reply.thinking !== undefined;
    if (reply.error !== undefined && says) {
      context.addIssue({ code: "custom", path: ["error"], message: "an HTTP error has no answer beside it" });
    }
  });
export type ScenarioReply = z.infer<typeof ScenarioReply>;

/** A moment: one of `during`, `after`, `with`. `nth` counts from 0 over the whole scenario. */
export const When = z
  .strictObject({
    /**
     * `open`: before a loop is open. `model`: while a request is with the vendor. `backoff`: between two attempts.
     * `tool`: while the call runs. `close`: while the loop is being closed. `wait`: an interactive run waits.
     */
    during: z.enum(["open", "model", "backoff", "tool", "close", "wait"]).optional(),
    /** The tool's name or the call's id; `nth` counts the calls that it names. */
    call: z.string().optional(),
    /** The run is over. */
    after: z.literal("end").optional(),
    /** Together with the first run's start. */
    with: z.literal("start").optional(),
    nth: index.default(0),
  })
  .superRefine((when, context) => {
    exactlyOne(when, ["during", "after", "with"], context);
    if ((when.during === "tool") !== (when.call !== undefined)) {
      context.addIssue({
        code: "custom",
        path: ["call"],
        message: 'goes with "during": "tool", and only there',
      });
    }
  });
export type When = z.infer<typeof When>;

const queue = z.enum(["steering", "follow-up"]);
const words = { text: z.string().min(1), id: z.string().min(1).optional() };

/** Something that people do, and when. Those of one moment come in the order of the list. */
export const Arrival = z.discriminatedUnion("do", [
  z.strictObject({ when: When, do: z.literal("steer"), ...words }),
  z.strictObject({ when: When, do: z.literal("followUp"), ...words }),
  /** Refused unless the run waits. */
  z.strictObject({ when: When, do: z.literal("prompt"), ...words }),
  z.strictObject({ when: When, do: z.literal("stop"), reason: z.string().optional() }),
  /** Temporal's own cancellation. */
  z.strictObject({ when: When, do: z.literal("cancel") }),
  z.strictObject({
    when: When,
    do: z.literal("queueMode"),
    queue,
    mode: z.enum(["one-at-a-time", "all"]),
  }),
  z.strictObject({
    when: When,
    do: z.literal("clearQueues"),
    queue: z.enum(["steering", "follow-up", "all"]),
  }),
  /** Another run of the same session, after the end of the one before. */
  z.strictObject({ when: When, do: z.literal("run"), ...words }),
]);
export type Arrival = z.infer<typeof Arrival>;

/** Lines as docs/scenarios.md shows them; "..." stands for any lines, a `*` at a line's end for any rest of it. */
const lines = z.array(z.string());

export const Expectation = z.strictObject({
  events: lines.optional(),
  /** What the model was sent, request by request; `null` where it does not matter. */
  sent: z.array(lines.nullable()).optional(),
  /** How often the vendor was asked. */
  asked: index.optional(),
  /** A part of the last run's outcome. */
  outcome: z.record(z.string(), z.unknown()).optional(),
  /** A part of the usage that the last loop ended with. */
  usage: z.record(z.string(), z.number()).optional(),
  /** Ids of the calls whose tool was run, in call order. */
  executed: z.array(z.string()).optional(),
  /** Texts in the session's inbox at the end. */
  inbox: z.array(z.string()).optional(),
  /** What refused arrivals were told, in order. */
  refused: lines.optional(),
});
export type Expectation = z.infer<typeof Expectation>;

export const Scenario = z
  .strictObject({
    name: z.string().min(1),
    /** Ids of the requirements that it proves. */
    proves: z.array(z.string().regex(/^[A-Z]+-\d+[a-z]?$/, "an id such as LOOP-01 or PHI-13c")).default([]),
    /** Fields of an agent definition; all may be left out. `tools` are the scenario's own unless said. */
    agent: z.record(z.string(), z.unknown()).default({}),
    tools: z.array(ScenarioTool).default([]),
    /** One for each request to the vendor, in order; `done` when they are used up. */
    model: z.array(ScenarioReply).default([]),
    /** Absent: a run that only waits, or delivers what came with it. */
    prompt: z.string().min(1).optional(),
    promptId: z.string().min(1).optional(),
    mode: z.enum(["run", "interactive"]).default("run"),
    /** How long an interactive run waits. Without it, one that nothing arrives for any more is stopped. */
    idleTimeoutMs: milliseconds.optional(),
    arrives: z.array(Arrival).default([]),
    expect: Expectation.optional(),
  })
  .superRefine((scenario, context) => {
    const definition = AgentDefinition.safeParse(definitionInput(scenario, "http://127.0.0.1:1"));
    for (const issue of definition.error?.issues ?? []) {
      context.addIssue({ ...issue, path: ["agent", ...issue.path] } as never);
    }
    for (const { path, message } of impossibilities(scenario)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  });
export type Scenario = z.infer<typeof Scenario>;
export type ScenarioInput = z.input<typeof Scenario>;

/** Reads one scenario or a list of them. Throws a `ScenarioError` that names every field at fault. */
export function readScenarios(value: unknown): readonly Scenario[] {
  const list = Array.isArray(value) ? value : [value];
  const problems: string[] = [];
  const scenarios = list.map((item: unknown, at) => {
    const parsed = Scenario.safeParse(item);
    for (const issue of parsed.error?.issues ?? []) problems.push(problemOf(issue, item, at, list.length));
    return parsed.data;
  });
  const names = scenarios.map((scenario) => scenario?.name);
  for (const name of new Set(names.filter((one, at) => one !== undefined && names.indexOf(one) !== at))) {
    problems.push(`name: two scenarios are called "${name}"`);
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios as readonly Scenario[];
}

function problemOf(issue: z.core.$ZodIssue, item: unknown, at: number, count: number): string {
  const name = (item as { name?: unknown } | null)?.name;
  const which = typeof name === "string" ? `"${name}": ` : count > 1 ? `scenario ${at}: ` : "";
  const field = issue.path.join(".");
  return `${which}${field === "" ? "" : `${field}: `}${issue.message}`;
}

function exactlyOne(value: object, names: readonly string[], context: z.RefinementCtx): void {
  const given = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
  if (given.length === 1) return;
  const found = given.length === 0 ? "none of them is there" : `found ${given.join(" and ")}`;
  context.addIssue({ code: "custom", message: `give exactly one of ${names.join(", ")}; ${found}` });
}
