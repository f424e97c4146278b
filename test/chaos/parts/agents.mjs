// Agents one by one: a worker as `holdfast worker` starts it, a scripted vendor of this process, a client. For scenarios
// in which it matters what one agent is told and does.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../../dist/client/index.js";
import { startModelServer } from "../../../dist/testing/model-server/server.js";
import { eventually } from "./eventually.mjs";
import { startHoldfast } from "./holdfast-process.mjs";

/** The worker's key for the scripted vendor; no other byte of a scenario may hold it. */
export const VENDOR_KEY = { name: "CHAOS_VENDOR_KEY", value: "sk-chaos-7Q2mVx0pLr9TzK4wBn8e" };

/**
 * @param options.worker - False: the scenario starts what works.
 * @param options.at - Another Temporal server than the shared one: `{ address, namespace }`.
 */
export async function openAgents(stage, { env = {}, flags, worker = true, home, at, taskQueue } = {}) {
  const { address, namespace } = at ?? (await stage.campaign());
  const folder = home ?? stage.subfolder("home");
  const queue = taskQueue ?? `chaos-${stage.name}`;
  const scripts = new Map();
  const vendor = await startModelServer({
    keepBodies: Number.POSITIVE_INFINITY,
    showSecrets: true,
    toolCallIds: "fresh",
    respond: ({ conversation, turn }) => scripts.get(conversation)?.[turn],
  });
  stage.onEnd(() => vendor.stop());
  const common = ["--address", address, "--namespace", namespace, "--home", folder, "--task-queue", queue];
  const startWorker = async ({ env: more = {}, flags: ofNode = flags, label = "worker", args = [] } = {}) => {
    const started = startHoldfast(stage, ["--json", ...common, "worker", ...args], {
      env: { [VENDOR_KEY.name]: VENDOR_KEY.value, ...env, ...more },
      label,
      ...(ofNode === undefined ? {} : { flags: ofNode }),
    });
    const ready = await eventually(
      () =>
        started.lines().find(({ type }) => type === "ready") ?? (started.hasEnded() ? "ended" : undefined),
      { timeoutMs: 60_000, what: "a worker" },
    );
    if (ready === "ended") throw new Error(`the worker has ended: ${started.said.stderr}`);
    return { ...started, id: ready.id, workerPid: ready.pid };
  };
  const client = await connect({
    address,
    namespace,
    home: folder,
    taskQueue: queue,
    database: env.HOLDFAST_DATABASE_URL ?? "",
  });
  stage.onEnd(() => client.close());
  const workspaceOf = (session) => {
    const workspace = join(stage.folder, "work", session);
    mkdirSync(workspace, { recursive: true });
    return workspace;
  };
  return {
    home: folder,
    vendor,
    client,
    common,
    workspaceOf,
    startWorker,
    worker: worker ? await startWorker() : undefined,
    /** The definition of an agent with bash and nothing to hold it back, unless `agent` says otherwise. */
    definition: (session, agent = {}) => createDefinition(session, vendor, workspaceOf(session), agent),
    /**
     * Starts a session whose model gives these answers, the n-th to a request with n answers in it.
     *
     * @param options.replies - Replies and faults of the scripted vendor, or a function of the request.
     */
    start: async (session, { replies, agent = {}, prompt = "Go.", ...more }) => {
      scripts.set(session, replies);
      return await client.start({
        session,
        agent: createDefinition(session, vendor, workspaceOf(session), agent),
        prompt,
        ...more,
      });
    },
    script: (session, replies) => scripts.set(session, replies),
    requestsOf: (session) => vendor.requests.filter(({ conversation }) => conversation === session),
  };
}

function createDefinition(session, vendor, workspace, { model = {}, ...agent }) {
  return {
    name: "chaos",
    systemPrompt: "You play.",
    tools: ["bash"],
    permissions: { otherwise: "allow" },
    nudges: { enabled: false },
    workspace,
    ...agent,
    model: {
      id: "scripted-model",
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: vendor.anthropicBaseUrl,
      apiKey: `\${${VENDOR_KEY.name}}`,
      contextWindow: 200_000,
      headers: { "x-conversation": session },
      ...model,
    },
  };
}

/** An answer that calls bash. */
export const createBashReply = (command) => ({ toolCalls: [{ name: "bash", arguments: { command } }] });

/** An answer that ends the run. */
export const DONE = { text: "Done." };

/**
 * How a run has ended, or that it has not: `{ status, outcome?, error?, gaveUp }`. `gaveUp` is how often `tryResult` left its
 * caller alone because the server was away.
 */
export async function waitForEnd(session, limitMs) {
  const signal = AbortSignal.timeout(limitMs);
  for (let gaveUp = 0; ; gaveUp += 1) {
    try {
      const { outcome, text } = await session.tryResult({ signal });
      return { status: "ended", outcome, text, gaveUp };
    } catch (error) {
      if (signal.aborted) return { status: "open", gaveUp };
      if (error.code !== "unreachable" && error.code !== "server-refused")
        return { status: "failed", error: { code: error.code, message: error.message }, gaveUp };
      await sleep(500);
    }
  }
}

/** The conversation as a judge reads it: `[{ role, text, isError?, calls? }]`. */
export async function readConversation(session) {
  return (await session.messages.list()).map(({ message }) => ({
    role: message.role,
    text: getText(message.content),
    ...(message.role === "toolResult" ? { isError: message.isError } : {}),
  }));
}

function getText(content) {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

/** Every file below a folder: `[{ path, bytes }]`. What vanishes meanwhile is left out. */
export function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((one) => {
    const path = join(one.parentPath ?? one.path, one.name);
    try {
      return one.isFile() ? [{ path, bytes: readFileSync(path) }] : [];
    } catch {
      return [];
    }
  });
}
