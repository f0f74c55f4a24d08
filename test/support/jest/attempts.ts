import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

let tried = 0;
let refused = 0;

/** One attempt of an attacker: what it got must be what it may get. A failure names the attempt. */
export function attempt(what: string, got: unknown, allowed: unknown): void {
  tried++;
  expect({ attempt: what, got }).toEqual({ attempt: what, got: allowed });
  refused++;
}

// attempts-reporter.js sums up the files of a run.
afterAll(() => {
  appendFileSync(join(process.env.TEST_DATA_DIR ?? '', 'attempts'), `${tried} ${refused}\n`);
});
