/** Tries until it succeeds, at most `times` times in all; waits twice as long before each further one. */
export async function retry(work, times, delayMs) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= times) throw error;
      await new Promise((resolve) => setTimeout(resolve, delayMs * 2 ** attempt));
    }
  }
}
