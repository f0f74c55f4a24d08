import { readFileSync } from 'node:fs';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { signerOf } from '../../support/chains/tron-node/crypto.ts';
import { blockId, encodeHeader, type Header, merkleRoot } from '../../support/chains/tron-node/header.ts';
import { transactionJson } from '../../support/chains/tron-node/json.ts';
import {
  bandwidthOf,
  type ContractResult,
  decodeRaw,
  encodeMined,
  encodeRaw,
  type TronTransaction,
} from '../../support/chains/tron-node/transaction.ts';

interface RecordedTransaction {
  readonly source: string;
  readonly txID: string;
  readonly raw_data_hex: string;
  readonly contract?: { readonly type: string; readonly value?: Readonly<Record<string, unknown>> };
  readonly signature: readonly string[] | null;
  readonly ret: readonly { readonly contractRet?: ContractResult }[] | null;
  readonly visible: boolean;
}

interface RecordedBlock {
  readonly blockID: string;
  readonly complete: boolean;
  readonly block_header: {
    readonly raw_data: {
      readonly number: number;
      readonly timestamp: number;
      readonly txTrieRoot: string;
      readonly parentHash: string;
      readonly witness_address: string;
      readonly version?: number;
    };
    readonly witness_signature: string;
  };
  readonly transactions: readonly RecordedTransaction[];
}

function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/tron/${name}.json`, import.meta.url), 'utf8'));
}

const blocks = recorded<readonly RecordedBlock[]>('blocks');
const transactions = recorded<readonly RecordedTransaction[]>('transactions');
const infos = recorded<readonly { info: Record<string, unknown> }[]>('infos');

function headerOf({ block_header }: RecordedBlock): Header {
  const { witness_address: witness, version = 0, ...rest } = block_header.raw_data;
  return { ...rest, witness, version };
}

/** The transactions of contracts that the simulated node knows. */
const known = transactions.flatMap((one): { one: RecordedTransaction; tx: TronTransaction }[] => {
  const type = one.contract?.type ?? '';
  if (!['TransferContract', 'TransferAssetContract', 'TriggerSmartContract'].includes(type)) return [];
  return [{ one, tx: decodeRaw(hexToBytes(one.raw_data_hex), (one.signature ?? []).map(hexToBytes)) }];
});

describe('the simulated Tron node on recorded data', () => {
  it('computes the id and finds the producer of every recorded block', () => {
    expect(blocks).toHaveLength(12);
    for (const block of blocks) {
      const header = headerOf(block);
      expect(blockId(header)).toBe(block.blockID);
      expect(signerOf(encodeHeader(header), hexToBytes(block.block_header.witness_signature))).toBe(header.witness);
    }
  });

  it('computes the root of every block whose transactions are complete', () => {
    const complete = blocks.filter((block) => block.complete);
    expect(complete.filter(({ transactions: listed }) => listed.length > 0)).toHaveLength(1);
    for (const { transactions: listed, block_header } of complete) {
      const mined = listed.map(({ raw_data_hex, signature, ret }) => {
        const tx = { raw: hexToBytes(raw_data_hex), signatures: (signature ?? []).map(hexToBytes) };
        return encodeMined(tx, ret?.[0]?.contractRet);
      });
      expect(merkleRoot(mined)).toBe(block_header.raw_data.txTrieRoot);
    }
  });

  it('reads every transaction, and computes its id', () => {
    expect(transactions).toHaveLength(51);
    for (const { raw_data_hex, txID } of transactions) {
      expect(decodeRaw(hexToBytes(raw_data_hex), []).txid).toBe(txID);
    }
    expect(known).toHaveLength(27);
  });

  it('finds the owner of every signed transaction', () => {
    const signed = known.filter(({ tx }) => tx.signatures.length > 0);
    expect(signed).toHaveLength(8);
    for (const { tx } of signed) expect(signerOf(tx.raw, tx.signatures[0] ?? new Uint8Array())).toBe(tx.call.owner);
  });

  it('writes the bytes of a transaction that it read', () => {
    for (const { tx } of known) {
      const terms = { expiration: Number(tx.expiration), timestamp: Number(tx.timestamp), feeLimit: tx.feeLimit };
      const memo = Buffer.from(tx.memo).toString('utf8');
      const reference = `000000000000${tx.refBlockBytes}${tx.refBlockHash}${'0'.repeat(32)}`;
      expect(bytesToHex(encodeRaw(tx.call, { ...terms, memo, reference }))).toBe(bytesToHex(tx.raw));
    }
  });

  it('prints a contract as the recorded node printed it', () => {
    // One page of the documentation has a digit too many, which the id disproves.
    const isWhole = ({ one }: { one: RecordedTransaction }): boolean => {
      const { data = '', owner_address: owner = '' } = one.contract?.value ?? {};
      return String(owner).startsWith('41') && String(data).length % 2 === 0;
    };
    const printed = known.filter(isWhole);
    expect(printed.length).toBeGreaterThan(10);
    for (const { one, tx } of printed) {
      const { raw_data, raw_data_hex, txID } = JSON.parse(JSON.stringify(transactionJson(tx), numbers));
      expect({ value: raw_data.contract[0].parameter.value, raw_data_hex, txID }).toEqual({
        ...{ value: one.contract?.value, raw_data_hex: one.raw_data_hex, txID: one.txID },
      });
    }
  });

  it('counts the bandwidth that the recorded results counted', () => {
    const byId = new Map(infos.map(({ info }) => [info.id, info]));
    const found = known.filter(({ tx }) => byId.has(tx.txid) && tx.signatures.length > 0);
    expect(found.length).toBeGreaterThan(0);
    for (const { tx } of found) {
      const { net_usage: usage, net_fee: fee } = byId.get(tx.txid)?.receipt as { net_usage?: number; net_fee?: number };
      expect(Number(bandwidthOf(tx))).toBe(usage ?? Number(fee) / 1_000);
    }
  });
});

/** Big integers as numbers, as an answer has them. */
function numbers(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
