import { playDay } from './replay/day.ts';
import { differences, recordOf } from './replay/record.ts';
import { days, readRecords } from './replay/records.ts';

// The large day is `npm run rehearse -- replay`. Of this one, `npm run rehearse -- replay --orders
// 200` shows and renews the record, and compares it with another checkout.

// A bound for what hangs: kills and starts of processes take long on a busy machine.
const timeoutMs = 1_800_000;

it(
  'plays a small seeded day with kills as the record says',
  async () => {
    const day = await playDay(days.small);
    expect(day.faults).toEqual([]);
    const { small } = await readRecords();
    expect(small && differences(recordOf(day), small)).toEqual([]);
  },
  timeoutMs,
);
