import { fileURLToPath } from "node:url";
import { parseModel } from "../dist/client/index.js";
import { startChild } from "./child.mjs";

const MODEL_SERVER = fileURLToPath(new URL("../dist/testing/model-server/main.js", import.meta.url));
const SCRIPT = fileURLToPath(new URL("script.json", import.meta.url));

/** The index of the answer that streams slowly and waits at the gate in the middle. */
const SLOW_TURN = 3;
const GATE = "worker-killed";
const KEY = "HOLDFAST_DEMO_KEY";

/**
 * Starts the scripted model.
 *
 * `strike` specifies when to kill the worker in a stream: from which turn, and after how many characters. `ledger`
 * returns the vendor's own counts; null if they are not available.
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
    /** Call this after a worker was killed: the waiting answer, or its repetition, continues. */
    struck: async () => {
      await fetch(`${url}/__release`, { method: "POST", body: JSON.stringify({ name: GATE }) });
    },
    ledger: async () => (await fetch(`${url}/__requests?bodies`)).json(),
    stop: () => child.stop(),
  };
}

/** Configures a vendor's model; its key stays in the environment, from which the worker reads it. */
export function createVendorModel(name) {
  const config = parseModel(name);
  const key = /^\$\{(\w+)\}$/.exec(config.apiKey ?? "")?.[1];
  if (key !== undefined && !process.env[key]) throw new Error(`${name} needs a key: set ${key}`);
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
