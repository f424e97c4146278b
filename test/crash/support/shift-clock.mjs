// Loaded into a worker: JavaScript's clock stands off by the seconds that a file says.
import { readFileSync } from "node:fs";

const RealDate = Date;
const real = Date.now.bind(Date);
const file = process.env.SHIFT_CLOCK;
let shiftMs = 0;
const look = () => {
  shiftMs = Number(readFileSync(file, "utf8")) * 1000;
};
if (file !== undefined) {
  look();
  setInterval(look, 100).unref();
  globalThis.Date = class extends RealDate {
    constructor(...values) {
      super(...(values.length === 0 ? [real() + shiftMs] : values));
    }
    static now() {
      return real() + shiftMs;
    }
  };
}
