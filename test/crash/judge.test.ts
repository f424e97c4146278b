import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
// @ts-expect-error: the campaign is plain JavaScript, as its programs are
import { checkRun as plainJudge } from "./campaign/check-run.mjs";

// The judge of the crash campaign, over evidence from real runs: of the present code, and of code that was broken
// on purpose.

type Entry = {
  position: number;
  role: string;
  messageId?: string;
  nonce?: number;
  calls?: { id: string; label: string }[];
  toolCallId?: string;
  isError?: boolean;
  said?: string;
};
type Effect = { key: string; label: string; what: string };
type Evidence = {
  sent: { id: string; kind: string }[];
  results: { status: string; outcome?: { type: string } }[];
  vendor: {
    type: string;
    nonce: number;
    question?: string;
    outcome?: string;
    validationError?: string;
    shown?: string[];
  }[];
  branches: { id: string; length: number; entries: Entry[] }[];
  inbox: string[];
  loops: { status: string; events: [number, string][] }[];
  histories: { end: string; models: number; failedTasks: { cause: number; message: string }[] }[];
  effects: Effect[];
  running: string[];
};

const judge = plainJudge as (evidence: Evidence) => {
  violations: { kind: string; what: string }[];
  again: Record<string, number>;
};
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`./campaign/evidence/${name}.json`, import.meta.url), "utf8")) as Evidence;
const kindsOf = (evidence: Evidence) => [...new Set(judge(evidence).violations.map(({ kind }) => kind))];

test("the judge accepts runs whose workers were killed twice, and gives the cause of each repeated request", () => {
  const steered = judge(read("whole-batched-with-steering"));
  expect(steered.violations).toEqual([]);
  expect(steered.again).toEqual({ "its stream was cut by the kill": 1 });
  expect(kindsOf(read("whole-parallel"))).toEqual([]);
});

describe("the judge rejects a real run of code that was broken on purpose", () => {
  test.each([
    ["answer-forgotten", "a stored answer is not looked for", "repaid-stored"],
    ["no-fence", "a frozen worker's late answer is taken", "repaid-stored"],
    ["unsafe-run-again", "an unsafe call is run again like any other", "unsafe-twice"],
    ["nothing-ended", "nobody ends what a dead worker has left running", "left-running"],
  ])("%s: %s", (name, _what, kind) => {
    expect(kindsOf(read(name))).toEqual([kind]);
  });
});

/** The run with steering: a prompt, two steering messages, eight calls. */
const whole = () => read("whole-batched-with-steering");
const entriesOf = (evidence: Evidence) => evidence.branches[0]?.entries ?? [];
const entry = (evidence: Evidence, wanted: (one: Entry) => unknown) => {
  const found = entriesOf(evidence).find(wanted);
  if (found === undefined) throw new Error("the evidence has no such entry");
  return found;
};
/** Appends an entry after the last one. */
const append = (evidence: Evidence, added: Omit<Entry, "position">) => {
  const position = entriesOf(evidence).length;
  entriesOf(evidence).push({ position, ...added });
  for (const branch of evidence.branches) branch.length += 1;
};
const resultOf = (label: string) => (evidence: Evidence) => {
  const id = entriesOf(evidence)
    .flatMap(({ calls = [] }) => calls)
    .find((call) => call.label === label)?.id;
  return entry(evidence, ({ toolCallId }) => toolCallId === id);
};

