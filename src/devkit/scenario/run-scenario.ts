import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { formatEvents, formatOutcome } from "./event-lines.ts";
import { checkExpectation } from "./expectation-check.ts";
import { formatStory } from "./hook-lines.ts";
import { playPlain } from "./plain.ts";
import type { PlayResult, SubAgentPlayResult } from "./play-result.ts";
import { ScenarioError } from "./scenario-error.ts";
import { readScenarios, type Scenario } from "./schema.ts";
import { formatSentMessage } from "./sent-message.ts";

export type ScenarioReport = {
  readonly scenario: Scenario;
  readonly played: PlayResult;
  /** Unmet expectations, and differences between the server and the plain driver. */
  readonly problems: readonly string[];
};

/** Loads scenarios. Throws a `ScenarioError` with the file and the invalid fields. */
export async function loadScenarios(file: string): Promise<readonly Scenario[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ScenarioError([`${file}: cannot be read: ${error.code ?? error.message}`]);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ScenarioError([`${file}: is not JSON: ${(error as Error).message}`]);
  }
  return readScenarios(value);
}

/** @param play - Also plays on the real stack, whose result is then reported. */
export async function runScenario(
  scenario: Scenario,
  play?: (scenario: Scenario) => Promise<PlayResult>,
): Promise<ScenarioReport> {
  const plain = (await playPlain(scenario)).played;
  const played = play === undefined ? plain : await play(scenario);
  const differs = play === undefined ? [] : comparePlays(plain, played);
  return { scenario, played, problems: [...checkExpectation(scenario.expect, played), ...differs] };
}

/** Compares the parts of a result that must be equal on the server and in the plain driver. */
export function comparePlays(plain: PlayResult, served: PlayResult): string[] {
  const views = [plain, served].map((played) => ({
    events: played.events,
    hooks: played.hooks,
    sent: played.sent.map(({ messages, tools }) => ({ messages, tools })),
    ran: played.ran,
    outcome: played.outcome,
    text: played.text ?? null,
    inbox: played.inbox,
    refused: played.refused,
    continuedAsNew: played.continuedAsNew,
    subAgents: played.subAgents.map(toComparable),
  }));
  const [one, other] = views as [(typeof views)[0], (typeof views)[0]];
  return (Object.keys(one) as (keyof typeof one)[]).flatMap((part) => {
    if (isDeepStrictEqual(normalizeJson(one[part]), normalizeJson(other[part]))) return [];
    const formatPart = (played: PlayResult): unknown =>
      part === "events" ? formatEvents(played.events) : undefined;
    return [
      `${part}: the server differs from the plain driver\nplain:  ${JSON.stringify(formatPart(plain) ?? one[part], null, 1)}\nserver: ${JSON.stringify(formatPart(served) ?? other[part], null, 1)}`,
    ];
  });
}

function toComparable({ sent, subAgents, ...run }: SubAgentPlayResult): unknown {
  return {
    ...run,
    sent: sent.map(({ messages, tools }) => ({ messages, tools })),
    subAgents: subAgents.map(toComparable),
  };
}

function normalizeJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export function formatReport({ scenario, played, problems }: ScenarioReport): string[] {
  const { name, proves } = scenario;
  return [
    `${name}${proves.length === 0 ? "" : ` [${proves.join(", ")}]`}`,
    ...formatStory(played).map((line) => `  ${line}`),
    ...played.sent.flatMap(({ messages, for: purpose }, request) => [
      `  request ${request}${purpose === "summary" ? " for a summary" : ""}`,
      ...messages.map((message) => `    ${formatSentMessage(message)}`),
    ]),
    ...played.subAgents.flatMap((run) => formatSubAgent(run).map((line) => `  ${line}`)),
    ...(played.inbox.length === 0 ? [] : [`  inbox: ${played.inbox.join(" | ")}`]),
    ...played.refused.map((words) => `  refused: ${words}`),
    `  outcome: ${formatOutcome(played.outcome)}`,
    problems.length === 0 ? "  ok" : `  NOT OK\n${problems.join("\n").replace(/^/gm, "    ")}`,
    "",
  ];
}

function formatSubAgent({ name, call, events, sent, outcome, subAgents }: SubAgentPlayResult): string[] {
  return [
    `${name} for ${call}`,
    ...formatEvents(events).map((line) => `  ${line}`),
    ...sent.flatMap(({ messages }, request) => [
      `  request ${request}`,
      ...messages.map((message) => `    ${formatSentMessage(message)}`),
    ]),
    ...subAgents.flatMap((run) => formatSubAgent(run).map((line) => `  ${line}`)),
    `  outcome: ${formatOutcome(outcome)}`,
  ];
}
