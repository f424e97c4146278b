import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionConfig, destroy } from "./connections.ts";
import { quoted } from "./quoted.ts";
import type { DatabaseTarget } from "./target.ts";

const PAUSE_MS = { first: 100, longest: 5_000 };
/** A connection over which nothing comes may have been cut without a word. */
const PING_MS = 10_000;
/** Where nobody listens, who waits looks by himself this often. */
const BLIND_LOOK_MS = 1_000;
const LIMITS = { statementMs: 5_000, lockMs: 0, idleMs: 0 };

/**
 * Wakes those who wait for news of a topic, over one connection for all of them, as long as there are any.
 *
 * News may be missed while the connection is being made again: then everybody is woken.
 */
export class Notifications {
  readonly #target: DatabaseTarget;
  readonly #channel: string;
  readonly #wakers = new Map<string, Set<() => void>>();
  #listening: AbortController | undefined;
  /** Nobody listens at the moment. */
  #isBlind = true;

  constructor(target: DatabaseTarget, channel: string) {
    this.#target = target;
    this.#channel = channel;
  }

  /** Gives the way to end it. */
  on(topic: string, wake: () => void): () => void {
    const wakers = this.#wakers.get(topic) ?? new Set();
    this.#wakers.set(topic, wakers.add(wake));
    if (this.#listening === undefined) {
      this.#listening = new AbortController();
      void this.#listen(this.#listening.signal);
    }
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.#wakers.get(topic) === wakers) this.#wakers.delete(topic);
      if (this.#wakers.size === 0) this.close();
    };
  }

  close(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const look = setInterval(() => {
      if (this.#isBlind) this.#wakeAll();
    }, BLIND_LOOK_MS);
    signal.addEventListener("abort", () => clearInterval(look), { once: true });
    if (!this.#target.listens) return;
    for (let pauseMs = PAUSE_MS.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest)) {
      const client = new pg.Client(connectionConfig(this.#target, LIMITS));
      const lost = new Promise<void>((resolve) => {
        client.on("error", () => resolve());
        client.once("end", () => resolve());
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      client.on("notification", ({ payload }) => this.#wake(payload ?? ""));
      try {
        await client.connect();
        await client.query(`LISTEN ${quoted(this.#channel)}`);
        this.#isBlind = false;
        this.#wakeAll();
        pauseMs = PAUSE_MS.first;
        await this.#untilLost(client, lost);
      } catch {
        // It is made again below.
      } finally {
        this.#isBlind = true;
        destroy(client);
      }
      this.#wakeAll();
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  async #untilLost(client: pg.Client, lost: Promise<void>): Promise<void> {
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
    for (const wake of this.#wakers.get(topic) ?? []) wake();
  }

  #wakeAll(): void {
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake();
  }
}
