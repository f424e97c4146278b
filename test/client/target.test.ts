import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadProfile } from "../../src/client/connection/load-profile.ts";
import { parseHostAndPort } from "../../src/client/connection/probe-address.ts";
import { resolveConnectionTarget } from "../../src/config/connection-target.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-target-"));
  file = join(folder, "temporal.toml");
  await writeFile(
    file,
    `[profile.default]
address = "from-default:1"
namespace = "default-namespace"

[profile.cloud]
address = "from-cloud:2"
namespace = "cloud-namespace"
`,
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function target(
  options: Parameters<typeof resolveConnectionTarget>[0],
  env: NodeJS.ProcessEnv,
  profile?: string,
): ReturnType<typeof resolveConnectionTarget> {
  const { connectionOptions, namespace } = loadProfile(profile, env);
  return resolveConnectionTarget(options, { address: connectionOptions.address, namespace });
}

test("by default: the usual address", () => {
  expect(target({}, { HOME: folder })).toEqual({
    address: "127.0.0.1:7233",
    addressFrom: "default",
    namespace: "default",
    taskQueue: "holdfast",
  });
});

test("TEMPORAL_* overrides the profile, and options override both", () => {
  const env = { HOME: folder, TEMPORAL_CONFIG_FILE: file };
  expect(target({}, env)).toMatchObject({ address: "from-default:1", namespace: "default-namespace" });
  expect(target({}, env, "cloud")).toMatchObject({ address: "from-cloud:2", addressFrom: "profile" });
  expect(target({}, { ...env, TEMPORAL_PROFILE: "cloud" })).toMatchObject({ address: "from-cloud:2" });
  const withAddress = { ...env, TEMPORAL_ADDRESS: "from-env:3" };
  expect(target({}, withAddress)).toMatchObject({
    address: "from-env:3",
    addressFrom: "profile",
    namespace: "default-namespace",
  });
  expect(target({ address: "from-option:4", namespace: "mine" }, withAddress)).toMatchObject({
    address: "from-option:4",
    addressFrom: "option",
    namespace: "mine",
  });
});

test("a missing profile is named, with what to inspect", () => {
  expect(() => loadProfile("nosuch", { HOME: folder, TEMPORAL_CONFIG_FILE: file })).toThrow(
    expect.objectContaining({
      code: "configuration-invalid",
      message: expect.stringMatching(/nosuch.*TEMPORAL_CONFIG_FILE/s),
    }),
  );
});

test("a file that is not TOML is reported as the Temporal configuration", async () => {
  await writeFile(file, "[profile");
  expect(() => loadProfile(undefined, { HOME: folder, TEMPORAL_CONFIG_FILE: file })).toThrow(
    /Temporal configuration/,
  );
});

test("addresses in the forms that users write", () => {
  expect(parseHostAndPort("localhost")).toEqual({ host: "localhost", port: 7233 });
  expect(parseHostAndPort("10.0.0.1:99")).toEqual({ host: "10.0.0.1", port: 99 });
  expect(parseHostAndPort("[::1]:99")).toEqual({ host: "::1", port: 99 });
});
