import { formatEvents } from "./event-lines.ts";
import type { SubExpectation } from "./form/expectation.ts";
import { formatHookCall, formatStory } from "./hook-lines.ts";
import type { PlayResult, RanCall, SubAgentPlayResult } from "./play-result.ts";
import type { Expectation } from "./schema.ts";
import { formatSentMessage } from "./sent-message.ts";

/** Returns one sentence for each unmet expectation. */
export function checkExpectation(expectation: Expectation | undefined, played: PlayResult): string[] {
  if (expectation === undefined) return [];
  const { events, story, hooks, sent, asked, outcome, usage, text, executed, ran, inbox, refused } =
    expectation;
  const failures: string[] = [];
  const compareLines = (what: string, expected: readonly string[] | undefined, actual: readonly string[]) => {
    if (expected !== undefined && !matchesLines(expected, actual))
      failures.push(formatDifference(what, expected, actual));
  };
  compareLines("events", events, formatEvents(played.events));
  compareLines("story", story, formatStory(played));
  compareLines("hooks", hooks, played.hooks.map(formatHookCall));
  if (asked !== undefined && asked !== played.sent.length) {
    failures.push(`asked: the vendor got ${played.sent.length} requests, not ${asked}`);
  }
  sent?.forEach((expected, at) => {
    const request = played.sent[at];
    if (request === undefined) failures.push(`sent.${at}: there were only ${played.sent.length} requests`);
    else if (expected !== null) compareLines(`sent.${at}`, expected, request.messages.map(formatSentMessage));
  });
  if (text !== undefined && text !== played.text) {
    failures.push(`text: expected ${JSON.stringify(text)}, found ${JSON.stringify(played.text)}`);
  }
  const end = played.events.findLast(({ type }) => type === "AgentEnd");
  for (const [field, expected, actual] of [
    ["outcome", outcome, played.outcome],
    ["usage", usage, end?.["usage"] ?? {}],
  ] as const) {
    if (expected !== undefined && !includesFields(expected, actual)) {
      failures.push(`${field}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
    }
  }
  compareLines(
    "executed",
    executed,
    played.ran.map(({ call }) => call),
  );
  compareLines("ran", ran, played.ran.map(formatRanCall));
  compareLines("inbox", inbox, played.inbox);
  compareLines("refused", refused, played.refused);
  const { continuedAsNew } = expectation;
  if (continuedAsNew !== undefined && continuedAsNew !== played.continuedAsNew) {
    failures.push(`continuedAsNew: expected ${continuedAsNew}, found ${played.continuedAsNew}`);
  }
  return [...failures, ...checkSubAgents(expectation.subAgents, played.subAgents)];
}

function checkSubAgents(
  expected: readonly (SubExpectation | null)[] | undefined,
  played: readonly SubAgentPlayResult[],
): string[] {
  if (expected === undefined) return [];
  const failures = expected.flatMap((one, at) => {
    const run = played[at];
    if (run === undefined) return [`subAgents.${at}: it was not called`];
    if (one === null) return [];
    const { name, ...rest } = one;
    const other = name === undefined || name === run.name ? [] : [`name: it is ${run.name}, not ${name}`];
    const nothing = { hooks: [], ran: [], inbox: [], refused: [], continuedAsNew: 0 };
    const problems = [...other, ...checkExpectation(rest as Expectation, { ...nothing, ...run })];
    return problems.map((problem) => `subAgents.${at}: ${problem}`);
  });
  const more =
    played.length > expected.length
      ? [`subAgents: ${played.length} were called, not ${expected.length}`]
      : [];
  return [...failures, ...more];
}

function formatRanCall({ call, tool, arguments: args }: RanCall): string {
  return `${call} ${tool} ${JSON.stringify(args)}`;
}

function includesFields(expected: Readonly<Record<string, unknown>>, actual: object): boolean {
  return Object.entries(expected).every(([field, value]) => {
    const actualValue = (actual as Record<string, unknown>)[field];
    return typeof value === "string" && typeof actualValue === "string"
      ? matchesLine(value, actualValue)
      : value === actualValue;
  });
}

/** Compares lines; "..." matches any number of lines. */
function matchesLines(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...remaining] = expected;
  if (first === undefined) return actual.length === 0;
  if (first === "...") {
    return (
      actual.some((_, from) => matchesLines(remaining, actual.slice(from))) || matchesLines(remaining, [])
    );
  }
  return actual[0] !== undefined && matchesLine(first, actual[0]) && matchesLines(remaining, actual.slice(1));
}

/** Compares two texts; a `*` at the end matches any rest. */
function matchesLine(expected: string, actual: string): boolean {
  return expected.endsWith("*") ? actual.startsWith(expected.slice(0, -1)) : expected === actual;
}

function formatDifference(what: string, expected: readonly string[], actual: readonly string[]): string {
  return [
    `${what}: expected`,
    ...expected.map((line) => `  ${line}`),
    "found",
    ...actual.map((line) => `  ${line}`),
  ].join("\n");
}
