import type { FaultName } from "./fault.ts";
import type { ModelServerRequest, WireProtocol } from "./request.ts";

/** What has become of a request. */
export type RequestOutcome = "open" | "answered" | "faulted" | "aborted-by-client";

/** One request. A live view, which changes until the request is closed. */
export type RecordedRequest = {
  /** The number of the request, from 1. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  /** The protocol of the request. */
  readonly protocol: WireProtocol;
  /** The conversation that the request belongs to. */
  readonly conversation: string;
  /** The number of assistant messages in the request. */
  readonly turn: number;
  /** The model that the request names. */
  readonly model: string;
  /** Whether the request asks for a stream. */
  readonly stream: boolean;
  /** Undefined for old requests: see `keepBodies`. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Keys are masked. */
  readonly headers: Readonly<Record<string, string>>;
  /** A closed request that is still `open` was ended by the server's stop. */
  readonly outcome: RequestOutcome;
  /** The scripted fault, or the server's own reason for rejecting the request. */
  readonly fault: FaultName | "invalid-request" | "unauthorized" | "script-error" | undefined;
  /** The vendor's text for `invalid-request`. */
  readonly validationError: string | undefined;
  /** The gate at which the answer waits. */
  readonly waitingGate: string | undefined;
  /** The size of the body. */
  readonly bytesSent: number;
  /** When the response ended, in Unix milliseconds; `undefined` while it is open. */
  readonly closedAtMs: number | undefined;
};

/** How often one turn of one conversation was requested and answered. */
export type PaidTurn = {
  /** The name of the conversation. */
  readonly conversation: string;
  readonly turn: number;
  /** The number of requests. */
  readonly asked: number;
  /** The number of answers that were delivered completely. */
  readonly answered: number;
  /** The number of answers that a fault replaced or cut. */
  readonly faulted: number;
  /** The number of answers that the client did not wait for. */
  readonly aborted: number;
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type RequestWatcher = {
  readonly matches: (request: RecordedRequest) => boolean;
  readonly resolve: (request: RecordedRequest) => void;
};

export type LedgerOptions = {
  readonly keepBodies: number;
  readonly showSecrets: boolean;
  readonly onClosed?: ((request: RecordedRequest) => void) | undefined;
};

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #requests: Mutable<RecordedRequest>[] = [];
  readonly #turns = new Map<string, Mutable<PaidTurn>>();
  readonly #watchers = new Set<RequestWatcher>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  open(question: ModelServerRequest): RecordedRequest {
    const request: Mutable<RecordedRequest> = {
      number: this.#requests.length + 1,
      atMs: Date.now(),
      protocol: question.protocol,
      conversation: question.conversation,
      turn: question.turn,
      model: question.model,
      stream: question.stream,
      body: question.body,
      headers: this.#options.showSecrets ? question.headers : maskHeaders(question.headers),
      outcome: "open",
      fault: undefined,
      validationError: undefined,
      waitingGate: undefined,
      bytesSent: 0,
      closedAtMs: undefined,
    };
    this.#requests.push(request);
    const old = this.#requests[this.#requests.length - 1 - this.#options.keepBodies];
    if (old !== undefined) old.body = undefined;
    this.#getTurn(request).asked += 1;
    this.#notify(request);
    return request;
  }

  update(
    request: RecordedRequest,
    change: Partial<Pick<RecordedRequest, "fault" | "validationError" | "waitingGate">>,
  ): void {
    Object.assign(request, change);
    this.#notify(request);
  }

  addBytes(request: Mutable<RecordedRequest>, bytes: number): void {
    request.bytesSent += bytes;
  }

  /** Only the first call counts. */
  close(request: Mutable<RecordedRequest>, outcome: RequestOutcome): void {
    if (request.closedAtMs !== undefined) return;
    request.closedAtMs = Date.now();
    request.outcome = outcome;
    request.waitingGate = undefined;
    const turn = this.#getTurn(request);
    if (outcome === "answered") turn.answered += 1;
    else if (outcome === "faulted") turn.faulted += 1;
    else if (outcome === "aborted-by-client") turn.aborted += 1;
    this.#options.onClosed?.(request);
    this.#notify(request);
  }

  paid(): PaidTurn[] {
    return [...this.#turns.values()].map((turn) => ({ ...turn }));
  }

  clear(): void {
    this.#requests.length = 0;
    this.#turns.clear();
  }

  /** Waits for a request that `wants` accepts: an existing one, or the first that arrives or changes accordingly. */
  waitFor(matches: (request: RecordedRequest) => boolean, timeoutMs: number): Promise<RecordedRequest> {
    const existing = this.#requests.find(matches);
    if (existing !== undefined) return Promise.resolve(existing);
    return new Promise((resolve, reject) => {
      const watcher: RequestWatcher = {
        matches,
        resolve: (request) => {
          clearTimeout(timer);
          this.#watchers.delete(watcher);
          resolve(request);
        },
      };
      const timer = setTimeout(() => {
        this.#watchers.delete(watcher);
        reject(new Error(`No matching request within ${timeoutMs} ms. ${formatRequests(this.#requests)}`));
      }, timeoutMs);
      this.#watchers.add(watcher);
    });
  }

  #getTurn(request: RecordedRequest): Mutable<PaidTurn> {
    const { conversation, turn } = request;
    const key = `${turn} ${conversation}`;
    let counts = this.#turns.get(key);
    if (counts === undefined) {
      counts = { conversation, turn, asked: 0, answered: 0, faulted: 0, aborted: 0 };
      this.#turns.set(key, counts);
    }
    return counts;
  }

  #notify(request: RecordedRequest): void {
    for (const watcher of [...this.#watchers]) if (watcher.matches(request)) watcher.resolve(request);
  }
}

const SECRET_HEADERS = new Set([
  "x-goog-api-key",
  "authorization",
  "x-api-key",
  "api-key",
  "x-amz-security-token",
]);

function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADERS.has(name) ? "***" : value]),
  );
}

/** How many of the newest requests an error lists. */
const MAX_DESCRIBED = 10;

function formatRequests(requests: readonly RecordedRequest[]): string {
  const newest = requests
    .slice(-MAX_DESCRIBED)
    .map((one) => `#${one.number} turn ${one.turn} ${one.outcome} (${one.conversation})`);
  return requests.length === 0
    ? "There were no requests."
    : `Newest of ${requests.length}: ${newest.join("; ")}`;
}
