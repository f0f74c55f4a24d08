import { readFileSync } from 'node:fs';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { encodeTron, tronAddress, tronDigits } from '../../../src/chains/addresses/tron.ts';
import { bytesOf, numberOf, readFields } from '../../../src/chains/tron/protobuf.ts';
import { readBlock, readHeader, readInfo } from '../../../src/chains/tron/tron-answer.ts';
import { txidOf } from '../../../src/chains/tron/tron-proof.ts';
import { addressOf, bandwidthOf, contractOf, decodeTronTx, encodeTronTx } from '../../../src/chains/tron/tron-tx.ts';

interface RecordedTx {
  readonly source: string;
  readonly txID: string;
  readonly raw_data_hex: string;
  readonly signature?: readonly string[];
  readonly fee_limit: number;
  readonly contract: { readonly type: string; readonly value?: Readonly<Record<string, string | number>> };
}

/** Reads a fixture as a node's answer is read: numbers stay text. */
function recorded<T>(name: string): T {
  const keepSource = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' ? source : value;
  const text = readFileSync(`test/fixtures/tron/${name}.json`, 'utf8');
  return JSON.parse(text, keepSource as (name: string, value: unknown) => unknown) as T;
}

const blocks =
  recorded<{ source: string; blockID: string; block_header: { raw_data: { number: string } }; complete?: boolean }[]>(
    'blocks',
  );
const transactions = recorded<RecordedTx[]>('transactions');
const infos = recorded<{ source: string; info: Record<string, unknown> }[]>('infos');

/** The digits of an address, which nodes write in one of two forms. */
function digits(value: unknown): string {
  return tronDigits(String(value)) ?? String(value).toLowerCase();
}

describe('recorded blocks', () => {
  it('name their sources', () => {
    expect([...blocks, ...transactions, ...infos].filter(({ source }) => source.length < 10)).toEqual([]);
    expect([blocks.length, transactions.length, infos.length]).toEqual([12, 51, 5]);
  });

  it.each(
    blocks.map((block) => [block.blockID, block] as const),
  )('%s has the id that its header gives', (id, block) => {
    const header = readHeader(block, Number(block.block_header.raw_data.number));
    expect(header?.ref).toMatchObject({ hash: id, height: Number(block.block_header.raw_data.number) });
    const changed = structuredClone(block);
    changed.block_header.raw_data.number = String(Number(block.block_header.raw_data.number) + 1);
    expect(() => readHeader(changed, null)).toThrow('a block whose id does not follow from its header');
  });

  it('that are whole give the root of their transactions, and shortened ones do not', () => {
    const whole = blocks.filter(({ complete }) => complete);
    expect(whole.map((block) => readBlock(block, Number(block.block_header.raw_data.number))?.hasRoot)).toEqual(
      whole.map(() => true),
    );
    const [first] = whole as [(typeof blocks)[number] & { transactions: { ret: object[]; signature: string[] }[] }];
    const { number } = first.block_header.raw_data;
    expect(readBlock(first, Number(number))?.transactions).toHaveLength(1);
    const changes: ((tx: { ret: object[]; signature: string[] }) => void)[] = [
      (tx) => tx.ret.splice(0, 1, { contractRet: 'REVERT' }),
      (tx) => tx.ret.splice(0, 1),
      (tx) => tx.signature.splice(0, 1),
    ];
    for (const change of changes) {
      const other = structuredClone(first);
      for (const tx of other.transactions) change(tx);
      expect(readBlock(other, Number(number))?.hasRoot).toBe(false);
    }
    expect(readBlock({ ...first, transactions: undefined }, Number(number))?.hasRoot).toBe(false);
  });
});

