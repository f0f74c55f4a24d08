import fc from 'fast-check';
import { jsonNumber } from '../../../src/base/money.ts';
import { amountNames, amountsAsText } from '../../../src/surfaces/rest/api/amounts.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';

const names = amountNames(readContract());

/** The same by a parser that knows the text of each number. */
function parsedAsText(json: string): string {
  return JSON.stringify(
    JSON.parse(json, (name, value, { source }) => (typeof value === 'number' && names.has(name) ? source : value)),
  );
}

const digits = fc.bigInt({ min: 0n, max: 10n ** 38n }).map((units) => jsonNumber(`${units}e-18`));
const notes = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"rate":1', '\\"rate":1', '{"amount":0.5,', ',"min":2'),
);
const answer = fc.record({
  id: fc.integer(),
  rate: digits,
  metadata: fc.dictionary(
    fc.oneof(notes, fc.constantFrom(...names)).filter((name) => !/^\d+$/.test(name)),
    notes,
  ),
  parts: fc.array(fc.record({ mid: digits, seq: fc.nat(), text: notes })),
});

describe('amounts as strings', () => {
  it('have the digits of the numbers, and nothing else changes, for any text of a partner', () => {
    fc.assert(
      fc.property(answer, (value) => {
        const json = JSON.stringify(value);
        const text = amountsAsText(json);
        expect(text).toBe(parsedAsText(json));
        expect(amountsAsText(text)).toBe(text);
      }),
    );
  });

  it('are those of answers, not the members of requests', () => {
    expect(['rate', 'amount_from_expected', 'min', 'fee'].filter((name) => !names.has(name))).toEqual([]);
    expect(['min_amount_to', 'expires_in', 'decimals', 'amount_from_text'].filter((name) => names.has(name))).toEqual(
      [],
    );
  });
});
