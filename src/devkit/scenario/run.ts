import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { eventLines, outcomeLine } from "./event-lines.ts";
import { unmet } from "./expect.ts";
import { storyLines } from "./hook-lines.ts";
import { playPlain } from "./plain.ts";
import type { Played, SubPlayed } from "./played.ts";
import { ScenarioError } from "./scenario-error.ts";
import { readScenarios, type Scenario } from "./schema.ts";
import { sentLine } from "./sent.ts";

export type Report = {
  readonly scenario: Scenario;
  readonly played: Played;
  /** Where the expectation is not met, and where the server has told another story than the plain driver. */
  readonly problems: readonly string[];
};

/** Throws a `ScenarioError` that names the file, and the fields at fault. */
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

/** @param play - Plays on the real stack too; its story is the one that is reported. */
export async function runScenario(
  scenario: Scenario,
  play?: (scenario: Scenario) => Promise<Played>,
): Promise<Report> {
  const plain = (await playPlain(scenario)).played;
  const played = play === undefined ? plain : await play(scenario);
  const differs = play === undefined ? [] : differences(plain, played);
  return { scenario, played, problems: [...unmet(scenario.expect, played), ...differs] };
}

/** What a server must tell as the plain driver does. */
export function differences(plain: Played, served: Played): string[] {
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
    subAgents: played.subAgents.map(comparable),
  }));
  const [one, other] = views as [(typeof views)[0], (typeof views)[0]];
  return (Object.keys(one) as (keyof typeof one)[]).flatMap((part) => {
    if (isDeepStrictEqual(plainJson(one[part]), plainJson(other[part]))) return [];
    const shown = (played: Played): unknown => (part === "events" ? eventLines(played.events) : undefined);
    return [
      `${part}: the server differs from the plain driver\nplain:  ${JSON.stringify(shown(plain) ?? one[part], null, 1)}\nserver: ${JSON.stringify(shown(served) ?? other[part], null, 1)}`,
    ];
  });
}

function comparable({ sent, subAgents, ...run }: SubPlayed): unknown {
  return {
    ...run,
    sent: sent.map(({ messages, tools }) => ({ messages, tools })),
    subAgents: subAgents.map(comparable),
  };
}

function plainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export function readableLines({ scenario, played, problems }: Report): string[] {
  const { name, proves } = scenario;
  return [
    `${name}${proves.length === 0 ? "" : ` [${proves.join(", ")}]`}`,
    ...storyLines(played).map((line) => `  ${line}`),
    ...played.sent.flatMap(({ messages, for: purpose }, request) => [
      `  request ${request}${purpose === "summary" ? " for a summary" : ""}`,
      ...messages.map((message) => `    ${sentLine(message)}`),
    ]),
    ...played.subAgents.flatMap((run) => subAgentLines(run).map((line) => `  ${line}`)),
    ...(played.inbox.length === 0 ? [] : [`  inbox: ${played.inbox.join(" | ")}`]),
    ...played.refused.map((words) => `  refused: ${words}`),
    `  outcome: ${outcomeLine(played.outcome)}`,
    problems.length === 0 ? "  ok" : `  NOT OK\n${problems.join("\n").replace(/^/gm, "    ")}`,
    "",
  ];
}

function subAgentLines({ name, call, events, sent, outcome, subAgents }: SubPlayed): string[] {
  return [
    `${name} for ${call}`,
    ...eventLines(events).map((line) => `  ${line}`),
    ...sent.flatMap(({ messages }, request) => [
      `  request ${request}`,
      ...messages.map((message) => `    ${sentLine(message)}`),
    ]),
    ...subAgents.flatMap((run) => subAgentLines(run).map((line) => `  ${line}`)),
    `  outcome: ${outcomeLine(outcome)}`,
  ];
}
