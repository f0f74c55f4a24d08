import type { Log } from '../base/log.ts';

const prefix = 'start: ';

/** Records the end of a part of the start. It began when the part before it ended. */
export function endPart(name: string): void {
  performance.mark(`${prefix}${name}`);
}

/**
 * Tells the log, at debug, how many milliseconds each part of the start took; the first begins with
 * the process.
 */
export function logParts(log: Log): void {
  const marks = performance.getEntriesByType('mark').filter(({ name }) => name.startsWith(prefix));
  let since = 0;
  for (const { name, startTime } of marks) {
    const detail = name.slice(prefix.length);
    log.debug({ event: 'start_part', detail, ms: Math.round(startTime - since) }, 'a part of the start is over');
    since = startTime;
    performance.clearMarks(name);
  }
}
