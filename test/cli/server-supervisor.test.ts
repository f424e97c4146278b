import { expect, test } from "vitest";
import {
  describeServerEvent,
  type ServerEvent,
  ServerSupervisor,
  type SupervisedServerOptions,
} from "../../src/apps/cli/server-supervisor.ts";
import type { DevServer } from "../../src/devserver/dev-server.ts";

/** Servers that end when the test says so, and starts that fail a given number of times. */
function servers(failures: number) {
  const asked: SupervisedServerOptions[] = [];
  const ends: ((how: string) => void)[] = [];
  let stopped = 0;
  const start = async (options: SupervisedServerOptions): Promise<DevServer> => {
    asked.push(options);
    if (asked.length > 1 && asked.length <= 1 + failures) throw new Error("the disk is full");
    const ended = new Promise<string>((resolve) => ends.push(resolve));
    return {
      address: "127.0.0.1:7300",
      namespace: "default",
      uiUrl: "http://127.0.0.1:8300",
      alreadyRunning: false,
      waitUntilEnded: (signal) =>
        Promise.race([
          ended,
          new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
        ]),
      stop: async () => {
        stopped += 1;
      },
    };
  };
  return { asked, end: (how: string) => ends.at(-1)?.(how), start, stopped: () => stopped };
}

/** The events of a supervisor, and a wait for the one of a type. */
function heard() {
  const events: ServerEvent[] = [];
  const waiting = new Map<string, () => void>();
  return {
    events,
    tell: (event: ServerEvent) => {
      events.push(event);
      waiting.get(event.type)?.();
    },
    next: (type: ServerEvent["type"]) => new Promise<void>((resolve) => waiting.set(type, resolve)),
  };
}

test("a server that ends by itself is reported and started again on the same ports", async () => {
  const { asked, end, start, stopped } = servers(0);
  const { events, tell, next } = heard();
  const keeper = await ServerSupervisor.start({ dataDir: "/d" }, tell, start);
  const again = next("server-restarted");
  end("by SIGKILL");
  await again;
  await keeper.stop();
  expect(asked[1]).toEqual({ dataDir: "/d", port: 7300, uiPort: 8300, samePorts: true });
  expect(events.map(({ type }) => type)).toEqual(["server-ended", "server-restarted"]);
  expect(describeServerEvent(events[0]!)).toMatch(/ended by SIGKILL; starting another immediately/);
  expect(stopped()).toBe(1);
});

test("starts that fail are retried with growing delays, and the same reason is reported once", async () => {
  const { asked, end, start } = servers(2);
  const { events, tell, next } = heard();
  const keeper = await ServerSupervisor.start({ dataDir: "/d" }, tell, start);
  const again = next("server-restarted");
  end("with code 1");
  await again;
  await keeper.stop();
  expect(asked).toHaveLength(4);
  expect(events.map(({ type }) => type)).toEqual(["server-ended", "server-start-failed", "server-restarted"]);
  expect(events[1]).toMatchObject({ reason: "the disk is full", restartInMs: 500 });
});

test("a supervisor that is stopped while it waits for a restart starts nothing more", async () => {
  const { asked, end, start } = servers(100);
  const { tell, next } = heard();
  const keeper = await ServerSupervisor.start({ dataDir: "/d" }, tell, start);
  const failed = next("server-start-failed");
  end("with code 1");
  await failed;
  await keeper.stop();
  const starts = asked.length;
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(starts);
});
