import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { PlayResult, SubAgentPlayResult } from "./play-result.ts";
import type { ScenarioReport } from "./run-scenario.ts";

/** Formats a JSON line for each event, hook call, request and tool execution, and one for the result. */
export function formatJsonLines({ scenario, played, problems }: ScenarioReport): string[] {
  const { name, proves } = scenario;
  const { sent, ran, outcome, text, inbox, refused, continuedAsNew } = played;
  const lines: unknown[] = [
    ...mergeEventsAndHooks(played).map(({ type, ...fields }) => ({ type, scenario: name, ...fields })),
    ...sent.map((request, nth) => ({ type: "sent", scenario: name, nth, ...request })),
    ...ran.map((call) => ({ type: "ran", scenario: name, ...call })),
    ...played.subAgents.flatMap((run) => buildSubAgentLines(run, name)),
    {
      type: "result",
      scenario: name,
      proves,
      outcome,
      ...omitUndefined({ text }),
      executed: ran.map(({ call }) => call),
      inbox,
      refused,
      continuedAsNew,
      ok: problems.length === 0,
      problems,
    },
  ];
  return lines.map((line) => JSON.stringify(line));
}

/** Formats the lines of a sub-agent's run, each with its call, and one for the result. */
function buildSubAgentLines(
  { name, call, events, sent, outcome, subAgents }: SubAgentPlayResult,
  scenario: string,
): unknown[] {
  const where = { scenario, subAgent: name, of: call };
  return [
    ...events.map(({ type, ...fields }) => ({ type: "event", ...where, event: type, ...fields })),
    ...sent.map((request, nth) => ({ type: "sent", ...where, nth, ...request })),
    ...subAgents.flatMap((run) => buildSubAgentLines(run, scenario)),
    { type: "sub-agent", ...where, outcome },
  ];
}

type Line = { readonly type: "event" | "hook" } & { readonly [field: string]: unknown };

/** Merges events and hook calls; each hook call follows the events before it. */
function mergeEventsAndHooks({ events, hooks }: Pick<PlayResult, "events" | "hooks">): readonly Line[] {
  const listHooksAfter = (count: number): Line[] =>
    hooks
      .filter(({ eventsBefore }) => eventsBefore === count)
      .map(({ eventsBefore: _, ...call }) => ({ type: "hook", ...call }));
  return [
    ...listHooksAfter(0),
    ...events.flatMap(({ type, ...fields }, at): Line[] => [
      { type: "event", event: type, ...fields },
      ...listHooksAfter(at + 1),
    ]),
  ];
}
