import { bytesToHex } from '@noble/hashes/utils.js';
import { tronAddress } from '../../../src/chains/addresses/tron.ts';
import { RootDoubts } from '../../../src/chains/tron/root-doubts.ts';
import { TronBlockSource, type TronBlockSourceOptions } from '../../../src/chains/tron/tron-block-source.ts';
import { TronNode } from '../../../src/chains/tron/tron-node.ts';
import { blockIdOf, rootOf, txidOf } from '../../../src/chains/tron/tron-proof.ts';
import { Sightings } from '../../../src/chains/tron/tron-sightings.ts';
import { encodeTronTx } from '../../../src/chains/tron/tron-tx.ts';
import { TronWire } from '../../support/chains/tron-wire.ts';

const owner = `41${'0b'.repeat(20)}`;
const to = `41${'0a'.repeat(20)}`;

interface Told {
  readonly blockID: string;
  readonly block_header: { readonly raw_data: Readonly<Record<string, unknown>> };
  readonly transactions?: readonly Readonly<Record<string, unknown>>[];
}

/** A block as a node tells it, with one payment of each amount. */
function told(height: number, parent: string, amounts: readonly bigint[], version = 34): Told {
  const list = amounts.map((amount) => {
    const raw = encodeTronTx({
      refBlockBytes: '1d00',
      refBlockHash: '081a3fe1f1440f1d',
      expiresAtMs: 1_777_438_164_000 + height,
      builtAtMs: 1_777_438_106_000,
      feeLimit: 0n,
      owner,
      contract: null,
      to,
      amount,
    });
    return { raw, signatures: [], results: [{ fee: 0n, ret: null, contractRet: 'SUCCESS' }] };
  });
  const header = {
    timeMs: 1_777_438_000_000 + 3_000 * height,
    txTrieRoot: rootOf(list),
    parent,
    height,
    witnessId: 0n,
    witness: owner,
    version: BigInt(version),
    accountStateRoot: '',
  };
  const transactions = list.map(({ raw }) => ({
    txID: txidOf(raw),
    raw_data_hex: bytesToHex(raw),
    ret: [{ contractRet: 'SUCCESS' }],
  }));
  return {
    blockID: blockIdOf(header),
    block_header: {
      raw_data: {
        number: height,
        timestamp: header.timeMs,
        parentHash: parent,
        txTrieRoot: header.txTrieRoot,
        witness_address: owner,
        version,
      },
    },
    ...(transactions.length > 0 && { transactions }),
  };
}

function infosOf({ block_header: { raw_data: raw }, transactions = [] }: Told): Record<string, unknown>[] {
  return transactions.map(({ txID }) => ({
    id: txID,
    blockNumber: raw.number,
    blockTimeStamp: raw.timestamp,
    receipt: { net_usage: 267 },
  }));
}

/** Ten joined blocks, each with two payments, the third without any. */
function chainOf(version?: number): Told[] {
  const blocks: Told[] = [];
  for (let height = 1; height <= 10; height += 1) {
    const parent = blocks.at(-1)?.blockID ?? '00'.repeat(32);
    blocks.push(told(height, parent, height === 3 ? [] : [BigInt(height), BigInt(height) * 1_000n], version));
  }
  return blocks;
}

interface Faults {
  /** The block that is told at the n-th reading of its height, from 1. */
  readonly block?: (height: number, reading: number, whole: boolean) => Told | undefined;
  readonly infos?: (infos: Record<string, unknown>[], height: number, reading: number) => unknown;
  readonly name?: string;
}

