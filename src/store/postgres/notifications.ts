import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { computePauseMs, randomisePauseMs } from "../../platform/async/back-off.ts";
import { raceTimeout } from "../../platform/async/race.ts";
import { buildConnectionConfig, destroyClient } from "./connection-pool.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

const BACK_OFF = { firstMs: 100, longestMs: 5_000 };
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
    for (let failures = 1; !signal.aborted; failures += 1) {
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
        failures = 1;
        await this.#waitUntilLost(client, lost);
      } catch {
        // The connection is restored below.
      } finally {
        this.#isDisconnected = true;
        destroyClient(client);
      }
      this.#wakeAll();
      const pauseMs = randomisePauseMs(computePauseMs(BACK_OFF, failures));
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #waitUntilLost(client: pg.Client, lost: Promise<void>): Promise<void> {
    let isLost = false;
    const over = lost.then(() => {
      isLost = true;
    });
    while (!isLost) {
      await raceTimeout(over, PING_MS);
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
