import { LoneWord, refuseUnlike } from '../../../src/chains/nodes/lone-word.ts';
import type { ScannedBlock, Transfer } from '../../../src/chains/port/chain-adapter.ts';

const limits = new Map([
  ['', 100n],
  ['token', 50n],
]);
const dayMs = 86_400_000;

function deposit(contract: string | null, amount: bigint, key = 'txid:0'): Transfer {
  return { key, txid: 'txid', address: 'ours', tag: null, contract, amount };
}

describe('the word of one node', () => {
  it('counts up to the limit of an asset, summed over scans', () => {
    const word = new LoneWord(limits);
    for (let scan = 0; scan < 5; scan += 1) {
      const found = [deposit('token', 10n)];
      expect(word.above(found)).toEqual([]);
      word.add(found);
    }
    const next = [deposit('token', 1n), deposit(null, 100n), deposit('other', 1_000n)];
    expect(word.above(next)).toEqual([next[0]]);
  });

  it('is not used up by deposits that a second node confirmed', () => {
    const word = new LoneWord(limits);
    const large = [deposit('token', 51n)];
    for (let scan = 0; scan < 3; scan += 1) expect(word.above(large)).toEqual(large);
    expect(word.above([deposit('token', 50n)])).toEqual([]);
  });

  it('resets its sum after a day, and not 1 ms earlier', () => {
    let now = 5_000;
    const word = new LoneWord(limits, () => now);
    const found = [deposit(null, 60n)];
    expect(word.above(found)).toEqual([]);
    word.add(found);
    now += dayMs - 1;
    expect(word.above(found)).toEqual(found);
    now += 1;
    expect(word.above(found)).toEqual([]);
  });
});

describe('the comparison of a block', () => {
  const ref = { height: 5, hash: 'a', parent: 'b' };
  const all = Array.from({ length: 10_000 }, (_, index) => deposit('token', BigInt(index + 1), `txid:log${index}:f`));

  it('looks at each transfer of the second node once, however many there are', () => {
    let looks = 0;
    const transfers = all.map((one) =>
      Object.defineProperty({ ...one }, 'key', {
        get: () => {
          looks += 1;
          return one.key;
        },
      }),
    );
    const second: ScannedBlock = { ref, transfers };
    refuseUnlike(second, { ref, transfers: all });
    expect(looks).toBe(all.length);
  });

  it.each<[string, Partial<Transfer>]>([
    ['another amount', { amount: 7n }],
    ['another address', { address: 'theirs' }],
    ['another asset', { contract: null }],
    ['another key', { key: 'txid:log5:f' }],
    ['a doubt', { doubt: 'unknown_call' }],
  ])('refuses %s', (_what, change) => {
    const [first] = all as [Transfer];
    const second = { ref, transfers: [{ ...first, ...change }] };
    expect(() => refuseUnlike(second, { ref, transfers: [first] })).toThrow(/two nodes tell different things/);
  });
});
