/**
 * Runs a task for each item, at most `atOnce` at a time. Rejects with the first error of a task.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

/** Groups up to this size are divided into single members. */
const smallGroup = 8;

/**
 * Divides the members that a group left, to take them again. When it left all of a large group, one
 * bad member may be the cause, and the parts have the square root of its size. Otherwise each part
 * is a single member.
 */
export function smaller<T>(left: readonly T[], group: readonly T[]): readonly (readonly T[])[] {
  const isLarge = left.length === group.length && left.length > smallGroup;
  const size = isLarge ? Math.ceil(Math.sqrt(left.length)) : 1;
  return Array.from({ length: Math.ceil(left.length / size) }, (_, part) => left.slice(part * size, (part + 1) * size));
}

/** Divides lists into groups of about `most` rows. A list stays whole. */
export function inGroups<T>(items: readonly T[], most: number): T[][] {
  const groups: T[][] = [];
  let rows = most;
  for (const item of items) {
    const size = Array.isArray(item) ? item.length : 1;
    if (rows + size > most) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(item);
    rows += size;
  }
  return groups;
}
