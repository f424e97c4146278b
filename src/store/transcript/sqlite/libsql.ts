// SQLite. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).
// The native library stays a package: an optional dependency for each platform on which Temporal's worker runs.

import type libsql from "libsql";

const loaded = await import("libsql").catch((error: NodeJS.ErrnoException) => {
  if (error.code !== "MODULE_NOT_FOUND") throw error;
  const name = /@libsql\/[\w-]+/.exec(error.message)?.[0] ?? "the native library of libsql";
  throw new Error(
    `SQLite cannot be loaded: ${name} is not installed, because the install left out optional dependencies or this platform is not one of Temporal's worker. Install it: npm install ${name}`,
    { cause: error },
  );
});

export type { libsql };

export const Database: typeof libsql = loaded.default;
