import type { Played, SubPlayed } from "./played.ts";
import type { Report } from "./run.ts";

/** A JSON line for each event, hook call, request and tool that was run, and one for the result. */
export function jsonLines({ scenario, played, problems }: Report): string[] {
  const { name, proves } = scenario;
  const { sent, ran, outcome, text, inbox, refused, continuedAsNew } = played;
  const lines: unknown[] = [
    ...eventsAndHooks(played).map(({ type, ...fields }) => ({ type, scenario: name, ...fields })),
    ...sent.map((request, nth) => ({ type: "sent", scenario: name, nth, ...request })),
    ...ran.map((call) => ({ type: "ran", scenario: name, ...call })),
    ...played.subAgents.flatMap((run) => subAgentLines(run, name)),
    {
      type: "result",
      scenario: name,
      proves,
      outcome,
      ...(text === undefined ? {} : { text }),
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

/** The same kinds of lines, with the call that each belongs to, and one for what came of it. */
function subAgentLines(
  { name, call, events, sent, outcome, subAgents }: SubPlayed,
  scenario: string,
): unknown[] {
  const where = { scenario, subAgent: name, of: call };
  return [
    ...events.map(({ type, ...fields }) => ({ type: "event", ...where, event: type, ...fields })),
    ...sent.map((request, nth) => ({ type: "sent", ...where, nth, ...request })),
    ...subAgents.flatMap((run) => subAgentLines(run, scenario)),
    { type: "sub-agent", ...where, outcome },
  ];
}

type Line = { readonly type: "event" | "hook" } & { readonly [field: string]: unknown };

/** Each hook call stands behind the events that came before it. */
function eventsAndHooks({ events, hooks }: Pick<Played, "events" | "hooks">): readonly Line[] {
  const hooksBehind = (count: number): Line[] =>
    hooks
      .filter(({ behind }) => behind === count)
      .map(({ behind: _, ...call }) => ({ type: "hook", ...call }));
  return [
    ...hooksBehind(0),
    ...events.flatMap(({ type, ...fields }, at): Line[] => [
      { type: "event", event: type, ...fields },
      ...hooksBehind(at + 1),
    ]),
  ];
}
