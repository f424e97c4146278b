import { createFinding } from "../findings.mjs";
import { openAgents, waitForEnd } from "../parts/agents.mjs";
import { SLOW_STREAMS, startSlowVendor } from "../parts/slow-vendor.mjs";

const SHORT_TIMEOUTS = new URL("../parts/short-timeouts.mjs", import.meta.url).href;
const LIMIT_MS = 60_000;

export default {
  name: "vendor-streams",
  plays:
    "The first answers of a vendor are slow, endless (comments, pings, empty pieces) or empty; the time limits of the worker are a hundredth of the real ones.",
  promise:
    "A slow answer that gets on is waited for. The others are broken off, asked for again and answered.",
  isQuick: true,
  play: async (stage) => {
    const agents = await openAgents(stage, { env: { NODE_OPTIONS: `--import ${SHORT_TIMEOUTS}` } });
    const vendor = await startSlowVendor(stage);
    const names = Object.keys(SLOW_STREAMS);
    const ends = await Promise.all(
      names.map(async (name) => {
        const model = { baseUrl: vendor.url };
        const session = await agents.start(`drip-${name}`, {
          agent: { model, retry: { initialDelayMs: 100 } },
          replies: [],
        });
        return await waitForEnd(session, LIMIT_MS);
      }),
    );
    return {
      runs: names.map((name, nth) => ({
        name,
        end: ends[nth],
        asked: vendor.asked.get(`drip-${name}`) ?? 0,
      })),
      open: vendor.open(),
    };
  },
  judge: ({ runs, open }) => [
    ...runs
      .filter(({ end }) => end.status === "open")
      .map(({ name }) => createFinding("stuck", `it waits for an answer that never comes`, name)),
    ...runs
      // What a run makes of an answer without a word is its own affair, so long as it ends.
      .filter(({ name, end }) => name !== "empty-answer" && end.status !== "open" && !isAnswered(end))
      .map(({ name, end }) => createFinding("lost", `it was not answered: ${JSON.stringify(end)}`, name)),
    ...runs
      .filter(({ name, asked }) => name === "slow-words" && asked > 1)
      .map(({ name, asked }) =>
        createFinding("doubled", `an answer that got on was asked for ${asked} times`, name),
      ),
    ...open.map((name) => createFinding("leaked", "the worker still holds the connection", name)),
  ],
};

const isAnswered = ({ status, outcome }) => status === "ended" && outcome.type === "answered";