function reading(faults: Faults = {}, options: Partial<TronBlockSourceOptions> = {}) {
  const chain = chainOf();
  const readings = new Map<string, number>();
  const wire = new TronWire((path, body) => {
    const { id_or_num: id, num, detail } = body as { id_or_num?: string; num?: number; detail?: boolean };
    const height = Number(id ?? num);
    const question = `${path} ${height} ${detail}`;
    const count = (readings.get(question) ?? 0) + 1;
    readings.set(question, count);
    const block = faults.block?.(height, count, detail === true) ?? chain[height - 1];
    if (path.endsWith('getblock')) return detail ? (block ?? {}) : block ? { ...block, transactions: undefined } : {};
    const infos = chain[height - 1] ? infosOf(chain[height - 1] as Told) : [];
    return faults.infos?.(infos, height, count) ?? infos;
  }, faults.name);
  const head = { ref: { height: 10, hash: '', parent: '', timeMs: 0 } };
  const source = new TronBlockSource({
    node: new TronNode(wire),
    head,
    tokens: new Map(),
    isTraced: false,
    maxHeight: 1_000,
    doubts: new RootDoubts(1),
    sightings: new Sightings(),
    ...options,
  });
  return {
    wire,
    source,
    chain,
    block: (height: number) => source.blockAfter({ height: height - 1, hash: '', parent: '' }),
  };
}

/** A source that reads one block at once, so that its calls can be counted. */
function single(faults: Faults = {}) {
  return reading(faults, { maxHeight: 1 });
}

const unsound = expect.objectContaining({ code: 'unsound_answer' });

