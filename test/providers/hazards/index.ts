import { anthropicHazards } from "./anthropic.ts";
import { completionsHazards } from "./completions.ts";
import type { HazardWire } from "./wire.ts";

export { bytes, type HazardWire, SAID, type Said } from "./wire.ts";

/** Every protocol that is held to the hazards, and fuzzed. */
export const HAZARD_WIRES: readonly HazardWire[] = [anthropicHazards, completionsHazards];