const CHANGES: Record<string, [kind: string, change: (evidence: Evidence) => void]> = {
  "a message that is nowhere": [
    "lost",
    (e) => delete entry(e, ({ messageId }) => messageId?.endsWith("m2")).messageId,
  ],
  "a message that is there twice": [
    "duplicated",
    (e) => append(e, { role: "user", messageId: e.sent[1]?.id ?? "" }),
  ],
  "a message that is in the inbox too": ["duplicated", (e) => e.inbox.push(e.sent[1]?.id ?? "")],
  "messages in another order": [
    "order",
    (e) => {
      const [one, two] = entriesOf(e).filter(({ messageId }) => /m\d$/.test(messageId ?? "")) as [
        Entry,
        Entry,
      ];
      [one.messageId, two.messageId] = [two.messageId as string, one.messageId as string];
    },
  ],
  "a message that the model was shown twice": [
    "duplicated",
    (e) => e.vendor.at(-2)?.shown?.push(e.sent[0]?.id ?? ""),
  ],
  "a message that the model was never shown": ["lost", (e) => void e.vendor.at(-2)?.shown?.pop()],
  "a gap in the entries": ["lost", (e) => entriesOf(e).splice(9, 1)],
  "a branch that nobody has asked for": [
    "duplicated",
    (e) => e.branches.push({ id: "other", length: 0, entries: [] }),
  ],
  "a call with two results": [
    "duplicated",
    (e) => {
      const { position: _, ...again } = resultOf("2.1")(e);
      entriesOf(e).splice(11, 0, { position: 11, ...again });
      for (const [index, one] of entriesOf(e).entries()) one.position = index;
      for (const branch of e.branches) branch.length += 1;
    },
  ],
  "a call without a result": ["lost", (e) => (resultOf("2.1")(e).role = "machine")],
  "a result of a call that nobody has made": [
    "duplicated",
    (e) => (resultOf("2.1")(e).toolCallId = "another"),
  ],
  "a good result of a tool that has not come to its end": [
    "lost",
    (e) => (e.effects = e.effects.filter(({ label, what }) => label !== "2.0" || what !== "end")),
  ],
  "an unsafe tool that was started twice": [
    "unsafe-twice",
    (e) => e.effects.push({ ...(e.effects.find(({ label }) => label === "2.0") as Effect) }),
  ],
  "an unsafe tool that ran though nobody had called it": [
    "unsafe-twice",
    (e) => e.effects.push({ key: "run/9/0", label: "9.0", what: "start" }),
  ],
  "a tool that ran although its result says that it was skipped": [
    "result",
    (e) => e.effects.push({ key: "run/3/2", label: "1.2", what: "start" }),
  ],
  "an idempotent tool that ran under another key": [
    "key",
    (e) => e.effects.push({ key: "run/4/0", label: "1.0", what: "start" }),
  ],
  "an idempotent tool of which nobody knows what became of it": [
    "result",
    (e) =>
      Object.assign(resultOf("1.0")(e), {
        isError: true,
        said: "The outcome of this call is unknown. It was",
      }),
  ],
  "an answer that was asked for again though it was stored": [
    "repaid-stored",
    (e) => e.vendor.push({ ...(e.vendor[0] as Evidence["vendor"][number]), nonce: 99 }),
  ],
  "an answer that was delivered and is nowhere": [
    "lost",
    (e) => delete entry(e, ({ nonce }) => nonce === 38).nonce,
  ],
  "an answer that no vendor has given": ["duplicated", (e) => append(e, { role: "assistant", nonce: 77 })],
  "a request that the vendor had to refuse": [
    "refused",
    (e) =>
      e.vendor.push({
        type: "closed",
        nonce: 98,
        outcome: "faulted",
        validationError: "tool_use without tool_result",
      }),
  ],
  "a loop that ends twice": ["terminal", (e) => e.loops[0]?.events.push([48, "AgentEnd"])],
  "a loop that never ends": ["terminal", (e) => void e.loops[0]?.events.pop()],
  "a gap in the events": ["lost", (e) => e.loops[0]?.events.splice(5, 1)],
  "a run that does not end": ["end", (e) => (e.results = [{ status: "running" }])],
  "a run that ends as something else": [
    "end",
    (e) => (e.results = [{ status: "completed", outcome: { type: "limit-reached" } }]),
  ],
  "a record that is left open": ["end", (e) => Object.assign(e.loops[0] ?? {}, { status: "running" })],
  "a history that is cut off": ["end", (e) => Object.assign(e.histories[0] ?? {}, { end: "Terminated" })],
  "a workflow task that failed": [
    "history",
    (e) => e.histories[0]?.failedTasks.push({ cause: 24, message: "Nondeterminism error" }),
  ],
  "an answer that only the history has": ["lost", (e) => Object.assign(e.histories[0] ?? {}, { models: 4 })],
  "a process that is left over": ["left-running", (e) => e.running.push("sleep 20")],
};

test.each([
  ["a task that the server dispatches again because an event arrived", 1],
  ["a task that was taken back for another worker", 13],
])("the judge accepts %s", (_what, cause) => {
  const evidence = whole();
  evidence.histories[0]?.failedTasks.push({ cause, message: "" });
  expect(kindsOf(evidence)).toEqual([]);
});

describe("the judge rejects a single violation", () => {
  test.each(Object.entries(CHANGES))("%s", (_what, [kind, change]) => {
    const evidence = whole();
    change(evidence);
    expect(kindsOf(evidence)).toContain(kind);
  });
});
