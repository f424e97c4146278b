import { assertValues } from "./arguments.ts";
import { DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { computeMean, computeSum } from "./mean.ts";
import { spreadInterval } from "./t-interval.ts";

/** A mean with its standard error and its interval. */
export type MeanEstimate = Interval & { readonly mean: number; readonly standardError: number };

/**
 * Computes the interval of the mean of values that come in clusters, such as several attempts at each task.
 *
 * The variance of the mean is G / (G - 1) * sum over clusters of (sum of the cluster's distances from the mean)^2 / n^2, with
 * G - 1 degrees of freedom. Source: A. C. Cameron and D. L. Miller, "A Practitioner's Guide to Cluster-Robust Inference",
 * Journal of Human Resources 50, 2015, for a regression on a constant.
 *
 * @param clusters - For each value the number of its cluster. There must be at least two clusters.
 */
export function computeClusteredInterval(
  values: readonly number[],
  clusters: readonly number[],
  confidence = DEFAULT_CONFIDENCE,
): MeanEstimate {
  assertValues("The values of a clustered interval", values, 2);
  assertValues("The clusters", clusters, 2);
  if (values.length !== clusters.length) {
    throw new RangeError(`Each value needs a cluster: ${values.length} values, ${clusters.length} clusters.`);
  }
  const mean = computeMean(values);
  const distances = new Map<number, number[]>();
  values.forEach((value, index) => {
    const cluster = clusters[index]!;
    const ofCluster = distances.get(cluster);
    if (ofCluster === undefined) distances.set(cluster, [value - mean]);
    else ofCluster.push(value - mean);
  });
  const count = distances.size;
  if (count < 2) throw new RangeError("A clustered interval needs at least two clusters; there is one.");
  const squares = [...distances.values()].map((ofCluster) => computeSum(ofCluster) ** 2);
  const standardError = Math.sqrt((count / (count - 1)) * computeSum(squares)) / values.length;
  return { mean, standardError, ...spreadInterval(mean, standardError, count - 1, confidence) };
}
