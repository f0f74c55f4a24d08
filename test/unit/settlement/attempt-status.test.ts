import type { ChainAdapter, TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import {
  hasNoFurther,
  type Observed,
  type ObservedPayment,
  outlookOf,
  statusesOf,
} from '../../../src/settlement/pay/attempt-status.ts';
import { keptReservations } from '../../../src/settlement/pay/earlier-attempts.ts';
import { pastExpiry } from '../../../src/settlement/pay/signed-attempts.ts';
import type { PaymentAttempt } from '../../../src/settlement/rows/payment-attempt.entity.ts';

function attempt(changes: Partial<PaymentAttempt> = {}): PaymentAttempt {
  const none = { expiresAtHeight: null, expiresAt: null, deadAt: null, deadWhy: null, minedHeight: null };
  const own = { paymentId: 'p', attempt: 1, reserves: ['a'], txid: 't1', raw: 'r1', ...none };
  return { ...own, ...changes } as PaymentAttempt;
}

const mined = (success: boolean, final: boolean): TxStatus => ({
  ...{ state: 'mined', height: 7, confirmations: 1, fee: 1n },
  success,
  final,
});
const dead = (final: boolean, why: 'conflict' | 'expired' = 'expired'): TxStatus => ({ state: 'dead', why, final });
const waits: TxStatus = { state: 'waiting', until: { height: 9 } };
const of = (reserves: string, status: TxStatus, deadWhy: string | null = null): Observed => ({
  attempt: attempt({ reserves: reserves.split('+'), deadWhy, deadAt: deadWhy === null ? null : new Date(0) }),
  status,
});

it.each<[string, string, readonly Observed[]]>([
  ['waiting', 'without a status', []],
  ['waiting', 'of which one waits and the others are dead', [of('a', dead(true)), of('b', waits)]],
  ['waiting', 'that the node does not know', [of('a', { state: 'unknown' })]],
  ['dying', 'of which a death is not final', [of('a', dead(true)), of('b', dead(false))]],
  ['dead', 'of which all are dead', [of('a', dead(true)), of('b', dead(true))]],
  ['in_block', 'in a block that is not final', [of('a', mined(true, false))]],
  ['in_block', 'in a final block, together with one that may come', [of('a', mined(true, true)), of('b', waits)]],
  ['in_block', 'that failed, together with one that may come', [of('a', waits), of('b', mined(false, true))]],
  ['paid', 'in a final block, together with one that it excludes', [of('a+c', waits), of('b+c', mined(true, true))]],
  ['failed', 'that failed, together with one that it excludes', [of('a', waits), of('a', mined(false, true))]],
  ['paid', 'that failed, together with one that paid', [of('a', mined(true, true)), of('b', mined(false, true))]],
  ['paid', 'in a final block, together with a dead one', [of('a', dead(true)), of('b', mined(true, true))]],
  [
    'in_block',
    'in a block, together with a death that is not final',
    [of('a', dead(false)), of('b', mined(true, true))],
  ],
])('is %s: a payment %s', (outlook, _what, statuses) => {
  expect(outlookOf(statuses)).toBe(outlook);
});

describe('a further attempt', () => {
  const payment = (kind: string, ...statuses: Observed[]): ObservedPayment =>
    ({ payment: { kind }, alive: [], statuses }) as unknown as ObservedPayment;
  const three = { furtherAttempts: 3 };

  it.each([
    ['three conflicts over different reservations', 'payout', ['a', 'b', 'c'], 'conflict', true, true],
    ['two conflicts', 'payout', ['a', 'b'], 'conflict', true, false],
    ['conflicts over one reservation', 'payout', ['a', 'a', 'a'], 'conflict', true, false],
    ['many expiries where attempts exclude each other', 'payout', ['a', 'b', 'c', 'd'], 'expired', true, false],
    ['three expiries where they do not', 'payout', ['a', 'b', 'c'], 'expired', false, true],
    ['two expiries where they do not', 'payout', ['a', 'b'], 'expired', false, false],
    ['a sweep that lost to another transaction', 'sweep', ['a'], 'conflict', true, true],
    ['a sweep that expired', 'sweep', ['a'], 'expired', true, false],
    ['a sweep that expired where attempts do not exclude each other', 'sweep', ['a'], 'expired', false, false],
  ] as const)('after %s', (_what, kind, reserves, why, exclusive, isOver) => {
    const statuses = reserves.map((one) => of(one, dead(true, why)));
    expect(hasNoFurther(payment(kind, ...statuses), { exclusive, ...three })).toBe(isOver);
  });
});

describe('a payment that goes on keeps', () => {
  it.each([
    ['what an expired attempt reserves', [['expired', 'a+b']], true, ['a', 'b']],
    ['nothing where attempts do not exclude each other', [['expired', 'a']], false, []],
    ['nothing that a conflict spent', [['conflict', 'a']], true, []],
    [
      'nothing of an expired attempt that a conflict excluded',
      [
        ['expired', 'a'],
        ['conflict', 'a'],
      ],
      true,
      [],
    ],
    // The conflict may have been over c, so that the first attempt may still confirm.
    [
      'what the conflict may have left',
      [
        ['expired', 'a+b'],
        ['conflict', 'a+c'],
      ],
      true,
      ['a', 'b'],
    ],
  ] as const)('%s', (_what, rows, exclusive, kept) => {
    const attempts = rows.map(([deadWhy, reserves]) => attempt({ deadWhy, reserves: reserves.split('+') }));
    expect(keptReservations(attempts, exclusive)).toEqual(kept);
  });
});

describe('the expiry of an attempt', () => {
  const head = (height: number) => ({ head: async () => ({ height, hash: '', parent: '' }) });
  const noHead = { head: () => Promise.reject(new Error('no one needs the head')) };

  it.each([
    [8, 9, false],
    [9, 9, true],
    [10, 9, true],
  ])('at a head of %i and a last height of %i has passed: %s', async (height, expiresAtHeight, isPast) => {
    const one = attempt({ expiresAtHeight });
    expect((await pastExpiry(head(height), new Date(0), [one])).has(one)).toBe(isPast);
  });

  it('of a chain that counts expiries otherwise than blocks is compared by that count', async () => {
    const attempts = [8, 9, 10].map((expiresAtHeight) => attempt({ expiresAtHeight }));
    const past = await pastExpiry({ ...noHead, lateHeight: async () => 9 }, new Date(0), attempts);
    expect(attempts.map((one) => past.has(one))).toEqual([true, true, false]);
  });

  it.each([
    [999, 1_000, false],
    [1_000, 1_000, true],
  ])('at %i ms and a time of %i ms has passed: %s', async (now, expiresAt, isPast) => {
    const one = attempt({ expiresAt: new Date(expiresAt) });
    expect((await pastExpiry(noHead, new Date(now), [one])).has(one)).toBe(isPast);
  });

  it('that has none asks for nothing', async () => {
    expect((await pastExpiry(noHead, new Date(0), [attempt()])).size).toBe(0);
  });
});

describe('a status', () => {
  const telling = (status: TxStatus): ChainAdapter => ({ chain: 'c', status: async () => status }) as never;

  it.each([
    [{ height: 9 }, { expiresAtHeight: 9 }, true],
    [{ height: 8 }, { expiresAtHeight: 9 }, false],
    [{ timeMs: 9 }, { expiresAt: new Date(9) }, true],
    [{ timeMs: 8 }, { expiresAt: new Date(9) }, false],
    [{ timeMs: 9 }, { expiresAtHeight: 9 }, false],
    [{ height: 9 }, {}, false],
  ] as const)('that waits until %p is taken for an attempt with %p: %s', async (until, changes, isTaken) => {
    const asked = statusesOf(telling({ state: 'waiting', until }), [attempt(changes)]);
    if (isTaken) expect(await asked).toHaveLength(1);
    else await expect(asked).rejects.toThrow('than it expires');
  });

  it('of another number of transactions is refused', async () => {
    const adapter = { chain: 'c', statusAll: async () => [waits] } as never;
    await expect(statusesOf(adapter, [attempt(), attempt()])).rejects.toThrow('a status of each');
  });
});
