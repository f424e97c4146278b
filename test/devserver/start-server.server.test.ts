import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Connection } from "@temporalio/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  findMissingSearchAttributes,
  registerSearchAttributes,
} from "../../src/client/connection/search-attributes.ts";
import { findSearchAttributeGaps } from "../../src/config/search-attribute-gaps.ts";
import type { DevServer } from "../../src/devserver/dev-server.ts";
import { findFreePort } from "../../src/devserver/find-free-port.ts";
import { findServer } from "../../src/devserver/find-server.ts";
import { findReadinessProblem, isListening } from "../../src/devserver/server-readiness.ts";
import { ServerStartError } from "../../src/devserver/server-start-error.ts";
import { startDevServer } from "../../src/devserver/start-server.ts";
import { SEARCH_ATTRIBUTES } from "../../src/schema/search-attributes.ts";
import { thoroughTest } from "../support/test-depth.ts";

const BUILT = resolve(import.meta.dirname, "../../dist/devserver/start-server.js");

let folder: string;
const undo: (() => unknown)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-start-"));
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await rm(folder, { recursive: true, force: true });
});

async function started(options: Parameters<typeof startDevServer>[0]): Promise<DevServer> {
  const server = await startDevServer(options);
  undo.push(() => server.stop());
  return server;
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

async function occupied(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  undo.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

thoroughTest(
  "an ephemeral server listens on loopback with our search attributes and leaves nothing behind",
  async () => {
    const server = await started({ ephemeral: true });
    expect(server).toMatchObject({ namespace: "default", alreadyRunning: false });
    expect(server.address).toMatch(/^127\.0\.0\.1:\d+$/);
    const connection = await Connection.connect({ address: server.address });
    undo.push(() => connection.close());
    expect(await findSearchAttributeGaps(connection, "default")).toEqual({ missing: [], wrongType: [] });
    expect((await fetch(server.uiUrl ?? "")).status).toBe(200);
    const home = dirname(server.logFile ?? "");
    expect(existsSync(home)).toBe(true);

    await server.stop();
    expect(existsSync(home)).toBe(false);
    expect(await isListening("127.0.0.1", portOf(server.address))).toBe(false);
  },
);

test("a server that must keep its ports does not start while another program has one of them", async () => {
  const [free, taken] = [await findFreePort(0), await occupied()];
  for (const ports of [
    { port: taken, uiPort: free },
    { port: free, uiPort: taken },
  ]) {
    const start = startDevServer({ dataDir: folder, ...ports, samePorts: true });
    await expect(start).rejects.toThrow(`port ${ports.port} or ${ports.uiPort} is taken by another program`);
  }
});

thoroughTest("occupied ports are avoided", async () => {
  const [port, uiPort] = [await occupied(), await occupied()];
  const server = await started({ dataDir: folder, port, uiPort });
  expect(portOf(server.address)).not.toBe(port);
  expect(server.uiUrl).not.toContain(`:${uiPort}`);
  expect(
    await findReadinessProblem({ address: server.address, namespace: "default" }, 5_000),
  ).toBeUndefined();
});

thoroughTest("a second start on the same folder joins the first and does not end it", async () => {
  const first = await started({ dataDir: folder, port: 0, uiPort: 0, namespace: "house" });
  const second = await startDevServer({ dataDir: folder, port: 0, uiPort: 0, namespace: "house" });
  expect(second).toMatchObject({ address: first.address, uiUrl: first.uiUrl, alreadyRunning: true });
  await second.stop();
  expect(await findReadinessProblem({ address: first.address, namespace: "house" }, 5_000)).toBeUndefined();
});

test("two simultaneous starts on one folder result in one server", async () => {
  const options = { dataDir: folder, port: 0, uiPort: 0 };
  const servers = await Promise.all([started(options), started(options)]);
  expect(servers.map(({ alreadyRunning }) => alreadyRunning).sort()).toEqual([false, true]);
  expect(servers[0].address).toBe(servers[1].address);
});

test("a healthy server at the specified address is joined", async () => {
  const running = await started({ ephemeral: true });
  const joined = await started({ dataDir: folder, port: portOf(running.address) });
  expect(joined).toMatchObject({ address: running.address, alreadyRunning: true });
});

thoroughTest("its data survives a restart, and so do both logs", async () => {
  const options = { dataDir: folder, port: 0, uiPort: 0 };
  const first = await started(options);
  const connection = await Connection.connect({ address: first.address });
  await connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: { Kept: 2 },
  });
  await connection.close();
  await first.stop();
  expect(await readFile(join(folder, "temporal-server.log"), "utf8")).toContain("Temporal");

  const second = await started(options);
  expect(second.alreadyRunning).toBe(false);
  const attributes = ["Kept"];
  expect(
    await findReadinessProblem({ address: second.address, namespace: "default", attributes }, 5_000),
  ).toBeUndefined();
  expect(existsSync(join(folder, "temporal-server.log.previous"))).toBe(true);
});

