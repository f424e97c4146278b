import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { openStage, type Stage } from "./support/temporal.ts";

/** A source that keeps what it has fetched, as one does that asks a vault. */
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

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ secrets });
});
afterAll(() => stage.close());
beforeEach(() => {
  Object.assign(vault, { key: "sk-old-0123456789abcdef", kept: undefined, fetched: 0 });
});

test("a refused key is fetched anew and the vendor asked once more [CRED-01]", async () => {
  const session = stage.session({ faults: [{ fault: "auth" }], replies: [{ text: "Let in." }] });
  await session.start("Go");
  await session.waitForRequest(0);
  expect(await session.result()).toMatchObject({ text: "Let in." });
  expect(session.requests()).toHaveLength(2);
  expect(vault.fetched).toBe(2);
});

test("a second refusal is final, and says so [CRED-01, OVF-01]", async () => {
  const session = stage.session({ faults: [{ fault: "auth", times: 9 }] });
  await session.start("Go");
  const { result } = await session.failure();
  expect(result?.outcome).toMatchObject({ type: "failed", fault: "auth" });
  expect(session.requests()).toHaveLength(2);
});
