import { createFinding } from "../findings.mjs";
import { DONE, openAgents, waitForEnd } from "../parts/agents.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";

const MAX_DURATION_MS = 5_000;
const ABSURD_SECONDS = 999_999_999_999;

export default {
  name: "retry-after-absurd",
  plays:
    "A vendor answers 429 with a Retry-After of thirty thousand years, to a run with a limit of five seconds, to one without, and to one with a fallback.",
  promise:
    "The limit holds while the run waits; without one the run ends or says when it looks again; the fallback answers; other agents at the vendor are not parked with it.",
  isQuick: true,
  play: async (stage) => {
    const agents = await openAgents(stage);
    const absurd = { fault: "rate-limited", retryAfterSeconds: ABSURD_SECONDS };
    const start = (session, agent) => agents.start(session, { agent, replies: [absurd] });
    const limited = await start("retry-limited", { limits: { maxDurationMs: MAX_DURATION_MS } });
    const limitedEnd = waitForEnd(limited, 30_000);
    const open = await start("retry-open", { model: { id: "second-model" } });
    const { model } = agents.definition("retry-fallback-answers");
    agents.script("retry-fallback-answers", [DONE]);
    const falling = await start("retry-fallback", { model: { id: "third-model" }, fallbacks: [model] });
    const fallingEnd = waitForEnd(falling, 30_000);
    const ends = { limited: await limitedEnd, falling: await fallingEnd };
    const neighbour = await agents.start("retry-neighbour", { replies: [DONE] });
    ends.neighbour = await waitForEnd(neighbour, 30_000);
    const status = await runHoldfast(stage, [...agents.common, "status", open.id]);
    return { ends, status: status.stdout, openEnd: await waitForEnd(open, 1_000) };
  },
  judge: ({ ends, status, openEnd }) => [
    ...(ends.limited.status === "open"
      ? [
          createFinding(
            "stuck",
            "its limit of five seconds was passed long ago, and it still waits",
            "retry-limited",
          ),
        ]
      : []),
    ...(ends.falling.status === "ended" && ends.falling.outcome.type === "answered"
      ? []
      : [
          createFinding(
            "stuck",
            `its fallback did not answer: ${JSON.stringify(ends.falling)}`,
            "retry-fallback",
          ),
        ]),
    ...(ends.neighbour.status === "ended"
      ? []
      : [
          createFinding(
            "stuck",
            `an agent that was never refused does not answer: ${JSON.stringify(ends.neighbour)}`,
            "retry-neighbour",
          ),
        ]),
    ...(openEnd.status === "open" && !/rate.?limit|429|slow down|retr|next|again/i.test(status)
      ? [createFinding("stuck", `it waits in silence: ${status}`, "retry-open")]
      : []),
  ],
};
