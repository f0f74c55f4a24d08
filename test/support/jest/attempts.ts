import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** One attempt of an attacker: what it got must be what it may get. A failure names the attempt. */
export function attempt(what: string, got: unknown, allowed: unknown): void {
  let refused = 0;
  try {
    expect({ attempt: what, got }).toEqual({ attempt: what, got: allowed });
    refused = 1;
  } finally {
    // attempts-reporter.js sums up the files of a run.
    appendFileSync(join(process.env.TEST_DATA_DIR ?? '', 'attempts'), `1 ${refused}\n`);
  }
}
