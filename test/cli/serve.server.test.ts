import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { main } from "../../src/apps/cli/program.ts";
import { isLoopback, resolveToken } from "../../src/apps/cli/serve-token.ts";
import { eventually } from "../support/eventually.ts";
import { createTerminal } from "./terminal.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-serve-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const place = () => {
  const { address, namespace } = inject("temporal");
  return ["--address", address, "--namespace", namespace, "--home", home];
};

function serving(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { streams, said, signals } = createTerminal({ env });
  const code = main(["serve", "--port", "0", ...args, ...place()], streams);
  return { code, said, interrupt: () => signals.emit("SIGTERM") };
}

describe("holdfast serve", () => {
  test("prints its address and its token once; SIGTERM ends it in order", async () => {
    const { code, said, interrupt } = serving(["--json"]);
    await eventually(() => said.out.includes("\n"), { what: "the ready line" });
    const ready = JSON.parse(said.out) as { url: string; token: string };
    expect(ready).toMatchObject({ type: "ready", url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    const listed = await fetch(`${ready.url}/v1/sessions`, {
      headers: { authorization: `Bearer ${ready.token}` },
    });
    expect(listed.status).toBe(200);
    expect((await fetch(`${ready.url}/v1/sessions`)).status).toBe(401);
    interrupt();
    expect(await code).toBe(0);
    expect(said.out.split(ready.token)).toHaveLength(2);
    expect(said.err).not.toContain(ready.token);
  });

  test("does not print a given token, and starts the agents of its files by name", async () => {
    const token = "given-token-of-this-test";
    const file = join(home, "agents.toml");
    await writeFile(
      file,
      '[provider]\nmodel = "m"\napi = "anthropic"\napi_key = "${KEY}"\n[agent.profile]\nname = "teller"\n',
    );
    const { code, said, interrupt } = serving(["--token-env", "MY_TOKEN", "--agent", file, "--untrusted"], {
      MY_TOKEN: token,
      KEY: "none",
    });
    await eventually(() => said.out.includes("serving") || said.err !== "", { what: "the ready line" });
    expect(said.err).toBe("");
    const url = /http:\/\/[\d.:]+/.exec(said.out)?.[0];
    const post = (agent: unknown) =>
      fetch(`${url}/v1/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ agent, prompt: "Hi" }),
      });
    expect(await (await post("teler")).json()).toMatchObject({ detail: expect.stringContaining('"teller"') });
    expect(await (await post({ model: {} })).json()).toMatchObject({
      detail: expect.stringContaining("teller"),
    });
    expect((await post("teller")).status).toBe(201);
    interrupt();
    expect(await code).toBe(0);
    expect(said.out + said.err).not.toContain(token);
  });

  test("rejects what it cannot do and names the remedy", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const refused = async (args: readonly string[], env = {}) => {
      const { code, said } = serving(args, env);
      return [await code, said.err];
    };
    expect(await refused(["--host", "0.0.0.0"])).toEqual([2, expect.stringContaining("--token-file")]);
    expect(await refused(["--token-env", "NONE"])).toEqual([2, expect.stringContaining("NONE")]);
    expect(await refused(["--token-env", "SHORT"], { SHORT: "abc" })).toEqual([
      2,
      expect.stringContaining("16"),
    ]);
    const { streams, said } = createTerminal();
    expect(await main(["serve", "--port", `${port}`, ...place()], streams)).toBe(2);
    expect(said.err).toContain("--port");
    taken.close();
  });
});

describe("the token", () => {
  test("is read from a file without its last line break, with a warning if others can read the file", async () => {
    const file = join(home, "token");
    await writeFile(file, "a-token-in-a-file-0123\n", { mode: 0o600 });
    expect(resolveToken({ tokenFile: file }, "0.0.0.0", {})).toEqual({
      token: "a-token-in-a-file-0123",
      isNew: false,
    });
    await chmod(file, 0o644);
    expect(resolveToken({ tokenFile: file }, "0.0.0.0", {}).warning).toContain("chmod 600");
    expect(() => resolveToken({ tokenFile: join(home, "none") }, "127.0.0.1", {})).toThrow(/cannot be read/);
    expect(() => resolveToken({ tokenFile: file, tokenEnv: "X" }, "127.0.0.1", {})).toThrow(
      /exclude each other/,
    );
  });

  test("differs each time it is generated, and is generated only if the address is a loopback one", () => {
    const made = [1, 2].map(() => resolveToken({}, "127.0.0.1", {}));
    expect(made[0]?.token).toMatch(/^[\w-]{43}$/);
    expect(made[0]?.token).not.toBe(made[1]?.token);
    expect(["localhost", "127.0.0.1", "127.9.9.9", "::1"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "1270.0.1"].some(isLoopback)).toBe(false);
  });
});
