import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The browser of this machine, if it has one. */
export const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

export const NO_BROWSER = "Chromium is not installed (Debian: apt-get install chromium)";

/** Flags for a browser that sends requests only to the page's server. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER as string, args: QUIET });
}
