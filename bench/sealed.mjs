import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { EncryptionCodec } from "../dist/platform/encryption/encryption-codec.js";
import { resolveEncryption } from "../dist/platform/encryption/resolve-encryption.js";
import { createNullAgent, startAgent } from "./agents.mjs";
import { computeQuantile, openEnvironment, round } from "./environment.mjs";

const KEYS = "bench=env:BENCH_KEY";

/** Measures encryption of both Temporal's data and the transcript against no encryption, in interleaved rounds. */
export async function measure({ log, quick }) {
  const turns = quick ? 10 : 60;
  const rounds = quick ? 2 : 11;
  process.env["BENCH_KEY"] = randomBytes(32).toString("base64");
  const stage = await openEnvironment();
  try {
    await stage.start("./agent-worker.mjs");
    await stage.start(
      "./agent-worker.mjs",
      ["--task-queue", "sealed-agents", "--home", join(stage.folder, "sealed")],
      { HOLDFAST_ENCRYPTION_KEYS: KEYS },
    );
    const sealing = new Client({
      connection: stage.client.connection,
      namespace: stage.server.namespace,
      dataConverter: { payloadCodecs: [new EncryptionCodec(resolveEncryption({ keys: KEYS }))] },
    });
    const definition = createNullAgent({ turns, tool: "null_unsafe" });
    const kinds = {
      plain: () => startAgent(stage.client, definition),
      sealed: () => startAgent(sealing, definition, "go", "sealed-agents"),
    };
    const spent = { plain: [], sealed: [] };
    for (let n = -1; n < rounds; n++) {
      for (const [kind, start] of Object.entries(kinds)) {
        const from = performance.now();
        await (await start()).result();
        if (n >= 0) spent[kind].push((performance.now() - from) / turns);
      }
      if (n >= 0)
        log(`round ${n + 1}: plain ${spent.plain[n].toFixed(1)}, sealed ${spent.sealed[n].toFixed(1)} ms`);
    }
    const ratios = spent.sealed.map((ms, n) => ms / spent.plain[n]);
    return {
      plainMsPerTurn: round(computeQuantile(spent.plain, 0.5)),
      sealedMsPerTurn: round(computeQuantile(spent.sealed, 0.5)),
      ratio: round(computeQuantile(ratios, 0.5), 3),
    };
  } finally {
    await stage.strike();
  }
}
