import { hideEnvironment } from "../../config/hide-environment.ts";

// Imported first by a program, so that its secrets are shown in /proc no longer than they must.

hideEnvironment();
