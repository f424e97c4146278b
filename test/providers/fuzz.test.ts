import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { HTTP_LIMITS, type HttpClient } from "../../src/models/http-client.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { AssistantMessage } from "../../src/schema/message.ts";
import { isThorough } from "../support/test-depth.ts";
import { createRequest } from "./answer-reader.ts";
import { StreamFuzzer } from "./fuzz/stream-fuzzer.ts";
import { HAZARD_WIRES, type HazardWire, SAMPLE_ANSWER } from "./hazards/index.ts";

// Streams that no vendor would send, made from those that vendors send: `npm run fuzz -- --inputs N [--seed S]` for a
// long run. Each ends in a valid message or in a classified error, at once, and leaves nothing in memory.

const INPUTS = Number(process.env["HOLDFAST_FUZZ_INPUTS"] ?? (isThorough ? 20_000 : 1_050));
const SEED = Number(process.env["HOLDFAST_FUZZ_SEED"] ?? 1);
/** For one input; the machine may be busy with other processes. */
const MOST_MS = 2_000;
/** Growth after the warm-up that is allowed: code that was compiled late, not inputs. */
const MOST_GROWTH_MB = 64;

const SEEDS = [
  SAMPLE_ANSWER,
  { thinking: "hm", text: "So." },
  { calls: [{ id: "c", name: "read", pieces: Array.from('{"a":[1,{"b":null}]}') }] },
  { text: "" },
];

/** Supplies the slices in place of a network. */
function fed(contentType: string, slices: readonly Uint8Array[]): HttpClient {
  const bytes = (async function* () {
    yield* slices;
  })();
  return {
    limits: HTTP_LIMITS,
    open: async () => ({ requestId: undefined, contentType, bytes, drain: () => {} }),
  } as unknown as HttpClient;
}

async function outcome(
  wire: HazardWire,
  request: ModelRequest,
  slices: readonly Uint8Array[],
): Promise<unknown> {
  const asked = wire
    .make(fed(wire.contentType, slices))
    .stream(request, { signal: new AbortController().signal, onDelta: () => {} });
  return await asked.catch((error: unknown) => error);
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A collection separates what is still referenced from garbage. */
const heapMb = () => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

test.each(HAZARD_WIRES)(
  "$protocol: no stream crashes the adapter, blocks it or stays in memory",
  async (wire) => {
    const fuzz = new StreamFuzzer(
      SEED,
      SEEDS.map((said) => wire.frames(said)).concat([[wire.rateLimit, wire.unknown]]),
    );
    const request = createRequest(wire.model("http://127.0.0.1:9"), {
      apiKey: "AKIAREPLAYED:secret-0123456789",
    });
    const inputs = Math.ceil(INPUTS / HAZARD_WIRES.length);
    let warm = 0;
    let longest = 0;
    let messages = 0;
    for (let at = 0; at < inputs; at += 1) {
      if (at === Math.floor(inputs / 4)) warm = heapMb();
      // Yields now and then, so that the test runner does not consider the process dead.
      if (at % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
      const slices = fuzz.next();
      const began = performance.now();
      const made = await outcome(wire, request, slices);
      const took = performance.now() - began;
      longest = Math.max(longest, took);
      const shown = () =>
        `input ${at} of seed ${SEED}: ${JSON.stringify(Buffer.concat(slices).toString("latin1"))}`;
      if (took > MOST_MS) throw new Error(`${Math.round(took)} ms for ${shown()}`);
      if (made instanceof ProviderError) {
        // A disguised error of ours is "other".
        if (made.fault === "other") throw new Error(`${made.message} for ${shown()}`, { cause: made });
        continue;
      }
      messages += 1;
      if (!AssistantMessage.safeParse(made).success)
        throw new Error(`no message came of ${shown()}`, { cause: made });
    }
    expect(messages).toBeGreaterThan(inputs / 100);
    expect(messages).toBeLessThan(inputs);
    const growth = heapMb() - warm;
    if (process.env["HOLDFAST_FUZZ_INPUTS"] !== undefined) {
      const figures = `${inputs} inputs, ${messages} messages, longest ${longest.toFixed(1)} ms`;
      process.stdout.write(`${wire.protocol}: ${figures}, ${growth.toFixed(1)} MB more in memory\n`);
    }
    expect(growth).toBeLessThan(MOST_GROWTH_MB);
  },
  3_600_000,
);
