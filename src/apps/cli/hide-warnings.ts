// A program imports this file early, to hide Node's warnings: they are about the code of the program, and its user can do
// nothing about them. HOLDFAST_DEBUG=1 prints them.

if (process.env["HOLDFAST_DEBUG"] !== "1") process.removeAllListeners("warning");
