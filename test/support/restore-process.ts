import { asyncLocalStorage } from "@temporalio/activity";
import { afterAll, vi } from "vitest";

// Test files share a process. What one of them leaves behind must not reach the next one.
afterAll(() => {
  vi.unstubAllEnvs();
  // The context of activities stays on after the last worker; then each promise costs three times as much.
  asyncLocalStorage.disable();
});
