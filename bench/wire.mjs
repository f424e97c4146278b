// Compares Holdfast's adapters with the vendors' own SDKs on the same bytes in one run; see docs/benchmarks.md.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { HTTP_LIMITS } from "../dist/models/http-client.js";
import { ProviderRegistry } from "../dist/models/provider-registry.js";
import { VENDORS } from "./wire-vendors.mjs";

/** The number of bytes in one read of a socket. */
const SLICE = 16 * 1024;
/** The number of characters in a delta, about what vendors send. */
const CHUNK = 12;
const MB = 2 ** 20;

export async function measure({ log, quick }) {
  const size = quick ? { text: 20_000, rounds: 5, streamMb: 5 } : { text: 150_000, rounds: 25, streamMb: 50 };
  const adapters = {};
  let memoryGrowthMb = 0;
  for (const protocol of ProviderRegistry.createDefault().listProtocols()) {
    const vendor = VENDORS[protocol];
    if (vendor === undefined) {
      log(`${protocol}: not measured, because it has no entry in bench/wire-vendors.mjs`);
      continue;
    }
    const { ratio, ours, theirs, mb } = await compareParsers(protocol, vendor, size);
    adapters[protocol] = { ratio };
    log(`${protocol}: ours ${ours} ms, the SDK ${theirs} ms for ${mb} MB: ${ratio}`);
    const growth = await measureMemory(protocol, vendor, size.streamMb * MB);
    log(`${protocol}: ${growth} MB more at most while ${size.streamMb} MB went through`);
    memoryGrowthMb = Math.max(memoryGrowthMb, growth);
  }
  return { adapters, memoryGrowthMb };
}

async function compareParsers(protocol, vendor, { text, rounds }) {
  const args = JSON.stringify({ path: "a.txt", content: "x = 1;\n".repeat(400) });
  const bytes = vendor.bytes({
    thinking: "Let me think about it. ".repeat(text / 46),
    text: "Grüße, and more of it. ".repeat(text / 46),
    toolCalls: Array.from({ length: 8 }, () => ({ name: "write_file", arguments: args })),
    chunkSize: CHUNK,
  });
  const slices = sliceBytes(bytes);
  const times = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await measureMs(() => readAnswer(protocol, vendor, slices)));
    times.theirs.push(await measureMs(() => vendor.read(slices)));
  }
  // The first rounds include JIT compilation.
  const ours = computeMedian(times.ours.slice(2));
  const theirs = computeMedian(times.theirs.slice(2));
  return {
    ratio: roundValue(theirs / ours),
    ours: roundValue(ours),
    theirs: roundValue(theirs),
    mb: roundValue(bytes.length / MB),
  };
}

/** Measures the additional live memory while a long answer is read: the answer itself, and buffers. */
async function measureMemory(protocol, vendor, wanted) {
  const collect = createCollector();
  const sample = "word ".repeat(200);
  const perCharacter = vendor.bytes({ text: sample, chunkSize: 5 }).length / sample.length;
  const slices = sliceBytes(vendor.bytes({ text: "word ".repeat(wanted / perCharacter / 5), chunkSize: 5 }));
  await readAnswer(protocol, vendor, slices.slice(0, 0)).catch(() => {});
  collect();
  const before = readHeapUsed();
  let most = before;
  const step = Math.ceil(slices.length / 10);
  const watched = (async function* () {
    for (const [at, slice] of slices.entries()) {
      yield slice;
      if (at % step !== step - 1) continue;
      collect();
      most = Math.max(most, readHeapUsed());
    }
  })();
  await readAnswer(protocol, vendor, watched);
  return roundValue((most - before) / MB);
}

/** Reads an answer with Holdfast's adapter, from slices instead of a network. */
function readAnswer(protocol, vendor, slices) {
  const bytes = (async function* () {
    yield* slices;
  })();
  const contentType = vendor.contentType ?? "text/event-stream";
  const http = {
    limits: HTTP_LIMITS,
    open: async () => ({ requestId: undefined, contentType, bytes, drain() {} }),
  };
  const model = {
    id: "m",
    api: protocol,
    provider: vendor.provider,
    baseUrl: `http://127.0.0.1:9/v1${vendor.base ?? ""}`,
    contextWindow: 1_000_000,
    maxTokens: 8192,
    reasoning: false,
    headers: {},
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  const request = {
    model,
    apiKey: "AKIABENCH:secret-0123456789",
    systemPrompt: "",
    messages: [{ role: "user", content: [{ type: "text", text: "x" }], timestamp: 1 }],
    tools: [],
    thinking: "off",
    cache: { enabled: false, strategy: "auto" },
  };
  const provider = ProviderRegistry.createDefault({ http }).get(protocol);
  return provider.stream(request, { signal: new AbortController().signal, onDelta: () => {} });
}

function sliceBytes(bytes) {
  return Array.from({ length: Math.ceil(bytes.length / SLICE) }, (_, at) =>
    bytes.subarray(at * SLICE, (at + 1) * SLICE),
  );
}

async function measureMs(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

function readHeapUsed() {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function createCollector() {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

function computeMedian(list) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function roundValue(value) {
  return Math.round(value * 100) / 100;
}
