import { eventLines } from "./event-lines.ts";
import type { SubExpectation } from "./form/expectation.ts";
import { hookLine, storyLines } from "./hook-lines.ts";
import type { Played, RanCall, SubPlayed } from "./played.ts";
import type { Expectation } from "./schema.ts";
import { sentLine } from "./sent.ts";

/** Where a scenario's expectation is not met, a sentence each. */
export function unmet(expectation: Expectation | undefined, played: Played): string[] {
  if (expectation === undefined) return [];
  const { events, story, hooks, sent, asked, outcome, usage, text, executed, ran, inbox, refused } =
    expectation;
  const found: string[] = [];
  const lines = (what: string, wanted: readonly string[] | undefined, actual: readonly string[]) => {
    if (wanted !== undefined && !fits(wanted, actual)) found.push(difference(what, wanted, actual));
  };
  lines("events", events, eventLines(played.events));
  lines("story", story, storyLines(played));
  lines("hooks", hooks, played.hooks.map(hookLine));
  if (asked !== undefined && asked !== played.sent.length) {
    found.push(`asked: the vendor was asked ${played.sent.length} times, not ${asked}`);
  }
  sent?.forEach((wanted, at) => {
    const request = played.sent[at];
    if (request === undefined) found.push(`sent.${at}: there were only ${played.sent.length} requests`);
    else if (wanted !== null) lines(`sent.${at}`, wanted, request.messages.map(sentLine));
  });
  if (text !== undefined && text !== played.text) {
    found.push(`text: expected ${JSON.stringify(text)}, found ${JSON.stringify(played.text)}`);
  }
  const end = played.events.findLast(({ type }) => type === "AgentEnd");
  for (const [field, wanted, actual] of [
    ["outcome", outcome, played.outcome],
    ["usage", usage, end?.["usage"] ?? {}],
  ] as const) {
    if (wanted !== undefined && !holds(wanted, actual)) {
      found.push(`${field}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(actual)}`);
    }
  }
  lines(
    "executed",
    executed,
    played.ran.map(({ call }) => call),
  );
  lines("ran", ran, played.ran.map(ranLine));
  lines("inbox", inbox, played.inbox);
  lines("refused", refused, played.refused);
  const { continuedAsNew } = expectation;
  if (continuedAsNew !== undefined && continuedAsNew !== played.continuedAsNew) {
    found.push(`continuedAsNew: expected ${continuedAsNew}, found ${played.continuedAsNew}`);
  }
  return [...found, ...unmetBelow(expectation.subAgents, played.subAgents)];
}

function unmetBelow(
  wanted: readonly (SubExpectation | null)[] | undefined,
  played: readonly SubPlayed[],
): string[] {
  if (wanted === undefined) return [];
  const found = wanted.flatMap((one, at) => {
    const run = played[at];
    if (run === undefined) return [`subAgents.${at}: it was not called`];
    if (one === null) return [];
    const { name, ...rest } = one;
    const other = name === undefined || name === run.name ? [] : [`name: it is ${run.name}, not ${name}`];
    const nothing = { hooks: [], ran: [], inbox: [], refused: [], continuedAsNew: 0 };
    const problems = [...other, ...unmet(rest as Expectation, { ...nothing, ...run })];
    return problems.map((problem) => `subAgents.${at}: ${problem}`);
  });
  const more =
    played.length > wanted.length ? [`subAgents: ${played.length} were called, not ${wanted.length}`] : [];
  return [...found, ...more];
}

function ranLine({ call, tool, arguments: given }: RanCall): string {
  return `${call} ${tool} ${JSON.stringify(given)}`;
}

function holds(wanted: Readonly<Record<string, unknown>>, actual: object): boolean {
  return Object.entries(wanted).every(([field, value]) => {
    const there = (actual as Record<string, unknown>)[field];
    return typeof value === "string" && typeof there === "string" ? fitsLine(value, there) : value === there;
  });
}

/** "..." stands for any number of lines. */
function fits(wanted: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = wanted;
  if (first === undefined) return actual.length === 0;
  if (first === "...") {
    return actual.some((_, from) => fits(rest, actual.slice(from))) || fits(rest, []);
  }
  return actual[0] !== undefined && fitsLine(first, actual[0]) && fits(rest, actual.slice(1));
}

/** A `*` at the end stands for any rest. */
function fitsLine(wanted: string, actual: string): boolean {
  return wanted.endsWith("*") ? actual.startsWith(wanted.slice(0, -1)) : wanted === actual;
}

function difference(what: string, wanted: readonly string[], actual: readonly string[]): string {
  return [
    `${what}: expected`,
    ...wanted.map((line) => `  ${line}`),
    "found",
    ...actual.map((line) => `  ${line}`),
  ].join("\n");
}
