import { expect, test } from "vitest";
import { checkSandbox } from "../../src/apps/cli/sandbox-check.ts";
import type { HostProbe } from "../../src/platform/sandbox/probe-host.ts";
import { HOST } from "../platform/sandbox/host.ts";

const able: HostProbe = {
  able: true,
  programs: { bwrap: "/usr/bin/bwrap", setsid: "/usr/bin/setsid", prlimit: "/usr/bin/prlimit" },
  controllers: ["pids"],
};
const unable: HostProbe = {
  able: false,
  obstacle: "userns-disabled",
  attempt: "ran bwrap",
  answer: "No permissions\nto create a namespace\n",
  remedy: "Allow user namespaces.",
};

test("a host that can make the sandbox passes, in the mode of the environment", () => {
  expect(checkSandbox({}, able)).toEqual({
    name: "sandbox",
    verdict: "ok",
    details: "workspace (the default); this host can make it",
    able: true,
    mode: "workspace",
  });
  expect(checkSandbox({ HOLDFAST_SANDBOX: "strict" }, able)).toMatchObject({
    verdict: "ok",
    details: "strict (HOLDFAST_SANDBOX=strict); this host can make it",
    mode: "strict",
  });
});

test("one that cannot fails, with what was tried, what came back and what to do", () => {
  expect(checkSandbox({}, unable)).toEqual({
    name: "sandbox",
    verdict: "fail",
    details:
      "workspace (the default); this host cannot make it (userns-disabled): ran bwrap, and got: No permissions / to create a namespace",
    advice: "Allow user namespaces.",
    able: false,
    obstacle: "userns-disabled",
    mode: "workspace",
  });
});

test("a sandbox that is off is a warning, whatever the host can do", () => {
  const off = { HOLDFAST_SANDBOX: "off" };
  expect(checkSandbox(off, able)).toMatchObject({
    verdict: "warn",
    advice: expect.stringMatching(
      /all rights of the worker.*; remove HOLDFAST_SANDBOX, or set it to workspace$/,
    ),
    mode: "off",
  });
  expect(checkSandbox(off, unable)).toMatchObject({
    verdict: "warn",
    details: expect.stringContaining("cannot make it (userns-disabled)"),
    advice: expect.stringMatching(/Allow user namespaces\.$/),
    obstacle: "userns-disabled",
  });
});

test("a value that is no mode fails, because no worker starts with it", () => {
  const check = checkSandbox({ HOLDFAST_SANDBOX: "on" }, able);
  expect(check).toMatchObject({
    verdict: "fail",
    details: 'HOLDFAST_SANDBOX is "on": use off, workspace, strict',
  });
  expect(check.mode).toBeUndefined();
});

test("the check of this host says the same as its probe", () => {
  expect(checkSandbox({}, HOST)).toMatchObject({ able: HOST.able, verdict: HOST.able ? "ok" : "fail" });
});
