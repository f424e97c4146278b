import { describe, expect, test } from "vitest";
import { z } from "zod";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import { checkDescriptions } from "../support/property-descriptions.ts";

describe("sandbox settings", () => {
  test("have a mode, and by default nothing else", () => {
    expect(SandboxSettings.parse({ mode: "workspace" })).toEqual({
      mode: "workspace",
      network: { allow: [] },
      readable: [],
      writable: [],
      env: [],
    });
    expect(SandboxSettings.safeParse({}).success).toBe(false);
  });

  test("every property has a description", () => {
    const document = z.toJSONSchema(SandboxSettings, { io: "input", unrepresentable: "any" });
    expect(checkDescriptions(document).bare).toEqual([]);
  });

  test.each([
    ["an unknown mode", { mode: "on" }],
    ["a misspelt key", { mode: "strict", netwrok: {} }],
    ["a misspelt key of the network", { mode: "strict", network: { allowed: [] } }],
    ["a host without a port", { mode: "strict", network: { allow: ["example.com"] } }],
    ["every host", { mode: "strict", network: { allow: ["*:443"] } }],
    ["a relative path", { mode: "strict", readable: ["data"] }],
    ["a path that leads upwards", { mode: "strict", writable: ["~/../other"] }],
    ["the whole file system", { mode: "strict", writable: ["/"] }],
    ["a value in place of a variable's name", { mode: "strict", env: ["TOKEN=1"] }],
    ["a setting of Holdfast", { mode: "strict", env: ["HOLDFAST_HOME"] }],
    ["rules that `off` would ignore", { mode: "off", network: { allow: ["example.com:443"] } }],
  ])("refuse %s", (_, input) => {
    expect(SandboxSettings.safeParse(input).success).toBe(false);
  });
});
