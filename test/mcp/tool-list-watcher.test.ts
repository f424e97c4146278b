import { expect, test } from "vitest";
import type { ToolListChange } from "../../src/core/machine/state/run-event.ts";
import { pinTools } from "../../src/tools/sources/mcp/pin-tools.ts";
import type { ServerListing } from "../../src/tools/sources/mcp/pooled-server.ts";
import { ToolListWatcher } from "../../src/tools/sources/mcp/tool-list-watcher.ts";
import type { ActiveLoop } from "../../src/tools/sources/tool-source.ts";
import { createStdioServer, MISBEHAVING_SERVER, OUTSIDE } from "./support/mcp-servers.ts";

const facts = { name: "s", version: "1", protocolVersion: "1" } as ServerListing["serverInfo"];
const listing = (...names: readonly string[]): ServerListing => ({
  serverInfo: facts,
  tools: names.map((name) => ({ name, inputSchema: {}, hints: {}, needsTask: false })),
});
const server = createStdioServer(MISBEHAVING_SERVER, {}, { name: "files", exclude: ["hidden"] });
const definition = { mcp: [server], pinned: { tools: [...pinTools(server, listing("a", "b").tools).tools] } };

const getPlace = () => OUTSIDE;

/** One server, a loop that is notified, and its notifications. */
function stage() {
  let known: ServerListing | undefined = listing("a", "b");
  const said: ToolListChange[] = [];
  const offers = new ToolListWatcher(() => known);
  const loop = (more: Partial<ActiveLoop> = {}): ActiveLoop => ({
    workflow: "w",
    loopId: "l",
    workspace: OUTSIDE.workspace,
    definitionHash: "d",
    notify: async (change) => {
      said.push(change);
      return "notified";
    },
    ...more,
  });
  const lists = async (...names: readonly string[]) => {
    known = names.length === 0 ? undefined : listing(...names);
    offers.compareAll();
    return await offers.isNotified("l", server);
  };
  const shown = () => said.map(({ added, removed }) => [...added, "-", ...removed].join(" "));
  return { offers, loop, lists, shown, said };
}

test("[MCP-05.4] a loop is notified once of each change, whoever lists the tools, and of a change back", async () => {
  const { offers, loop, lists, shown, said } = stage();
  offers.watch(loop(), definition, getPlace);
  expect(await lists("a", "b", "hidden")).toBe(true);
  expect(shown()).toEqual([]);
  expect(await lists("a", "c")).toBe(true);
  await lists("c", "a");
  offers.watch(loop(), definition, getPlace);
  await lists();
  expect(await lists("a", "c")).toBe(true);
  expect(shown()).toEqual(["files__c - files__b"]);
  await lists("a", "b");
  expect(shown().slice(1)).toEqual(["-"]);
  expect(said.map(({ hash }) => hash)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), "as-pinned"]);
});

test("a changed list is noticed when the server is next needed; a server that is not running is not started for it", async () => {
  const { offers, loop, lists, shown } = stage();
  await lists();
  offers.watch(loop(), definition, getPlace);
  expect(shown()).toEqual([]);
  await lists("a");
  expect(shown()).toEqual(["- files__b"]);
});

test("a loop that could not be reached is notified again at its next step; a loop that has ended is forgotten", async () => {
  const { offers, loop, lists, said } = stage();
  const answers = ["failed", "notified"] as const;
  let times = 0;
  const tell = async (change: ToolListChange) => {
    said.push(change);
    return answers[times++] ?? "ended";
  };
  offers.watch(loop({ notify: tell }), definition, getPlace);
  expect(await lists("a")).toBe(false);
  offers.watch(loop({ notify: tell }), definition, getPlace);
  expect(await offers.isNotified("l", server)).toBe(true);
  expect(said).toHaveLength(2);
  expect(await lists("b")).toBe(true);
  expect(await lists("c")).toBe(false);
  expect(said).toHaveLength(3);
});

test("a notification before the run knows its loop is repeated; another loop of the run takes its place", async () => {
  const { offers, loop, lists, shown, said } = stage();
  offers.watch(loop({ isOpening: true }), definition, getPlace);
  await lists("a");
  offers.watch(loop(), definition, getPlace);
  await lists("a");
  expect(shown()).toEqual(["- files__b", "- files__b"]);
  offers.watch(loop({ loopId: "l2" }), definition, getPlace);
  expect(await offers.isNotified("l", server)).toBe(false);
  await offers.isNotified("l2", server);
  expect(said.map(({ loopId }) => loopId)).toEqual(["l", "l", "l2"]);
  offers.unwatch("l2");
  await lists("b");
  expect(said).toHaveLength(3);
});

test("the numbers of known loops, names and notifications are bounded", async () => {
  const { offers, loop, lists, said } = stage();
  offers.watch(loop(), definition, getPlace);
  for (let turn = 0; turn < 20; turn += 1) await lists("a", `b${turn}`);
  expect(said).toHaveLength(16);
  expect(await offers.isNotified("l", server)).toBe(false);
  await lists("a", "b");
  for (let nth = 0; nth < 1001; nth += 1) {
    offers.watch(loop({ loopId: `n${nth}`, workflow: `w${nth}` }), definition, getPlace);
  }
  await lists(...Array.from({ length: 50 }, (_, nth) => `t${nth}`));
  await offers.isNotified("n1000", server);
  expect(said).toHaveLength(16 + 1000);
  expect(said.at(-1)?.added).toHaveLength(33);
  expect(said.at(-1)?.added.at(-1)).toBe("and 18 others");
});
