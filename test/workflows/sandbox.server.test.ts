import { existsSync } from "node:fs";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ToolResultMessage } from "../../src/schema/message.ts";
import type { SandboxSettingsInput } from "../../src/schema/sandbox.ts";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { HOST, NO_SANDBOX } from "../platform/sandbox/host.ts";
import { eventually } from "../support/eventually.ts";
import { describeIf } from "../support/skipping.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;
let host: Server;
/** Beside the worker's own folder, in which no sandbox works. */
let workspace: string;
const outside = join(tmpdir(), `holdfast-escaped-${process.pid}`);

beforeAll(async () => {
  stage = await openTestEnvironment({ registered: { sandbox: "workspace" } });
  workspace = await realpath(await mkdtemp(join(tmpdir(), "holdfast-boxed-")));
  host = createServer((_, response) => response.end("from the host\n"));
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
  await stage.close();
  for (const folder of [workspace, outside]) await rm(folder, { recursive: true, force: true });
});

const bash = (command: string) => ({ toolCalls: [{ name: "bash", arguments: { command } }] });

async function readResults(session: TestSession): Promise<readonly ToolResultMessage[]> {
  return (await session.readEntries()).flatMap(({ message }) =>
    message.role === "toolResult" ? [message] : [],
  );
}

const getText = ({ content }: ToolResultMessage) =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

async function readSummaries(session: TestSession): Promise<readonly string[]> {
  const { events = [] } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(({ userMetadata }) => {
    const data = userMetadata?.summary?.data;
    return data === undefined || data === null ? [] : [JSON.parse(Buffer.from(data).toString()) as string];
  });
}

/** A request through the sandbox's proxy. */
const request = (place: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/18080; printf 'CONNECT ${place} HTTP/1.1\\r\\nHost: ${place}\\r\\n\\r\\n' >&3; read -r line <&3; echo "$line"; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; tail -n 1 <&3`;

describeIf(HOST.able, NO_SANDBOX)("commands of a run", () => {
  test("run in the worker's sandbox; the record, the status and the timeline say so", async () => {
    const session = stage.session({
      replies: [bash(`touch inside; touch ${outside} /usr/evil; cat /etc/shadow`), { text: "Done." }],
      agent: { workspace, tools: ["bash"] },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Done." });
    const [result] = await readResults(session);
    expect(result).toMatchObject({ sandbox: { mode: "workspace" } });
    expect(getText(result as ToolResultMessage)).toContain("Read-only file system");
    expect(existsSync(outside)).toBe(false);
    expect(await readSummaries(session)).toContainEqual(
      expect.stringMatching(/^turn 0 · touch inside.* · sandbox: workspace$/s),
    );
    expect(JSON.stringify(session.listRequests())).not.toContain('"sandbox"');
  });

  test("run in the sandbox that the definition states", async () => {
    const settings: SandboxSettingsInput = { mode: "strict" };
    const session = stage.session({
      replies: [bash("ls /etc/hostname /usr/bin/env"), { text: "Done." }],
      agent: { workspace, tools: ["bash"], sandbox: settings },
    });
    await session.run("Go");
    const [result] = await readResults(session);
    expect(result).toMatchObject({ sandbox: { mode: "strict" } });
    expect(getText(result as ToolResultMessage)).toContain("/usr/bin/env");
    expect(getText(result as ToolResultMessage)).toContain("/etc/hostname': No such file");
  });

  test("reach an allowed host only, and each connection is in the record", async () => {
    const place = `127.0.0.1:${(host.address() as AddressInfo).port}`;
    const session = stage.session({
      replies: [bash(request(place)), bash(request("192.0.2.1:443")), { text: "Done." }],
      agent: { workspace, tools: ["bash"], sandbox: { mode: "workspace", network: { allow: [place] } } },
    });
    await session.run("Go");
    const [first, second] = (await readResults(session)) as [ToolResultMessage, ToolResultMessage];
    expect(getText(first)).toContain("from the host");
    const [, port] = place.split(":");
    expect(first.sandbox?.connections).toEqual([
      expect.objectContaining({
        host: "127.0.0.1",
        port: Number(port),
        decision: "allowed",
        address: "127.0.0.1",
      }),
    ]);
    expect(first.sandbox?.connections?.[0]?.bytesDown).toBeGreaterThan(50);
    expect(getText(second)).toContain("403 Forbidden");
    expect(getText(second)).toContain("[sandbox] Connection refused: 192.0.2.1:443 (not-allowed)");
    expect(second.sandbox?.connections).toEqual([
      expect.objectContaining({ host: "192.0.2.1", decision: "refused", reason: "not-allowed", bytesUp: 0 }),
    ]);
  });

  test("reach a host that the user has approved, from then on", async () => {
    const { port } = host.address() as AddressInfo;
    const place = `127.0.0.1:${port}`;
    const allow = {
      toolCalls: [{ name: "allow_host", arguments: { host: "127.0.0.1", port, reason: "to look" } }],
    };
    const session = stage.session({
      replies: [bash(request(place)), allow, bash(request(place)), { text: "Done." }],
      agent: {
        workspace,
        tools: ["bash", "allow_host"],
        sandbox: { mode: "workspace", network: { ask: [place] } },
      },
    });
    await session.start("Go");
    const [approval] = await eventually(async () => {
      const { approvals } = await session.handle.query(statusQuery);
      return approvals.length === 1 ? approvals : undefined;
    });
    expect(approval).toMatchObject({ tool: "allow_host", summary: `${place}: to look` });
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
    await session.readResult();
    const [before, allowed, after] = (await readResults(session)) as ToolResultMessage[];
    expect(getText(before as ToolResultMessage)).toContain(
      `[sandbox] Connection refused: ${place} (needs the user's approval: call allow_host)`,
    );
    expect(allowed).toMatchObject({ isError: false, details: { destination: place } });
    expect(getText(after as ToolResultMessage)).toContain("from the host");
  });

  test("leave it only by a tool of another name, and with an approval of its own", async () => {
    const session = stage.session({
      replies: [
        { toolCalls: [{ name: "bash_outside_sandbox", arguments: { command: `mkdir ${outside}` } }] },
        { text: "Done." },
      ],
      agent: {
        workspace,
        tools: ["bash", "bash_outside_sandbox"],
        permissions: { rules: [{ outcome: "allow", tool: "bash" }], otherwise: "ask-unsafe" },
      },
    });
    await session.start("Go");
    await eventually(async () => (await session.handle.query(statusQuery)).approvals.length === 1);
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
    await session.readResult();
    const [result] = await readResults(session);
    expect(result).toMatchObject({ isError: false, sandbox: { mode: "off" } });
    expect(await readdir(outside)).toEqual([]);
    expect(await readSummaries(session)).toContainEqual(expect.stringContaining("sandbox: off"));
  });
});
