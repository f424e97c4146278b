import { expect, test } from "vitest";
import { local } from "../../src/config/vendor-models.ts";
import { Outages } from "../../src/models/outages.ts";
import {
  ProviderError,
  type ProviderErrorFacts,
  type ProviderFault,
} from "../../src/models/provider-error.ts";

const [own, spare, last] = ["own", "spare", "last"].map((id) => local("http://localhost:1/v1", id));
const models = [own!, spare!, last!];
const down = (fault: ProviderFault = "network", facts: ProviderErrorFacts = {}) =>
  new ProviderError(fault, "it is gone", facts);

function remembered() {
  const clock = { ms: 5 };
  const outages = new Outages(() => clock.ms);
  return { clock, outages, order: () => outages.order(models).map(({ model }) => model.id) };
}

test("a model that was found down is ordered last for a minute, twice as long each time, ten at most [PROV-28]", () => {
  const { clock, outages, order } = remembered();
  expect(order()).toEqual(["own", "spare", "last"]);
  for (const minutes of [1, 2, 4, 8, 10, 10]) {
    outages.recordFailure(own!, down());
    clock.ms += minutes * 60_000 - 1;
    expect(order()).toEqual(["spare", "last", "own"]);
    clock.ms += 1;
    expect(order()).toEqual(["own", "spare", "last"]);
  }
  outages.recordSuccess(own!);
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("one request tries the model again, and the others continue with the one that works", () => {
  const { clock, outages, order } = remembered();
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(outages.order(models)[0]).toMatchObject({ model: { id: "own" }, isTrial: true });
  outages.recordAttempt(own!);
  expect(order()).toEqual(["spare", "last", "own"]);
  // The request that tried it has ended without a report.
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("no model is left out if all are down, and a delay that a vendor states is observed", () => {
  const { clock, outages, order } = remembered();
  for (const model of models) outages.recordFailure(model, down());
  expect(order()).toEqual(["own", "spare", "last"]);
  outages.recordFailure(spare!, down("rate-limited", { retryAfterMs: 300_000 }));
  clock.ms += 299_999;
  expect(order()).toEqual(["own", "last", "spare"]);
  expect(outages.order(models)[2]?.outage).toEqual({
    fault: "rate-limited",
    message: "it is gone",
    retryInMs: 1,
  });
});

test("an error about the request shows that the model is up, and old failures are forgotten", () => {
  const { clock, outages, order } = remembered();
  outages.recordFailure(own!, down());
  outages.recordFailure(own!, down("api", { status: 400 }));
  expect(order()).toEqual(["own", "spare", "last"]);
  outages.recordFailure(own!, down());
  clock.ms += 60_000 + 3_600_001;
  outages.recordFailure(spare!, down());
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("the same model with another key's name is another one", () => {
  const { outages } = remembered();
  outages.recordFailure({ ...own!, apiKey: "${A}" }, down("auth", { status: 401 }));
  const [first] = outages.order([{ ...own!, apiKey: "${B}" }]);
  expect(first?.isTrial).toBe(false);
});
