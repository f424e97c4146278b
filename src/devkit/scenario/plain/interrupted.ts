/** Thrown by a step that did not end: it was stopped, or its worker died. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly how: "cancelled" | "lost";

  constructor(how: "cancelled" | "lost") {
    super(how);
    this.how = how;
  }
}
