import { describe, expect, test } from "vitest";
import { CommandCredential } from "../../src/models/credentials/command-credential.ts";
import { FileCredential } from "../../src/models/credentials/file-credential.ts";
import { extractPageText } from "../../src/models/extract-page-text.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { createHttpError } from "../../src/models/provider-error-from-response.ts";
import { ModelConfig } from "../../src/schema/model.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { plainVendor } from "./answer-reader.ts";

const WEEK_MS = 7 * 24 * 3_600_000;

describe("a page instead of an answer", () => {
  test("is read without its scripts and styles", () => {
    const page =
      "<!doctype html><STYLE>a{}</STYLE><h1>502</h1>Bad <b>gateway</b><script src=x>if (a < b) c()</script> 5 < 6";
    expect(extractPageText(page).replace(/\s+/g, " ").trim()).toBe("502 Bad gateway 5 < 6");
    expect(extractPageText("<style>never closed").trim()).toBe("never closed");
  });

  test.each(["<", "<script", "<script>", "<style ", "<!--", "</script", "<a>"])(
    "of nothing but %j does not block the worker",
    (piece) => {
      const body = piece.repeat(65_536 / piece.length);
      const headers = { "content-type": "text/html" };
      const spentMs = cpuMs(() => {
        createHttpError(plainVendor, { status: 502, headers, body, isBodyIncomplete: false, now: 0 });
      });
      expect(spentMs).toBeLessThan(250);
    },
  );
});

describe("[RTY-04] the delay that a vendor requests", () => {
  test.each([
    ["3", 3000],
    ["604799", WEEK_MS - 1000],
    ["99999999999", WEEK_MS],
    ["9".repeat(400), WEEK_MS],
    ["Fri, 31 Dec 9999 23:59:59 GMT", WEEK_MS],
  ])("%s, up to a week", (said, ms) => {
    const headers = { "retry-after": said };
    const error = createHttpError(plainVendor, {
      status: 429,
      headers,
      body: "",
      isBodyIncomplete: false,
      now: 0,
    });
    expect(error).toMatchObject({ fault: "rate-limited", retryAfterMs: ms });
    expect(new ProviderError("network", "x").retryAfterMs).toBeUndefined();
  });
});

describe("[CRED-01.3] the source of a key", () => {
  test("a command that leaves a child process running has nevertheless printed its key", async () => {
    const command = ["sh", "-c", "sleep 4 & echo the-key"];
    const credential = new CommandCredential("KEY", { command, timeoutMs: 3000 });
    await credential.prepare();
    expect(credential.value).toBe("the-key");
  });

  test("an invalid command, and a path that is not a regular file, are reported", async () => {
    const command = new CommandCredential("KEY", { command: ["echo", "a\0b"], timeoutMs: 1000 });
    await expect(command.prepare()).rejects.toThrow(/the command echo could not be started/);
    const file = new FileCredential("KEY", "/dev/null", () => {});
    await expect(file.prepare()).rejects.toThrow(
      /the file \/dev\/null cannot be used: it is not a regular file/,
    );
  });

  test("a user or password in a base URL is rejected in a definition", () => {
    const model = { id: "m", api: "openai_completions", provider: "p", contextWindow: 1000 };
    const at = (baseUrl: string) => ModelConfig.safeParse({ ...model, baseUrl }).success;
    expect(["https://me:pass@host/v1", "https://me@host"].map(at)).toEqual([false, false]);
    expect(["https://host/v1/@me", "https://host/?q=a@b", "http://[::1]:8080/v1"].map(at)).toEqual([
      true,
      true,
      true,
    ]);
  });
});
