/**
 * Runs a task for each item, at most `atOnce` at a time. Rejects with the first error of a task.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
}
