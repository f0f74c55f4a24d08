/** The heap of a process of Node, read by its inspector. */
export interface Heap {
  /** Bytes that are in use after a forced collection. */
  usedBytes(): Promise<number>;
  close(): void;
}

/** The option of Node with which a process says where its inspector listens. */
export const inspectorOption = '--inspect=127.0.0.1:0';

/**
 * Connects to the inspector of a process that was started with `inspectorOption`.
 *
 * @param output What the process printed.
 * @throws Error when the output has no address, or the process has ended.
 */
export async function openHeap(output: string): Promise<Heap> {
  const address = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
  if (address === undefined) throw new Error('the process has no inspector');
  const socket = new WebSocket(address);
  const calls = new Map<number, PromiseWithResolvers<{ usedSize: number }>>();
  let last = 0;
  const isEnded = Promise.withResolvers<never>();
  isEnded.promise.catch(() => {});
  socket.addEventListener('close', () => isEnded.reject(new Error('the inspector is closed')));
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    if (error) calls.get(id)?.reject(new Error(error.message));
    else calls.get(id)?.resolve(result);
    calls.delete(id);
  });
  const opened = new Promise<void>((done) => socket.addEventListener('open', () => done()));
  await Promise.race([opened, isEnded.promise]);
  const call = (method: string): Promise<{ usedSize: number }> => {
    const answer = Promise.withResolvers<{ usedSize: number }>();
    calls.set(++last, answer);
    socket.send(JSON.stringify({ id: last, method }));
    return Promise.race([answer.promise, isEnded.promise]);
  };
  return {
    usedBytes: async () => {
      await call('HeapProfiler.collectGarbage');
      return (await call('Runtime.getHeapUsage')).usedSize;
    },
    close: () => socket.close(),
  };
}
