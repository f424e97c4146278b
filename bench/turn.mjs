import { startModelServer } from "../dist/testing/model-server/server.js";
import { createNullAgent, startAgent, startBare } from "./agents.mjs";
import { computeQuantile, openEnvironment, round } from "./environment.mjs";

/** Measures in interleaved rounds, so that other load of the machine affects all variants equally. */
export async function measure({ log, quick }) {
  const turns = quick ? 10 : 60;
  const rounds = quick ? 2 : 11;
  const stage = await openEnvironment();
  const replies = Array.from({ length: turns }, (_, turn) =>
    turn === turns - 1 ? { text: "done" } : { toolCalls: [{ name: "null_unsafe", arguments: { n: turn } }] },
  );
  const model = await startModelServer({ replies, keepBodies: 0 });
  try {
    await stage.start("./bare-worker.mjs");
    await stage.start("./agent-worker.mjs");
    await stage.start("./agent-worker.mjs", ["--task-queue", "http-agents"], { BENCH_HTTP: "1" });
    const { client } = stage;
    const kinds = {
      bare: () => startBare(client, turns),
      unsafe: () => startAgent(client, createNullAgent({ turns, tool: "null_unsafe" })),
      pure: () => startAgent(client, createNullAgent({ turns, tool: "null_pure" })),
      http: () =>
        startAgent(
          client,
          createNullAgent({ turns, tool: "null_unsafe", baseUrl: model.anthropicBaseUrl }),
          "go",
          "http-agents",
        ),
    };
    const spent = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
    for (let n = -1; n < rounds; n++) {
      for (const [kind, start] of Object.entries(kinds)) {
        const from = performance.now();
        await (await start()).result();
        const ms = (performance.now() - from) / turns;
        if (n >= 0) spent[kind].push(ms);
      }
      if (n >= 0)
        log(
          `round ${n + 1}: ${Object.entries(spent)
            .map(([kind, all]) => `${kind} ${all.at(-1).toFixed(1)}`)
            .join(", ")} ms a turn`,
        );
    }
    // Medians, because other load of the machine can distort single rounds.
    const median = (kind) => computeQuantile(spent[kind], 0.5);
    const ratio = (kind) =>
      computeQuantile(
        spent[kind].map((ms, n) => ms / spent.bare[n]),
        0.5,
      );
    return {
      msPerTurn: round(median("unsafe")),
      bareMsPerTurn: round(median("bare")),
      ratio: round(ratio("unsafe"), 3),
      ratioPure: round(ratio("pure"), 3),
      ratioHttp: round(ratio("http"), 3),
    };
  } finally {
    await model.stop();
    await stage.strike();
  }
}
