import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { buildConnectionConfig, destroyClient } from "./connection-pool.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

const PAUSE_MS = { first: 100, longest: 5_000 };
/** The interval of pings: a silent connection may be broken without notice. */
const PING_MS = 10_000;
/** The poll interval of subscribers if listening is off. */
const FALLBACK_POLL_MS = 1_000;
const LIMITS = { statementMs: 5_000, lockMs: 0, idleMs: 0 };

/**
 * Wakes the subscribers of a topic, over one connection for all of them, as long as there are any.
 *
 * Notifications can be lost while the connection is restored: then all subscribers are woken.
 */
export class Notifications {
  readonly #target: DatabaseTarget;
  readonly #channel: string;
  readonly #listeners = new Map<string, Set<() => void>>();
  #listening: AbortController | undefined;
  /** Whether there is currently no listening connection. */
  #isDisconnected = true;

  constructor(target: DatabaseTarget, channel: string) {
    this.#target = target;
    this.#channel = channel;
  }

  /** Subscribes to a topic. Returns a function that ends the subscription. */
  subscribe(topic: string, wake: () => void): () => void {
    const wakers = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, wakers.add(wake));
    if (this.#listening === undefined) {
      this.#listening = new AbortController();
      void this.#listen(this.#listening.signal);
    }
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.#listeners.get(topic) === wakers) this.#listeners.delete(topic);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const poll = setInterval(() => {
      if (this.#isDisconnected) this.#wakeAll();
    }, FALLBACK_POLL_MS);
    signal.addEventListener("abort", () => clearInterval(poll), { once: true });
    if (!this.#target.usesNotifications) return;
    for (let pauseMs = PAUSE_MS.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest)) {
      const client = new pg.Client(buildConnectionConfig(this.#target, LIMITS));
      const lost = new Promise<void>((resolve) => {
        client.on("error", () => resolve());
        client.once("end", () => resolve());
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      client.on("notification", ({ payload }) => this.#wake(payload ?? ""));
      try {
        await client.connect();
        await client.query(`LISTEN ${quoteIdentifier(this.#channel)}`);
        this.#isDisconnected = false;
        this.#wakeAll();
        pauseMs = PAUSE_MS.first;
        await this.#waitUntilLost(client, lost);
      } catch {
        // The connection is restored below.
      } finally {
        this.#isDisconnected = true;
        destroyClient(client);
      }
      this.#wakeAll();
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  async #waitUntilLost(client: pg.Client, lost: Promise<void>): Promise<void> {
    let isLost = false;
    const over = lost.then(() => {
      isLost = true;
    });
    while (!isLost) {
      const pause = new AbortController();
      await Promise.race([over, sleep(PING_MS, undefined, { signal: pause.signal }).catch(() => undefined)]);
      pause.abort();
      if (!isLost) await client.query("SELECT 1");
    }
  }

  #wake(topic: string): void {
    for (const wake of this.#listeners.get(topic) ?? []) wake();
  }

  #wakeAll(): void {
    for (const wakers of this.#listeners.values()) for (const wake of wakers) wake();
  }
}