describe('recorded transactions', () => {
  it.each(
    transactions.map((tx) => [`${tx.contract.type} ${tx.txID}`, tx] as const),
  )('%s has the id of its bytes, and its contract is read from them', (_name, {
    txID,
    raw_data_hex: hex,
    contract,
    fee_limit,
  }) => {
    const raw = hexToBytes(hex);
    expect(txidOf(raw)).toBe(txID);
    const fields = readFields(raw);
    expect(numberOf(fields, 18)).toBe(BigInt(fee_limit));
    const read = contractOf(fields);
    expect(read?.kind ?? null).toBe(contract.value === undefined ? null : contract.type);
    if (read === null || contract.value === undefined) return;
    const { owner_address: owner, contract_address: called, to_address: to, amount, data } = contract.value;
    expect(addressOf(read.value, 1)).toBe(digits(owner));
    expect(addressOf(read.value, 2)).toBe(digits(to ?? called));
    if (amount !== undefined) expect(numberOf(read.value, 3)).toBe(BigInt(amount));
    // The documentation has a digit too many in one text. The bytes are proved, the JSON is not.
    const isTypingError = txID.startsWith('8c621a0d');
    if (data !== undefined && !isTypingError) expect(bytesToHex(bytesOf(read.value, 4))).toBe(data);
  });

  it('that only pay are read as payments and encode to the same bytes; all others are refused', () => {
    const isPayment = ({ raw_data_hex: hex }: RecordedTx): boolean => {
      try {
        return bytesToHex(encodeTronTx(decodeTronTx(hexToBytes(hex)))) === hex;
      } catch {
        return false;
      }
    };
    const kinds = (list: RecordedTx[]) => new Set(list.map(({ contract }) => contract.type));
    const payments = transactions.filter(isPayment);
    expect(payments.length).toBeGreaterThanOrEqual(9);
    expect(kinds(payments)).toEqual(new Set(['TransferContract', 'TriggerSmartContract']));
    const coins = transactions.filter(({ contract }) => contract.type === 'TransferContract');
    expect(payments).toEqual(expect.arrayContaining(coins));
    // A call with a token of TRC-10 next to it, and one whose address has the byte of Tron's
    // prefix.
    for (const start of ['482b1a3b', 'd2ce8609']) {
      expect(payments.some(({ txID }) => txID.startsWith(start))).toBe(false);
    }
  });

  it('of transfers are read as another library reads them', () => {
    const coins = transactions.filter(({ contract }) => contract.type === 'TransferContract');
    expect(coins.length).toBeGreaterThanOrEqual(5);
    const read = coins.map(({ txID, raw_data_hex: hex }) => {
      const { expiresAtMs, builtAtMs, refBlockBytes, refBlockHash, amount, to } = decodeTronTx(hexToBytes(hex));
      const times = { expiresAtMs: String(expiresAtMs), builtAtMs: String(builtAtMs) };
      return { txID, ...times, refBlockBytes, refBlockHash, amount: String(amount), to };
    });
    expect(read).toEqual(recorded<{ read: object[] }>('tronweb').read);
  });

  it('carry signatures of their owners over the hash of their bytes', () => {
    const signed = transactions.filter(({ signature }) => signature?.length === 1);
    const ours = signed.filter(({ txID, raw_data_hex: hex, signature }) => {
      const bytes = hexToBytes(signature?.[0] ?? '');
      const recovery = (bytes[64] ?? 0) % 27;
      const key = secp256k1.Signature.fromBytes(Uint8Array.of(recovery, ...bytes.subarray(0, 64)), 'recovered');
      const sender = encodeTron(key.recoverPublicKey(hexToBytes(txID)).toBytes(false).subarray(1));
      const contract = contractOf(readFields(hexToBytes(hex)));
      return contract !== null && sender === tronAddress(addressOf(contract.value, 1) ?? '');
    });
    expect(signed.length).toBeGreaterThanOrEqual(7);
    expect(ours.length).toBeGreaterThanOrEqual(5);
  });
});

describe('recorded results', () => {
  it('are read, with members that are 0 left out', () => {
    const read = infos.slice(0, 4).map(({ info }) => readInfo(info));
    expect(read.map(({ fee, result, logs }) => ({ fee, result, logs }))).toEqual([
      { fee: 267_000n, result: null, logs: [] },
      { fee: 267_000n, result: null, logs: [] },
      { fee: 0n, result: null, logs: [] },
      { fee: 0n, result: null, logs: [] },
    ]);
  });

  it('count the bandwidth that we compute', () => {
    const used = infos.flatMap(({ info }) => {
      const tx = transactions.find(({ txID }) => txID === info.id);
      const { net_usage: usage } = info.receipt as { net_usage?: string };
      if (!tx || usage === undefined) return [];
      // The signature, and the heads of the two members.
      const signed = { raw: `${tx.raw_data_hex}${'00'.repeat(65 + 2 + 3)}` };
      return [[bandwidthOf(signed), Number(usage)]];
    });
    expect(used).toEqual([
      [267, 267],
      [268, 268],
    ]);
  });
});
