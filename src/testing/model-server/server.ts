import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handleControl } from "./control.ts";
import { Gates } from "./gates.ts";
import { Ledger, type PaidTurn, type RecordedRequest } from "./ledger.ts";
import { PromptCache } from "./prompt-cache.ts";
import { ReplySelector, type Respond } from "./reply-selector.ts";
import { type ModelScript, parseScript } from "./script.ts";
import { type Counter, handleRequest } from "./serve.ts";

/** A script, and how the server runs. */
export type ModelServerOptions = ModelScript & {
  /** Called before the script; if it returns undefined, the script answers. */
  readonly respond?: Respond | undefined;
  /** A free port by default. */
  readonly port?: number | undefined;
  /** How many of the newest request bodies stay in memory; 1,000 by default. */
  readonly keepBodies?: number | undefined;
  /** Whether keys stay readable in `requests`. */
  readonly showSecrets?: boolean | undefined;
  /** Called for every request when it ends. */
  readonly onClosed?: ((request: RecordedRequest) => void) | undefined;
};

/** A model vendor with several protocols on 127.0.0.1, which answers from a script and counts requests. */
export type ModelServer = {
  /** Without a trailing slash. */
  readonly url: string;
  /** The base URL for a model with Anthropic's protocol. */
  readonly anthropicBaseUrl: string;
  /** Ends in `/v1`, as OpenAI's does, and serves both of its protocols. Azure's paths to the newer one begin at `url`. */
  readonly openaiBaseUrl: string;
  /** The base URL for a model with Bedrock's protocol. */
  readonly bedrockBaseUrl: string;
  /** The base URL for a model with Gemini's protocol. */
  readonly googleBaseUrl: string;
  /** Includes a project and a location. */
  readonly vertexBaseUrl: string;
  /** The requests so far, in the order of their arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Replaces the script and resets the used faults. @throws ScriptError If it is invalid; the old one stays. */
  script(script: ModelScript): void;
  /** Opens a gate for the answers that wait there and for all later ones. */
  release(gate: string): void;
  /** Closes a released gate. */
  hold(gate: string): void;
  /** Waits for the n-th request, or for the first that satisfies the predicate. Rejects after 10 s by default. */
  waitForRequest(
    which: number | ((request: RecordedRequest) => boolean),
    options?: {
      /** How long to wait, in milliseconds; 10,000 by default. */
      readonly timeoutMs?: number;
    },
  ): Promise<RecordedRequest>;
  /** Resolves when an answer waits at the gate. */
  waitForHold(
    gate: string,
    options?: {
      /** How long to wait, in milliseconds; 10,000 by default. */
      readonly timeoutMs?: number;
    },
  ): Promise<RecordedRequest>;
  /** Returns the counts of every turn of every conversation. */
  paid(): PaidTurn[];
  /** Counts the answers that were delivered completely. */
  answersPaid(): number;
  /** Counts the delivered answers that were not the first of their turn. */
  answersRepaid(): number;
  /** Clears requests, counts and used faults; the script stays. */
  reset(): void;
  /** Stops the server and closes every connection. */
  stop(): Promise<void>;
};

const DEFAULT_KEEP_BODIES = 1_000;
const DEFAULT_WAIT_MS = 10_000;
/** Longer than a client's pool keeps a connection, so that the server never closes one first. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts a server that answers like a vendor, from a script. It listens on the loopback interface only.
 *
 * @throws ScriptError If the script is invalid.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { respond, port, keepBodies, showSecrets, onClosed, ...script } = options;
  let desk = new ReplySelector(parseScript(script), respond);
  const gates = new Gates();
  const ledger = new Ledger({
    keepBodies: keepBodies ?? DEFAULT_KEEP_BODIES,
    showSecrets: showSecrets ?? false,
    onClosed,
  });
  const counter: Counter = { answers: 0, stopping: false };
  let promptCache = new PromptCache();
  const server = createServer((request, response) => {
    const done = request.url?.startsWith("/__")
      ? handleControl(modelServer, request, response)
      : handleRequest(request, response, { selector: desk, gates, ledger, counter, promptCache });
    done.catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port ?? 0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const modelServer: ModelServer = {
    url,
    anthropicBaseUrl: url,
    openaiBaseUrl: `${url}/v1`,
    bedrockBaseUrl: url,
    googleBaseUrl: url,
    vertexBaseUrl: `${url}/v1/projects/test/locations/global`,
    requests: ledger.requests,
    script: (next) => {
      desk = new ReplySelector(parseScript(next), respond);
    },
    release: (gate) => gates.release(gate),
    hold: (gate) => gates.hold(gate),
    waitForRequest: (which, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      ledger.waitFor(typeof which === "number" ? (request) => request.number === which : which, timeoutMs),
    waitForHold: (gate, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      ledger.waitFor((request) => request.waitingGate === gate, timeoutMs),
    paid: () => ledger.paid(),
    answersPaid: () => ledger.paid().reduce((sum, turn) => sum + turn.answered, 0),
    answersRepaid: () => ledger.paid().reduce((sum, turn) => sum + Math.max(0, turn.answered - 1), 0),
    reset: () => {
      ledger.clear();
      promptCache = new PromptCache();
      desk = new ReplySelector(desk.script, respond);
    },
    stop: () => {
      counter.stopping = true;
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return modelServer;
}
