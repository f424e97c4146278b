import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { BROWSER, launchBrowser, NO_BROWSER } from "../support/browser.ts";
import { describeIf } from "../support/skipping.ts";
import { isThorough, thoroughDescribe, thoroughTest } from "../support/test-depth.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SITE = join(ROOT, ".holdfast/site");
const BUILD_TIMEOUT_MS = 300_000;

/** Screenshots for manual inspection. */
const PICTURES = join(tmpdir(), "holdfast-screenshots");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain; charset=utf-8",
};

thoroughDescribe("the site of the documents", () => {
  beforeAll(async () => {
    if (!isThorough) return;
    const vitepress = join(ROOT, "node_modules/vitepress/bin/vitepress.js");
    await promisify(execFile)(process.execPath, [vitepress, "build", "docs"], { cwd: ROOT });
  }, BUILD_TIMEOUT_MS);

  thoroughTest("has a page for each entry of its sidebar, but not the conformance table", async () => {
    const { SECTIONS } = await import(join(ROOT, "docs/.vitepress/sections.mjs"));
    const links: string[] = SECTIONS.flatMap(({ pages }: { pages: string[][] }) =>
      pages.map(([, link]) => link),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((link) => readPage(link) === undefined)).toEqual([]);
    expect(links[0]).toBe("/quickstart");
    expect(readPage("/contributing/conformance")).toBeUndefined();
  });

  describeIf(BROWSER !== undefined, NO_BROWSER)("in a browser", () => {
    let server: Server;
    let browser: Browser;
    let address: string;
    beforeAll(async () => {
      server = createServer(({ url = "/" }, response) => {
        const { pathname } = new URL(url, "http://localhost");
        // Files that are no pages name no icon.
        if (pathname === "/favicon.ico") return void response.writeHead(204).end();
        const path = normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
        try {
          const body = readFileSync(join(SITE, path));
          response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
          response.end(body);
        } catch {
          response.writeHead(404).end();
        }
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      browser = await launchBrowser();
      mkdirSync(PICTURES, { recursive: true });
    });
    afterAll(async () => {
      await browser?.close();
      server?.close();
    });

    thoroughTest(
      "a reader finds a page by search, and follows links; nothing is loaded from elsewhere",
      async () => {
        const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
        const requested: string[] = [];
        const problems: string[] = [];
        page.on("request", (request) => void requested.push(request.url()));
        page.on("response", (response) => {
          if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
        });
        page.on("pageerror", (error) => void problems.push(error.message));
        page.on("console", (message) => {
          if (message.type() === "error") problems.push(message.text());
        });

        await page.goto(`${address}/`);
        expect(await page.title()).toContain("Holdfast");
        // A picture that is not loaded has no width.
        const widths = await page
          .locator(".vp-doc img")
          .evaluateAll((images) =>
            images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
          );
        expect(widths).toHaveLength(2);
        expect(Math.min(...widths)).toBeGreaterThan(500);
        await page.screenshot({ path: join(PICTURES, "site-home.png") });
        await page.locator(".VPNavBarSearch button").first().click();
        await page.locator("#localsearch-input").fill("queue-full");
        await page.locator(".VPLocalSearchBox .result").first().waitFor();
        await page.screenshot({ path: join(PICTURES, "site-search.png") });
        await page.locator('.VPLocalSearchBox .result[href*="errors"]').first().click();
        await page.waitForURL(/\/errors\.html/);
        expect(await page.locator("h3#queue-full").innerText()).toContain("queue-full");

        await page.locator(".VPSidebar").getByText("Glossary", { exact: true }).click();
        await page.waitForURL(/\/glossary\.html/);
        await page.locator("h1", { hasText: "Glossary" }).waitFor();
        // The words of other systems are on the first screen.
        const header = await page.locator("th", { hasText: "LangGraph" }).boundingBox();
        expect(header?.y).toBeLessThan(1000);
        await page.screenshot({ path: join(PICTURES, "site-glossary.png") });

        await page.goto(`${address}/deploy/compose.html`);
        await page.locator(".vp-doc a", { hasText: "docker-compose.yml" }).click();
        await page.waitForURL(/docker-compose\.yml\.txt/);
        expect(await page.locator("body").innerText()).toContain("temporalio/server");

        expect(problems).toEqual([]);
        expect(requested.filter((url) => !url.startsWith(`${address}/`) && !url.startsWith("data:"))).toEqual(
          [],
        );
      },
    );
  });
});

function readPage(link: string): string | undefined {
  try {
    return readFileSync(join(SITE, link.endsWith("/") ? `${link}index.html` : `${link}.html`), "utf8");
  } catch {
    return undefined;
  }
}
