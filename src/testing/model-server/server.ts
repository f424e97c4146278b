import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handleControl } from "./control.ts";
import { Gates } from "./gates.ts";
import { Ledger, type PaidTurn, type RecordedRequest } from "./ledger.ts";
import { PromptCache } from "./prompt-cache.ts";
import { ReplySelector, type Respond } from "./reply-selector.ts";
import { ModelScript } from "./script.ts";
import { type Counter, handleRequest } from "./serve.ts";

export type ModelServerOptions = ModelScript & {
  /** Asked before the script; undefined leaves the answer to the script. */
  readonly respond?: Respond | undefined;
  /** A free one unless said. */
  readonly port?: number | undefined;
  /** How many of the newest request bodies stay in memory; 1,000 unless said. */
  readonly keepBodies?: number | undefined;
  /** Keys stay readable in `requests`. */
  readonly showSecrets?: boolean | undefined;
  /** Told of every request when it is over. */
  readonly onClosed?: ((request: RecordedRequest) => void) | undefined;
};

/** A model vendor of several protocols on 127.0.0.1, which says what a script tells it to say, and counts. */
export type ModelServer = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly anthropicBaseUrl: string;
  /** Ends in `/v1`, as OpenAI's does. Of both of its protocols; Azure's ways to the newer one begin at `url`. */
  readonly openaiBaseUrl: string;
  readonly bedrockBaseUrl: string;
  readonly googleBaseUrl: string;
  /** With a project and a location. */
  readonly vertexBaseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Replaces the script and forgets which faults were used. */
  script(script: ModelScript): void;
  /** Opens a gate, for the answers that wait there and for all that come. */
  release(gate: string): void;
  /** Closes a gate that was released. */
  hold(gate: string): void;
  /** The n-th request, or the first that is or becomes as the predicate wants it. Rejects after 10 s unless said. */
  waitForRequest(
    which: number | ((request: RecordedRequest) => boolean),
    options?: { readonly timeoutMs?: number },
  ): Promise<RecordedRequest>;
  /** Resolves when an answer waits at the gate. */
  waitForHold(gate: string, options?: { readonly timeoutMs?: number }): Promise<RecordedRequest>;
  /** Counts of every turn of every conversation. */
  paid(): PaidTurn[];
  /** Answers that were delivered completely. */
  answersPaid(): number;
  /** Those of them that were not the first of their turn. */
  answersRepaid(): number;
  /** Forgets requests, counts and used faults; the script stays. */
  reset(): void;
  /** Ends every connection. */
  stop(): Promise<void>;
};

const DEFAULT_KEEP_BODIES = 1_000;
const DEFAULT_WAIT_MS = 10_000;
/** Longer than a client's pool keeps a connection, so that it is never the server that closes one. */
const KEEP_ALIVE_MS = 120_000;

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { respond, port, keepBodies, showSecrets, onClosed, ...script } = options;
  let desk = new ReplySelector(ModelScript.parse(script), respond);
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
      : handleRequest(request, response, { desk, gates, ledger, counter, promptCache });
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
      desk = new ReplySelector(ModelScript.parse(next), respond);
    },
    release: (gate) => gates.release(gate),
    hold: (gate) => gates.hold(gate),
    waitForRequest: (which, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      ledger.waitFor(typeof which === "number" ? (request) => request.number === which : which, timeoutMs),
    waitForHold: (gate, { timeoutMs = DEFAULT_WAIT_MS } = {}) =>
      ledger.waitFor((request) => request.heldAt === gate, timeoutMs),
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
