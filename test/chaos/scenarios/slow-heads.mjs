import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createFinding } from "../findings.mjs";
import { openAgents } from "../parts/agents.mjs";
import { eventually } from "../parts/eventually.mjs";
import { startHoldfast } from "../parts/holdfast-process.mjs";

const SOCKETS = 256;
/** `serve` closes what has not sent its head within ten seconds; three more are for the closing. */
const PATIENCE_MS = 13_000;

export default {
  name: "slow-heads",
  plays: "256 connections to `holdfast serve` send the head of a request a letter at a time.",
  promise: "Others are answered meanwhile, and after its ten seconds none of the slow ones is held any more.",
  play: async (stage) => {
    const agents = await openAgents(stage, { worker: false });
    const serve = startHoldfast(stage, ["--json", ...agents.common, "serve", "--port", "0"]);
    const { url, token } = await eventually(() => serve.lines().find(({ type }) => type === "ready"), {
      timeoutMs: 60_000,
      what: "holdfast serve",
    });
    const open = new Set();
    for (let nth = 0; nth < SOCKETS; nth += 1) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
      socket.resume();
      socket.write("GET / HTTP/1.1\r\nX-Slow: ");
    }
    const dripping = setInterval(() => {
      for (const socket of open) socket.write("x");
    }, 500);
    stage.onEnd(() => {
      clearInterval(dripping);
      for (const socket of open) socket.destroy();
    });
    await sleep(2_000);
    const held = open.size;
    const startedAtMs = performance.now();
    const answer = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } });
    const answeredMs = performance.now() - startedAtMs;
    await sleep(PATIENCE_MS - 2_000);
    return { held, left: open.size, status: answer.status, answeredMs };
  },
  judge: ({ held, left, status, answeredMs }) => [
    ...(held > 0 ? [] : [createFinding("broken", "no connection was open: nothing was played")]),
    ...(left > 0 ? [createFinding("leaked", `${left} of ${SOCKETS} slow connections are still held`)] : []),
    ...(status === 200 ? [] : [createFinding("lost", `another request was answered with ${status}`)]),
    ...(answeredMs < 5_000
      ? []
      : [createFinding("stuck", `another request took ${Math.round(answeredMs)} ms`)]),
  ],
};
