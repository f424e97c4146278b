import { createRequire } from "node:module";

const { bundles, grammars } = createRequire(import.meta.url)("./bundled-packages.json");

/**
 * The modules of dist that the build replaces with bundles of libraries, with all packages of each bundle. An install does not
 * fetch these packages (docs/decisions/0038-bundled-terminal-library.md, 0041-bundled-vendor-libraries.md). The build fails if
 * a bundle contains another package.
 */
export const BUNDLES = bundles;

/** The names of all packages whose code is part of dist. */
export const BUNDLED_PACKAGES = [...new Set(Object.values(BUNDLES).flat())].sort();

/** The packages whose grammars are part of dist/apps/git/map/grammars, with the files that the build copies. */
export const GRAMMARS = grammars;
