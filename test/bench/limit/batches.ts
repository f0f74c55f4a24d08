/** Of one statement. */
const rows = 32;
const flights = 2;

interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Runs the calls of one turn of the event loop as one statement, of 32 rows at most and two at a
 * time. Where a batch fails, each of its rows is run alone.
 */
export function batched<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  const queue: Waiting<Item, Answer>[] = [];
  let running = 0;
  let isScheduled = false;
  const alone = async ({ item, resolve, reject }: Waiting<Item, Answer>): Promise<void> => {
    await run([item]).then(([answer]) => resolve(answer as Answer), reject);
  };
  const fly = async (batch: readonly Waiting<Item, Answer>[]): Promise<void> => {
    running++;
    try {
      const answers = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await alone(one);
    }
    running--;
    schedule();
  };
  const schedule = (): void => {
    if (isScheduled || queue.length === 0 || running >= flights) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (queue.length > 0 && running < flights) void fly(queue.splice(0, rows));
    });
  };
  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      schedule();
    });
}