test("a server that ends by itself is reported with its own output", async () => {
  const binary = join(folder, "temporal");
  const says =
    'case "$1" in --version) echo "temporal version 9 (Server 9.0.0)";; *) echo "no such table"; exit 3;; esac';
  await writeFile(binary, `#!/bin/sh\n${says}\n`);
  await chmod(binary, 0o755);
  const error = await startDevServer({ dataDir: folder, port: 0, uiPort: 0, find: { path: binary } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ServerStartError);
  expect((error as ServerStartError).facts.logTail).toBe("no such table");
  expect((error as Error).message).toContain("ended by itself");
});

thoroughTest.each(["in a folder", "ephemeral"])(
  "a server %s that ends because a port of its own services was taken is started again",
  async (kind) => {
    const binary = join(folder, "temporal");
    const { path: real } = await findServer();
    await writeFile(
      binary,
      `#!/bin/sh
       if [ "$1" = server ] && [ ! -e "${folder}/taken" ]; then
         touch "${folder}/taken"
         echo "panic: listen tcp 127.0.0.1:40001: bind: address already in use"
         printf 'at a long stack %4000s\\n' end
         exit 2
       fi
       exec "${real}" "$@"\n`,
    );
    await chmod(binary, 0o755);
    const where =
      kind === "ephemeral" ? { ephemeral: true as const } : { dataDir: folder, port: 0, uiPort: 0 };
    const server = await started({ ...where, find: { path: binary } });
    expect(existsSync(join(folder, "taken"))).toBe(true);
    expect(
      await findReadinessProblem({ address: server.address, namespace: "default" }, 5000),
    ).toBeUndefined();
  },
);

thoroughTest("a server that never becomes ready is abandoned and ended after the time limit", async () => {
  const binary = join(folder, "temporal");
  const pid = join(folder, "pid");
  const says = `case "$1" in --version) echo "temporal version 9 (Server 9.0.0)";; *) echo $$ > ${pid}; exec sleep 600;; esac`;
  await writeFile(binary, `#!/bin/sh\n${says}\n`);
  await chmod(binary, 0o755);
  const options = { dataDir: folder, port: 0, uiPort: 0, startTimeoutMs: 500, find: { path: binary } };
  await expect(startDevServer(options)).rejects.toThrow(/not ready after 0\.5 s/);
  const server = Number(await readFile(pid, "utf8"));
  expect(() => process.kill(server, 0)).toThrow("ESRCH");
});

/** A separate process that starts a temporary server, prints its address, and then runs `ending`. */
async function owner(ending: string): Promise<{ child: ChildProcess; address: string; home: string }> {
  const file = join(folder, "owner.mjs");
  await writeFile(
    file,
    `import { startDevServer } from ${JSON.stringify(pathToFileURL(BUILT).href)};
     const { address, logFile } = await startDevServer({ ephemeral: true });
     process.stdin.once("data", () => { ${ending} });
     process.stdout.write(JSON.stringify({ address, logFile }) + "\\n");`,
  );
  const child = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "ignore"] });
  undo.push(() => child.kill("SIGKILL"));
  const line = await new Promise<string>((settle, fail) => {
    child.stdout.once("data", (chunk: Buffer) => settle(chunk.toString()));
    child.once("exit", (code) => fail(new Error(`the owner ended with ${code}`)));
  });
  const { address, logFile } = JSON.parse(line) as { address: string; logFile: string };
  return { child, address, home: dirname(logFile) };
}

thoroughTest.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "the server ends when its owner gets %s",
  async (signal) => {
    const { child, address, home } = await owner("");
    expect(await isListening("127.0.0.1", portOf(address))).toBe(true);
    child.kill(signal);
    await expect.poll(() => isListening("127.0.0.1", portOf(address))).toBe(false);
    await expect.poll(() => existsSync(home)).toBe(false);
  },
);

thoroughTest.each([
  ["an uncaught error", "throw new Error('bug')"],
  ["process.exit", "process.exit(7)"],
])("the server ends when its owner ends by %s", async (_name, ending) => {
  const { child, address, home } = await owner(ending);
  child.stdin?.write("now\n");
  await expect.poll(() => isListening("127.0.0.1", portOf(address))).toBe(false);
  await expect.poll(() => existsSync(home)).toBe(false);
});

thoroughTest("missing search attributes are found and registered once", async () => {
  const server = await started({ ephemeral: true });
  const connection = await Connection.connect({ address: server.address });
  undo.push(() => connection.close());
  const namespace = "bare";
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as unknown as never },
  });
  await expect
    .poll(() => findReadinessProblem({ address: server.address, namespace }, 5_000))
    .toBeUndefined();
  expect(await findMissingSearchAttributes(connection, namespace)).toEqual(Object.keys(SEARCH_ATTRIBUTES));
  await expect
    .poll(() => registerSearchAttributes(connection, namespace).catch((error: unknown) => error))
    .toBeInstanceOf(Array);
  await expect.poll(() => findMissingSearchAttributes(connection, namespace)).toEqual([]);
  expect(await registerSearchAttributes(connection, namespace)).toEqual([]);
});
