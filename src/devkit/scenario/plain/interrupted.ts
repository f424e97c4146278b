/** A step that did not come to its end: it was told to stop, or its worker died. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly how: "cancelled" | "lost";

  constructor(how: "cancelled" | "lost") {
    super(how);
    this.how = how;
  }
}
