import type { EntityManager } from '@mikro-orm/postgresql';
import type { Deposit } from '../../../src/settlement/rows/deposit.entity.ts';
import type { Arrival } from '../../../src/settlement/scan/arrivals.ts';
import { type KnownDeposits, storeArrival } from '../../../src/settlement/scan/deposit-changes.ts';
import type { ArrivalRules } from '../../../src/settlement/scan/small-deposits.ts';

const known = {
  chain: 'ethereum',
  key: 'k',
  txid: 't',
  address: 'a',
  contract: null,
  amount: '1.5',
  state: 'orphaned',
};
const transfer = { key: 'k', txid: 't', address: 'a', contract: null, tag: null, amount: 1_500_000n };

/** What is stored of a transfer in the mempool that has the key of a known deposit. */
function stored(changes: object, chain = 'ethereum') {
  const deposit = { ...known } as Deposit;
  const created: object[] = [];
  const em = {
    create: (_entity: unknown, row: object) => {
      created.push(row);
      return row;
    },
    persist: () => {},
  } as unknown as EntityManager;
  const arrival = {
    transfer: { ...transfer, ...changes },
    block: null,
    asset: { coin: 'ETH', network: 'ETH', decimals: 6 },
    target: { orderId: 'o', purpose: 'order' },
    confirmationsRequired: 3,
  } as unknown as Arrival;
  const look = { chain, now: new Date(0), lookedAt: new Date(0), before: new Date(0) } as unknown as ArrivalRules;
  const byKey: KnownDeposits = new Map(chain === deposit.chain ? [[deposit.key, deposit]] : []);
  const isStored = storeArrival(em, byKey, arrival, look) !== null;
  return { isStored, state: deposit.state, created: created.length };
}

describe('a transfer with the key of a known deposit', () => {
  it('is that deposit again', () => {
    expect(stored({})).toEqual({ isStored: true, state: 'mempool', created: 0 });
  });

  it.each([
    ['amount', { amount: 1_500_001n }],
    ['address', { address: 'b' }],
    ['contract', { contract: 'c' }],
  ])('is not stored when its %s is another one', (_what, changes) => {
    expect(stored(changes)).toEqual({ isStored: false, state: 'orphaned', created: 0 });
  });

  it('is another deposit when it is of another chain', () => {
    expect(stored({ amount: 1n }, 'polygon')).toEqual({ isStored: true, state: 'orphaned', created: 1 });
  });
});
