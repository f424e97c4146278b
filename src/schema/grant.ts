import { z } from "zod";

// What a user allows for the rest of a session, in its form in a file. `src/core/permission/grants.ts` reads it from a
// store.

const CommandWords = z.array(z.string().max(1024)).min(1).max(64);
const Commands = z
  .array(
    CommandWords.refine(([program]) => program !== "", { message: "must begin with the name of a program" }),
  )
  .min(1)
  .max(64);

const Grant = z.strictObject({
  tool: z.string().min(1).max(1024),
  commands: Commands.optional(),
  exactCommands: Commands.optional(),
  hosts: z.array(z.string().min(1).max(1024)).min(1).max(64).optional(),
});

export const Grants: z.ZodType<unknown> = z.array(Grant).max(1000);
