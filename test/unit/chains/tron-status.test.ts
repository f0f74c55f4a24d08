import type { TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import { TronNode } from '../../../src/chains/tron/tron-node.ts';
import { type BlockHeader, blockIdOf } from '../../../src/chains/tron/tron-proof.ts';
import { Sightings } from '../../../src/chains/tron/tron-sightings.ts';
import { loneMarginMs, type SentTx, type StatusOptions, tronStatuses } from '../../../src/chains/tron/tron-status.ts';
import { TronWire } from '../../support/chains/tron-wire.ts';

const builtAtMs = 1_764_000_000_000;
const expiresAtMs = builtAtMs + 1_800_000;
const account = `41${'1'.repeat(40)}`;
const sent: SentTx = {
  txid: 'a'.repeat(64),
  tx: {
    ...{ refBlockBytes: '0000', refBlockHash: '0'.repeat(16), expiresAtMs, builtAtMs, feeLimit: 0n },
    ...{ owner: account, contract: null, to: `41${'2'.repeat(40)}`, amount: 5n },
  },
};

const top = 60_000_000;

/** A chain of empty blocks whose times and roots a test chooses; its node knows no transaction. */
function emptyChain(timeAt: (height: number) => number, txTrieRoot = '0'.repeat(64)): TronWire {
  const blockAt = (height: number): object => {
    const header: BlockHeader = {
      ...{ height, timeMs: timeAt(height), txTrieRoot, parent: '0'.repeat(64) },
      ...{ witnessId: 0n, witness: account, version: 36n, accountStateRoot: '' },
    };
    const { timeMs: timestamp, parent: parentHash } = header;
    const raw_data = { number: height, timestamp, txTrieRoot, parentHash, witness_address: account, version: 36 };
    return { blockID: blockIdOf(header), block_header: { raw_data } };
  };
  let asked = 0;
  return new TronWire((path, body) => {
    asked += 1;
    if (asked > 1_000) throw new Error('the questions do not end');
    const { id_or_num: height = top } = body as { id_or_num?: string };
    return path.endsWith('getblock') ? blockAt(Number(height)) : {};
  });
}

const alone = { finality: 'solid', askSecond: null } as const;

async function tronStatus(
  node: TronNode,
  one: SentTx,
  options: Omit<StatusOptions, 'sightings'>,
): Promise<TxStatus | undefined> {
  return (await tronStatuses(node, [one], { ...options, sightings: new Sightings() }))[0];
}
const headMs = expiresAtMs + loneMarginMs;

describe('the search for the blocks of a payment', () => {
  it.each<readonly [string, (height: number) => number]>([
    ['that have one time', (height) => (height === top ? headMs : builtAtMs + 1)],
    ['that are 1 ms apart', (height) => headMs - (top - height)],
    ['that are an age apart', (height) => Math.max(0, headMs - (top - height) * 86_400_000)],
    ['whose times go up and down', (height) => (height === top ? headMs : headMs - (height % 2) * 10_000_000)],
  ])('ends soon with blocks %s', async (_name, timeAt) => {
    const wire = emptyChain(timeAt);
    expect(await tronStatus(new TronNode(wire), sent, alone)).toMatchObject({ state: 'dead' });
    expect(wire.asked.length).toBeLessThan(100);
  });

  it('asks for blocks from the one below the payment to the first one that cannot hold it', async () => {
    // The chain stood still for a day after the payment was built, and after it expired.
    const timeAt = (height: number): number => {
      if (height === top) return expiresAtMs + 86_400_000;
      const behind = top - 1 - height;
      return behind < 100 ? expiresAtMs - 1 - behind * 3_000 : builtAtMs - (behind - 100) * 3_000;
    };
    const wire = emptyChain(timeAt);
    await tronStatus(new TronNode(wire), sent, alone);
    const read = wire.asked
      .map(({ body }) => body as { id_or_num?: string; detail?: boolean })
      .flatMap(({ id_or_num, detail }) => (detail ? [Number(id_or_num)] : []));
    expect([read[0], read[20]]).toEqual([top - 101, top]);
  });

  it('takes empty blocks for proof of nothing, and blocks without their transactions for a lie', async () => {
    const timeAt = (height: number): number => headMs - (top - height) * 3_000;
    expect(await tronStatus(new TronNode(emptyChain(timeAt)), sent, alone)).toMatchObject({ final: true });
    const lie = tronStatus(new TronNode(emptyChain(timeAt, 'b'.repeat(64))), sent, alone);
    await expect(lie).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('the last moment of a payment', () => {
  it.each([
    [expiresAtMs - 1, { state: 'waiting', until: { timeMs: expiresAtMs } }],
    [expiresAtMs, { state: 'dead', why: 'expired', final: false }],
    [headMs - 1, { state: 'dead', why: 'expired', final: false }],
    [headMs, { state: 'dead', why: 'expired', final: true }],
  ])('with a final head of %i', async (time, status) => {
    const wire = emptyChain((height) => time - (top - height) * 3_000);
    expect(await tronStatus(new TronNode(wire), sent, alone)).toEqual(status);
  });

  it('with a second node needs its word too, at the expiration itself', async () => {
    const nodeAt = (time: number): TronNode => new TronNode(emptyChain((height) => time - (top - height) * 3_000));
    const final = async (second: TronNode | null): Promise<unknown> => {
      const askSecond = async <T>(question: (node: TronNode) => Promise<T>): Promise<T | null> =>
        second === null ? null : question(second);
      return tronStatus(nodeAt(expiresAtMs), sent, { finality: 'solid', askSecond });
    };
    const dead = { state: 'dead', why: 'expired' };
    expect(await final(nodeAt(expiresAtMs))).toEqual({ ...dead, final: true });
    expect(await final(nodeAt(expiresAtMs - 1))).toEqual({ ...dead, final: false });
    expect(await final(null)).toEqual({ ...dead, final: false });
  });
});
