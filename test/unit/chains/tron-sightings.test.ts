import type { TronInfo } from '../../../src/chains/tron/tron-answer.ts';
import { Sightings, type WholeBlock } from '../../../src/chains/tron/tron-sightings.ts';

const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];

/** A block that holds transactions, all of which succeeded. */
function blockOf(txids: readonly string[], changes: { hash?: string; hasRoot?: boolean } = {}): WholeBlock {
  const { hash = 'c'.repeat(64), hasRoot = true } = changes;
  const info = { height: 7, timeMs: 9, fee: 0n, isFailed: false, result: null, logs: [], internals: [] };
  return {
    block: {
      ref: { height: 7, hash, parent: '', timeMs: 9 },
      transactions: txids.map((txid) => ({ txid, raw: new Uint8Array(), result: 'SUCCESS' })),
      hasRoot,
    },
    infos: new Map(txids.map((txid): [string, TronInfo] => [txid, { ...info, txid }])),
  };
}

describe('Sightings', () => {
  it('keep what a block shows of the watched transactions, the newest block last', () => {
    const sightings = new Sightings();
    sightings.watch(first);
    sightings.note(blockOf([first, second]));
    expect(sightings.of(first)?.info.height).toBe(7);
    expect(sightings.of(second)).toBe(null);
    const hash = 'd'.repeat(64);
    sightings.note(blockOf([first], { hash }));
    sightings.watch(first);
    expect(sightings.of(first)?.ref.hash).toBe(hash);
    sightings.forget(first);
    expect(sightings.of(first)).toBe(null);
    sightings.note(blockOf([first]));
    expect(sightings.of(first)).not.toBe(null);
  });

  it('take nothing from a block whose header does not prove its transactions, or is contradicted', () => {
    const sightings = new Sightings();
    sightings.watch(first);
    sightings.note(blockOf([first], { hasRoot: false }));
    const whole = blockOf([first]);
    const [info] = [...whole.infos.values()];
    if (info) sightings.note({ ...whole, infos: new Map([[first, { ...info, isFailed: true }]]) });
    expect(sightings.of(first)).toBe(null);
  });

  it('watch the newest ten thousand transactions only', () => {
    const sightings = new Sightings();
    const txids = Array.from({ length: 10_001 }, (_, index) => String(index));
    for (const txid of txids) sightings.watch(txid);
    sightings.note(blockOf(txids));
    expect([sightings.of('0'), sightings.of('1')?.info.txid]).toEqual([null, '1']);
  });
});
