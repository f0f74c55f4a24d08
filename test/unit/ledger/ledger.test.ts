import type { EntityManager } from '@mikro-orm/postgresql';
import { book, line } from '../../../src/ledger/ledger.ts';

const btc = { coin: 'BTC', network: 'BTC' };
const ltc = { coin: 'LTC', network: 'LTC' };

/** Books lines with a database that takes everything, and returns the statements that it got. */
async function booked(lines: ReturnType<typeof line>[]): Promise<unknown[]> {
  const statements: unknown[] = [];
  const em = {
    execute: async (_sql: string, values: unknown[]) => {
      statements.push(...values);
      return [{ id: 'x' }];
    },
  } as unknown as EntityManager;
  await book(em, { kind: 'deposit', reference: 'r', orderId: null, at: new Date(0), lines });
  return statements;
}

describe('an entry of the ledger', () => {
  it('has lines that sum to zero, and omits those of zero', async () => {
    const lines = [line('deposits', btc, '0.3'), line('client', btc, '-0.3'), line('unclaimed', btc, '0')];
    const [text] = await booked(lines);
    const [entry] = JSON.parse(String(text)) as { lines: { account: string; amount: string }[] }[];
    expect(entry?.lines.map(({ account, amount }) => [account, amount])).toEqual([
      ['deposits', '0.3'],
      ['client', '-0.3'],
    ]);
  });

  it.each([
    ['more debits than credits', [line('deposits', btc, '0.3'), line('client', btc, '-0.2')]],
    ['more credits than debits', [line('deposits', btc, '0.2'), line('client', btc, '-0.3')]],
    ['two assets that only sum to zero together', [line('deposits', btc, '0.3'), line('client', ltc, '-0.3')]],
    ['the smallest unit too little', [line('deposits', btc, '1'), line('client', btc, '-0.999999999999999999')]],
  ])('is refused before the database sees it: %s', async (_what, lines) => {
    await expect(booked(lines)).rejects.toThrow('does not sum to zero');
  });
});
