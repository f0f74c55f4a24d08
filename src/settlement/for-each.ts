/** Runs a task for each item, so many at a time. */
export async function forEach<T>(items: readonly T[], atOnce: number, task: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
}
