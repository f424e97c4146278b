import { afterAll, vi } from "vitest";

// Files share a process: what one has stubbed in the environment must not be there for the next.
afterAll(() => {
  vi.unstubAllEnvs();
});
