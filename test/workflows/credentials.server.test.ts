import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createCredentialSource } from "../../src/models/credentials/credential-source.ts";
import type { Logger } from "../../src/platform/log.ts";
import { Credentials } from "../../src/schema/credentials.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

/** A source that caches what it has fetched, like one that asks a vault. */
const vault = { key: "sk-old-0123456789abcdef", kept: undefined as string | undefined, fetched: 0 };
const secrets = Object.assign(
  (name: string) => {
    if (name !== TEST_KEY_NAME) return undefined;
    if (vault.kept === undefined) {
      vault.fetched += 1;
      vault.kept = vault.key;
    }
    return vault.kept;
  },
  {
    invalidate: () => {
      vault.kept = undefined;
    },
  },
);

const logged: string[] = [];
const noted = (...said: unknown[]) => void logged.push(textsIn(said));
const log = { debug: noted, info: noted, warn: noted, error: noted } as unknown as Logger;

/** A vendor whose answer names the key of the request. */
const REFUSED = { fault: "auth", message: `there is no key ${vault.key}` } as const;

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ secrets, log });
});
afterAll(() => stage.close());
beforeEach(() => {
  Object.assign(vault, { key: "sk-old-0123456789abcdef", kept: undefined, fetched: 0 });
});

thoroughTest("a rejected key is fetched anew and the vendor called once more [CRED-01.1]", async () => {
  const session = stage.session({ faults: [{ fault: "auth" }], replies: [{ text: "Let in." }] });
  await session.start("Go");
  await session.waitForRequest(0);
  expect(await session.readResult()).toMatchObject({ text: "Let in." });
  expect(session.listRequests()).toHaveLength(2);
  expect(vault.fetched).toBe(2);
});

thoroughTest(
  "a second rejection is final, and its error contains no key: in history, record and log [CRED-01.2, OVF-01.3]",
  async () => {
    const session = stage.session({ faults: [{ ...REFUSED, times: 9 }] });
    await session.start("Go");
    const { readResult } = await session.readFailure();
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "auth" });
    expect(session.listRequests()).toHaveLength(2);
    const { events } = await session.handle.fetchHistory();
    const kept = [events, await session.readEntries(), await session.readEvents(), readResult, logged].map(
      textsIn,
    );
    expect(kept.every((text) => text !== "")).toBe(true);
    expect(kept[0]).toContain("provider/auth");
    for (const shown of kept) expect(shown).not.toContain(vault.key);
  },
);

/** All texts of a value, including those that are stored as bytes. */
function textsIn(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value).map(textsIn).join("\n");
}

test("a command runs again for a rejected key, and its new key is accepted [CRED-01.1, CRED-01.3]", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-credentials-"));
  const place = join(folder, "key");
  await writeFile(place, "sk-first-0123456789abcdef");
  const code = `const fs = require("fs"), at = ${JSON.stringify(place)};
    console.log(fs.readFileSync(at, "utf8")); fs.writeFileSync(at, "sk-second-0123456789abcdef")`;
  const command = [process.execPath, "-e", code];
  const source = createCredentialSource(Credentials.parse({ [TEST_KEY_NAME]: { command } }));
  const own = await openTestEnvironment({ secrets: source });
  try {
    const session = own.session({ faults: [{ fault: "auth" }], replies: [{ text: "Let in." }] });
    await session.start("Go");
    await session.waitForRequest(0);
    expect(await session.readResult()).toMatchObject({ text: "Let in." });
    expect(session.listRequests()).toHaveLength(2);
    expect(source(TEST_KEY_NAME)).toBe("sk-second-0123456789abcdef");
  } finally {
    await own.close();
    await rm(folder, { recursive: true, force: true });
  }
});