describe('TronBlockSource', () => {
  it('reads blocks with their transfers, in order, up to the head', async () => {
    const { chain, block, source } = reading();
    for (const [index, { blockID }] of chain.entries()) {
      const height = index + 1;
      const found = await block(height);
      expect(found?.ref).toMatchObject({ height, hash: blockID, timeMs: 1_777_438_000_000 + 3_000 * height });
      const amounts = height === 3 ? [] : [BigInt(height), BigInt(height) * 1_000n];
      expect(found?.transfers.map(({ amount }) => amount)).toEqual(amounts);
      expect(found?.transfers.every(({ address }) => address === tronAddress(to))).toBe(true);
    }
    expect(await block(11)).toBeNull();
    expect(await source.headHeight()).toBe(10);
    expect(await source.hashAt(4)).toBe(chain[3]?.blockID);
    expect(await source.hashAt(11)).toBeNull();
  });

  it('asks two questions a block and a third that reads the id again', async () => {
    const { wire, block } = single();
    await block(1);
    expect(wire.asked).toEqual([
      { path: 'wallet/getblock', body: { id_or_num: '1', detail: true } },
      { path: 'wallet/gettransactioninfobyblocknum', body: { num: 1 } },
      { path: 'wallet/getblock', body: { id_or_num: '1', detail: false } },
    ]);
  });

  it('asks one question for a block without transactions', async () => {
    const { wire, block } = reading({}, { maxHeight: 3 });
    await block(3);
    expect(wire.asked).toHaveLength(1);
  });

  describe('the list of results', () => {
    type List = Record<string, unknown>[];
    it.each<[string, (infos: List) => unknown]>([
      ['misses an id', (infos) => infos.slice(1)],
      ['is empty', () => []],
      ['is no list', () => ({})],
      ['has an id twice', ([first]) => [first, first]],
      ['has a further id', (infos) => [...infos, { ...infos[0], id: 'ee'.repeat(32) }]],
      ['has another id', ([first, second]) => [first, { ...second, id: 'ee'.repeat(32) }]],
      ['belongs to another height', (infos) => infos.map((info) => ({ ...info, blockNumber: 2 }))],
      ['states no height', (infos) => infos.map((info) => ({ ...info, blockNumber: undefined }))],
      ['belongs to another time', (infos) => infos.map((info) => ({ ...info, blockTimeStamp: 1_777_438_003_001 }))],
      ['has an item that is no result', (infos) => [...infos, 'SUCCESS']],
    ])('that %s is a fault of the node', async (_what, change) => {
      const { wire, block } = single({ infos: change });
      await expect(block(1)).rejects.toEqual(unsound);
      // The block did not change, so that it is not read again.
      expect(wire.asked).toHaveLength(3);
    });

    it('may come in another order and in capitals', async () => {
      const loud = (infos: List) => infos.map((info) => ({ ...info, id: String(info.id).toUpperCase() })).reverse();
      expect((await single({ infos: loud }).block(1))?.transfers).toHaveLength(2);
    });
  });

  describe('the block at that height changes between the two calls', () => {
    const other = chainOf(35);

    it('is read again, and the last one counts', async () => {
      const { wire, block } = single({
        block: (height, count, whole) => (whole && count === 1 ? undefined : other[height - 1]),
      });
      const found = await block(1);
      expect(found?.ref.hash).toBe(other[0]?.blockID);
      expect(wire.asked).toHaveLength(6);
    });

    it('is read again when its results were already those of the other block', async () => {
      const strange = (infos: Record<string, unknown>[], _height: number, count: number) =>
        count === 1 ? infos.map((info) => ({ ...info, id: 'ee'.repeat(32) })) : infos;
      const { block } = single({
        block: (height, count, whole) => (whole && count === 1 ? undefined : other[height - 1]),
        infos: strange,
      });
      expect((await block(1))?.ref.hash).toBe(other[0]?.blockID);
    });

    it('is read three times at most', async () => {
      const { wire, block } = single({ block: (height, _count, whole) => (whole ? undefined : other[height - 1]) });
      await expect(block(1)).rejects.toThrow(/changed block 1 3 times/);
      expect(wire.asked).toHaveLength(9);
    });

    it('is null when the block is gone', async () => {
      const gone = { blockID: '', block_header: { raw_data: {} } };
      const wire = new TronWire(() => ({}));
      const { block } = reading({ block: () => gone }, { node: new TronNode(wire) });
      expect(await block(1)).toBeNull();
    });
  });

  describe('what hashes prove', () => {
    const [first] = chainOf() as [Told];
    const [tx] = first.transactions as [Record<string, unknown>];
    const second = first.transactions?.[1] as Record<string, unknown>;

    it.each<[string, Told]>([
      [
        'a header that was changed',
        { ...first, block_header: { raw_data: { ...first.block_header.raw_data, version: 1 } } },
      ],
      ['another id', { ...first, blockID: 'ee'.repeat(32) }],
      ['the bytes of another transaction', { ...first, transactions: [{ ...tx, raw_data_hex: second.raw_data_hex }] }],
      ['the id of another transaction', { ...first, transactions: [{ ...tx, txID: second.txID }] }],
      ['a transaction without its bytes', { ...first, transactions: [{ ...tx, raw_data_hex: undefined }] }],
      ['a transaction without its id', { ...first, transactions: [{ ...tx, txID: undefined }] }],
      ['a transaction twice', { ...first, transactions: [tx, tx] }],
      ['transactions that are no list', { ...first, transactions: {} as never }],
    ])('%s is a fault', async (_what, block) => {
      await expect(single({ block: () => block }).block(1)).rejects.toEqual(unsound);
    });

    it('the JSON next to the bytes is never read', async () => {
      const lie = { contract: [{ type: 'TransferContract', parameter: { value: { amount: 9, to_address: owner } } }] };
      const block = { ...first, transactions: first.transactions?.map((each) => ({ ...each, raw_data: lie })) ?? [] };
      const found = await single({ block: () => block }).block(1);
      expect(found?.transfers.map(({ amount }) => amount)).toEqual([1n, 1_000n]);
    });
  });

  describe('transactions that do not give the root of their header', () => {
    const lacking = (height: number): Told | undefined => {
      const block = chainOf()[height - 1];
      return block?.transactions && { ...block, transactions: block.transactions.slice(1) };
    };
    const lies: Faults = { block: lacking, infos: (infos) => infos.slice(1) };
    const mismatch = expect.objectContaining({ code: 'root_mismatch' });

    it('are a reason to ask the next node, which reads the block', async () => {
      const doubts = new RootDoubts(2);
      await expect(reading(lies, { doubts, maxHeight: 1 }).block(1)).rejects.toEqual(mismatch);
      expect(
        (await reading({ name: 'http://other.example' }, { doubts, maxHeight: 1 }).block(1))?.transfers,
      ).toHaveLength(2);
      expect(doubts.count).toBe(1);
    });

    it('are read when the chain has no other node to ask', async () => {
      const doubts = new RootDoubts(1);
      await expect(reading(lies, { doubts, maxHeight: 1 }).block(1)).rejects.toEqual(mismatch);
      expect((await reading(lies, { doubts, maxHeight: 1 }).block(1))?.transfers).toHaveLength(1);
      expect(doubts.count).toBe(2);
    });

    it('are never read of one node while the other is away', async () => {
      const doubts = new RootDoubts(2);
      for (let time = 1; time <= 3; time += 1) {
        await expect(reading(lies, { doubts, maxHeight: 1 }).block(1)).rejects.toEqual(mismatch);
      }
    });

    it('stop the chain when two nodes fail', async () => {
      const doubts = new RootDoubts(2);
      const other = { ...lies, name: 'http://other.example' };
      for (const faults of [lies, other, lies, other]) {
        await expect(reading(faults, { doubts, maxHeight: 1 }).block(1)).rejects.toEqual(mismatch);
      }
    });

    it('end a scan that read blocks before them, and are noted by the next scan', async () => {
      const doubts = new RootDoubts(1);
      const late = { ...lies, block: (height: number) => (height === 2 ? lacking(height) : undefined) };
      const faults = {
        ...late,
        infos: (infos: Record<string, unknown>[], height: number) => (height === 2 ? infos.slice(1) : infos),
      };
      const { block } = reading(faults, { doubts });
      expect((await block(1))?.transfers).toHaveLength(2);
      expect(await block(2)).toBeNull();
      expect(doubts.count).toBe(0);
      await expect(reading(faults, { doubts }).block(2)).rejects.toEqual(mismatch);
    });

    it('are remembered of the newest thousand blocks only', () => {
      const doubts = new RootDoubts(1);
      for (let block = 0; block <= 1_000; block += 1) expect(doubts.refuses(String(block))).toBe(true);
      expect(doubts.refuses('1000')).toBe(false);
      expect(doubts.refuses('0')).toBe(true);
    });
  });

  it('asks three questions of a block with 10,000 transactions', async () => {
    const amounts = Array.from({ length: 10_000 }, (_, index) => BigInt(index + 1));
    const full = told(1, '00'.repeat(32), amounts);
    const { wire, block } = single({ block: () => full, infos: () => infosOf(full) });
    expect((await block(1))?.transfers.map(({ amount }) => amount)).toEqual(amounts);
    expect(wire.asked).toHaveLength(3);
  });

  it('ends a scan with the blocks that it has when the node fails later', async () => {
    const { block } = reading({ infos: (infos, height) => (height === 4 ? [] : infos) });
    for (const height of [1, 2, 3]) expect(await block(height)).not.toBeNull();
    expect(await block(4)).toBeNull();
  });

  it('computes the root of lists of each size, and each change changes it', () => {
    const all = Array.from({ length: 9 }, (_, index) => ({
      raw: Uint8Array.of(index),
      signatures: [Uint8Array.of(1)],
      results: [{ fee: 0n, ret: null, contractRet: 'SUCCESS' }],
    }));
    const roots = all.map((_, index) => rootOf(all.slice(0, index + 1)));
    expect(new Set(roots).size).toBe(9);
    for (let size = 2; size <= 9; size += 1) {
      expect(rootOf(all.slice(0, size).reverse())).not.toBe(roots[size - 1]);
    }
    expect(rootOf([])).toBe('0'.repeat(64));
  });
});
