import { hideEnvironment } from "../../config/hide-environment.ts";

// A program imports this file first, to remove its secrets from /proc as early as possible.

hideEnvironment();
