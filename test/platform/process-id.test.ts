import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { readStartTime } from "../../src/platform/process/process-group.ts";
import { formatProcessId, isIdOfDeadProcess } from "../../src/platform/process/process-id.ts";
import { NO_PROC, testIf } from "../support/skipping.ts";

testIf(process.platform === "linux", NO_PROC)(
  "the id of a process says whether it is dead, on its own host",
  async () => {
    const child = spawn("sleep", ["100"]);
    const pid = child.pid as number;
    const id = formatProcessId({ pid, startTime: readStartTime(pid) });
    expect([id, `own-name/${id}`].map(isIdOfDeadProcess)).toEqual([false, false]);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect([id, `own-name/${id}`].map(isIdOfDeadProcess)).toEqual([true, true]);
    const reused = formatProcessId({ pid: process.pid, startTime: "1" });
    expect(isIdOfDeadProcess(reused)).toBe(true);
    const ofOtherHost = id.replace(/@.*/, "@00000000");
    expect([ofOtherHost, "1234@some-host", ""].map(isIdOfDeadProcess)).toEqual([false, false, false]);
  },
);
