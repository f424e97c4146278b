// Makes every server of this process listen on loopback, whatever address it asks for.
const { Server } = require("node:net");

const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
  const [first, ...rest] = args;
  if (typeof first === "number") {
    const callback = rest.find((one) => typeof one === "function");
    return listen.call(this, { port: first, host: "127.0.0.1" }, callback);
  }
  if (typeof first === "object" && first !== null && "port" in first) {
    return listen.call(this, { ...first, host: "127.0.0.1" }, ...rest);
  }
  return listen.apply(this, args);
};
