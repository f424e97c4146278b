import type { Transcript } from "../../../src/store/transcript/transcript.ts";

type Method = "openLoop" | "closeLoop" | "claim" | "store" | "storeInbox";

/** A moment of one write of one session: before it reaches the store, or after it was stored and before the reply. */
export type WriteBlock = {
  /** Resolves when a write is blocked here. */
  readonly arrived: Promise<void>;
  readonly release: () => void;
};

type BlockRule = {
  session: string;
  method: Method;
  when: "before" | "after";
  kind: string | undefined;
  arrive: () => void;
  released: Promise<void>;
};

/** A transcript whose writes a test can block, each once. */
export class BlockingTranscript {
  readonly #rules: BlockRule[] = [];

  wrap = (inner: Transcript): Transcript => {
    const held =
      (method: Method) =>
      async (argument: never, ...rest: never[]) => {
        const { session, kind } = getStep(argument);
        await this.#waitForRelease(session, method, "before", kind);
        const answer = await (inner[method] as (...all: unknown[]) => Promise<unknown>)(argument, ...rest);
        await this.#waitForRelease(session, method, "after", kind);
        return answer;
      };
    const methods = new Map<PropertyKey, unknown>(
      (["openLoop", "closeLoop", "claim", "store", "storeInbox"] as const).map((name) => [name, held(name)]),
    );
    return new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = methods.get(name) ?? Reflect.get(target, name);
        return typeof value === "function" && !methods.has(name) ? value.bind(target) : value;
      },
    });
  };

  /** @param kind - Of the step: `model`, the tool's name; any when absent. */
  block(session: string, when: "before" | "after", method: Method, kind?: string): WriteBlock {
    let arrive: () => void = () => undefined;
    let release: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#rules.push({ session, method, when, kind, arrive, released });
    return { arrived, release };
  }

  async #waitForRelease(
    session: string,
    method: Method,
    when: BlockRule["when"],
    kind: string,
  ): Promise<void> {
    const index = this.#rules.findIndex(
      (rule) =>
        rule.session === session &&
        rule.method === method &&
        rule.when === when &&
        (rule.kind === undefined || rule.kind === kind),
    );
    const [rule] = index === -1 ? [] : this.#rules.splice(index, 1);
    if (rule === undefined) return;
    rule.arrive();
    await rule.released;
  }
}

function getStep(argument: { step?: { session: string; kind: string }; session?: string; kind?: string }) {
  return (argument.step ?? argument) as { session: string; kind: string };
}
