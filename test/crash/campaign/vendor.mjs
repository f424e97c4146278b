// The campaign's vendor, a process of its own: answers by the scenario that the name of the conversation begins with, and
// writes down every request and what became of it.
import { createHash } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { startModelServer } from "../../../dist/testing/model-server/server.js";
import { createReply, parseScenario, SCENARIOS } from "./scenarios.mjs";

const log = openSync(process.argv[2], "a");
const write = (line) => writeSync(log, `${JSON.stringify({ ...line, atMs: Date.now() })}\n`);

let asked = 0;
const nonces = new WeakMap();
const used = new Map();
const questions = new Set();

const server = await startModelServer({
  toolCallIds: "fresh",
  keepBodies: Number.POSITIVE_INFINITY,
  respond({ conversation, body }) {
    const nonce = ++asked;
    nonces.set(body, nonce);
    const scenario = parseScenario(conversation);
    const text = JSON.stringify(body.messages);
    const isNotes = text.includes("The record:");
    const done = Math.max(0, ...[...text.matchAll(/\[step (\d+)\]/g)].map(([, step]) => Number(step)));
    const isAgain = JSON.stringify(body.system ?? "").includes("once more");
    const fault = isNotes ? undefined : findFault(conversation, SCENARIOS[scenario]?.faults, done + 1);
    const question = hash([body.system, body.messages, body.tools]);
    write({
      type: "asked",
      nonce,
      conversation,
      step: isNotes ? 0 : done + 1,
      /** The same for the same question. */
      question,
      shown: [...text.matchAll(/<message ([\w-]+)>/g)].map(([, id]) => id),
      ...(isNotes ? { isNotes } : {}),
    });
    const isRepeated = questions.has(question);
    questions.add(question);
    if (fault !== undefined) return fault;
    if (isNotes)
      return { text: `[step ${done}] [notes ${nonce}] All went well.`, chunkSize: 8, chunkDelayMs: 15 };
    return createReply(scenario, done + 1, nonce, { suffix: isAgain ? "r" : "", isRepeated });
  },
  onClosed: ({ body, conversation, outcome, fault, validationError, bytesSent }) =>
    write({
      type: "closed",
      nonce: nonces.get(body),
      conversation,
      outcome,
      fault,
      validationError,
      bytesSent,
    }),
});

function findFault(conversation, faults, step) {
  const key = `${conversation} ${step}`;
  const nth = used.get(key) ?? 0;
  used.set(key, nth + 1);
  return faults?.[step]?.[nth];
}

function hash(value) {
  return createHash("sha1").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

process.stdin.on("error", () => {}).once("close", () => process.exit());
process.stdin.resume();
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
