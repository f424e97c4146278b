import { fileURLToPath } from "node:url";
import { parseModel } from "../dist/client/index.js";
import { startChild } from "./child.mjs";

const MODEL_SERVER = fileURLToPath(new URL("../dist/testing/model-server/main.js", import.meta.url));
const SCRIPT = fileURLToPath(new URL("script.json", import.meta.url));

/** The answer with this index streams slowly and, in the middle, waits at the gate. */
const SLOW_TURN = 3;
const GATE = "worker-killed";
const KEY = "HOLDFAST_DEMO_KEY";

/**
 * Who answers the agent.
 *
 * `strike` says when a stream is worth a kill: from which turn on, and after how many characters. `ledger` is what
 * the vendor itself has counted; null where nobody can ask it.
 */
export async function createScriptedModel({ log }) {
  const child = startChild(MODEL_SERVER, ["--script", SCRIPT], { env: process.env, log });
  const { url } = await child.ready;
  return {
    name: `scripted, pid ${child.pid}, ${url}`,
    config: {
      id: "scripted-model",
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: url,
      apiKey: `\${${KEY}}`,
      contextWindow: 200_000,
      cost: { input: 3, output: 15 },
    },
    env: { [KEY]: "the-scripted-model-takes-any-key" },
    strike: { turn: SLOW_TURN, characters: 150 },
    /** A worker was killed: the answer that waits, or its repetition, may go on. */
    struck: async () => {
      await fetch(`${url}/__release`, { method: "POST", body: JSON.stringify({ name: GATE }) });
    },
    ledger: async () => (await fetch(`${url}/__requests?bodies`)).json(),
    stop: () => child.stop(),
  };
}

/** A vendor's own model; its key stays in the environment, where the worker finds it. */
export function createVendorModel(name) {
  const config = parseModel(name);
  const key = /^\$\{(\w+)\}$/.exec(config.apiKey ?? "")?.[1];
  if (key !== undefined && !process.env[key]) throw new Error(`${name} needs its key in ${key}`);
  return {
    name,
    config,
    env: {},
    strike: { turn: 2, characters: 1 },
    struck: async () => {},
    ledger: async () => null,
    stop: async () => {},
  };
}
