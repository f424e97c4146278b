import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "node:net";

// A sandbox has a network of its own, in which only its loopback address exists. A short-lived process enters this network
// from outside, opens a listening socket on the loopback address, and hands the socket to this process. A socket belongs to
// the network in which it was opened, so this process then accepts the sandbox's connections itself: nothing of the host is
// inside, no process remains that could die or be signalled, and no path exists that other programs could connect to. When
// the sandbox or this process ends, the socket is gone.

/** Loopback may not be up yet when the process enters. The end of the channel is the end of the worker. */
const LISTENER_SCRIPT = `
const { createServer } = require("node:net");
process.once("disconnect", () => process.exit(1));
const giveUpAt = performance.now() + 5000;
const listen = () => {
  const server = createServer();
  server.once("error", (error) => {
    if (error.code !== "EADDRNOTAVAIL" || performance.now() > giveUpAt) throw error;
    setTimeout(listen, 1);
  });
  server.listen(Number(process.argv[1]), "127.0.0.1", () => {
    process.send("listening", server, () => process.exit(0));
  });
};
listen();
`;

/** Two programs start. */
const TIMEOUT_MS = 10_000;

export type ListenerTarget = {
  /** A process in the network, outside of this process's own. It must be held back until the socket is open. */
  readonly pid: number;
  readonly port: number;
  /** The program that enters namespaces, of util-linux. */
  readonly nsenter: string;
  /** The environment of the process, by which it can be found. */
  readonly env: Readonly<Record<string, string>>;
};

/**
 * Opens a listening socket on 127.0.0.1 in the network of another process. The user namespace of that process must be the
 * one that owns the network: an ordinary user has the right to enter only there.
 */
export async function openListener({ pid, port, nsenter, env }: ListenerTarget): Promise<Server> {
  const child = spawn(
    nsenter,
    [
      `--user=/proc/${pid}/ns/user`,
      "--preserve-credentials",
      `--net=/proc/${pid}/ns/net`,
      ...[process.execPath, "-e", LISTENER_SCRIPT, String(port)],
    ],
    { cwd: "/", env: { ...env }, stdio: ["ignore", "ignore", "pipe", "ipc"] },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  try {
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-2000);
    });
    const received = new Promise<Server | undefined>((resolve) => {
      child.once("message", (_message, handle) => resolve(handle as Server));
      child.once("close", () => resolve(undefined));
      child.once("error", (error) => {
        stderr += error.message;
        resolve(undefined);
      });
    });
    const server = await received;
    if (server === undefined) throw new Error(`No socket in the sandbox's network: ${stderr.trim()}`);
    return server;
  } finally {
    clearTimeout(timer);
    await endChild(child);
  }
}

async function endChild(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
