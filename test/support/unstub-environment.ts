import { afterAll, vi } from "vitest";

// Test files share a process: variables that one file stubs must not reach the next one.
afterAll(() => {
  vi.unstubAllEnvs();
});
