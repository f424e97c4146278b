import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UNSAFE_LOG } from "./job.mjs";

const LOOK_EVERY_MS = 20;

/** Pieces of output behind the unsafe command's own mark: then it is in its middle. */
const PIECES_BEFORE_STRIKE = 2;

/**
 * Watches for the two worst moments, kills the worker there, and takes the time until another one goes on.
 *
 * Once in the middle of a model's stream, once in the middle of the command that must not run twice.
 */
export class Striker {
  #parts;
  #streams = new Map();
  #pieces = 0;
  #struck = new Set();
  #busy = false;
  #fail;
  recoveries = [];
  /** Rejects when a strike goes wrong. */
  failed = new Promise((_, reject) => {
    this.#fail = reject;
  });

  /** @param parts - `{ session, transcript, keeper, strike, workspace, onKill, onRecovery }` */
  constructor(parts) {
    this.#parts = parts;
    this.failed.catch(() => {});
  }

  take(item) {
    if (item.type !== "delta" || this.#busy) return;
    if (!this.#struck.has("model") && this.#inStream(item.delta)) this.#strike("model");
    else if (!this.#struck.has("tool") && this.#inCommand(item.delta)) this.#strike("tool");
  }

  #inStream({ body, turn, command, generation, attempt }) {
    const { strike } = this.#parts;
    if (!["text", "thinking", "tool-call"].includes(body.type) || turn < strike.turn) return false;
    const key = `${command} ${generation} ${attempt}`;
    const characters = (this.#streams.get(key) ?? 0) + body.text.length;
    this.#streams.set(key, characters);
    return characters >= strike.characters;
  }

  #inCommand({ body }) {
    if (body.type !== "tool-output" || body.toolName !== "bash") return false;
    const marked = statSync(join(this.#parts.workspace, UNSAFE_LOG), { throwIfNoEntry: false });
    if (marked === undefined || marked.size === 0) return false;
    this.#pieces += 1;
    return this.#pieces >= PIECES_BEFORE_STRIKE;
  }

  #strike(where) {
    this.#struck.add(where);
    this.#busy = true;
    this.#carryOut(where).then(
      () => {
        this.#busy = false;
      },
      (error) => this.#fail(error),
    );
  }

  async #carryOut(where) {
    const { keeper, onKill, onRecovery } = this.#parts;
    const kill = await keeper.kill();
    const recovery = { where, worker: kill.number, killedAtMs: kill.atMs, ms: null };
    this.recoveries.push(recovery);
    const [claim] = await Promise.all([this.#nextClaim(kill), onKill(where, kill)]);
    recovery.ms = claim.startedAtMs - kill.atMs;
    onRecovery(recovery, claim);
  }

  /** The first step that another process has taken since the kill. */
  async #nextClaim(kill) {
    const { transcript, session } = this.#parts;
    for (;;) {
      const claims = (await transcript.steps(session))
        .filter(({ process, startedAtMs }) => process !== kill.id && startedAtMs >= kill.atMs)
        .sort((a, b) => a.startedAtMs - b.startedAtMs);
      if (claims.length > 0) return claims[0];
      await delay(LOOK_EVERY_MS);
    }
  }
}
