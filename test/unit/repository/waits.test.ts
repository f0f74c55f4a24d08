import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tests wait for a state, never for a time: a wait that is long enough on every machine is too long
 * on most. Times of the gateway are parts of the outside world (src/app/outside-world.ts) and
 * options of the services.
 */

const longestMs = 500;

/** Waits that are the subject of their test, each with its reason. */
const allowed: Readonly<Record<string, string>> = {
  'test/integration/support/faults.test.ts 8_000': 'connections that stay idle longer than a socket may be silent',
  'test/unit/chains/address-stock.test.ts 5_000': 'nothing more is derived in spare time',
  'test/integration/webhooks/kills.test.ts 60_000': 'the bound of a life that reaches no crash point',
};

/** Tests of `npm run torture -- crashes` provoke faults by time, and are no part of the suite. */
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => join('test', path))
  .filter((path) => path.endsWith('.test.ts') && !path.startsWith(join('test', 'fault')));

it('no test waits for more than half a second', () => {
  expect(files.length).toBeGreaterThan(200);
  const waits = files.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bsleep\((\d[\d_]*)\)|\bsetTimeout\([^,()]+, (\d[\d_]*)\)/g)]
      .map(([, slept, timed]) => slept ?? timed ?? '')
      .filter((ms) => Number(ms.replaceAll('_', '')) > longestMs)
      .map((ms) => `${path} ${ms}`),
  );
  expect(waits.sort()).toEqual(Object.keys(allowed).sort());
});
