import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { type Address, createAddressWithSeed, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit';
import { computeBudget, memo, system } from '../../support/chains/solana-node/instructions.ts';
import {
  associatedAddress,
  bytesOf,
  isAddress,
  joined,
  keyOf,
  programs,
  seededAddress,
} from '../../support/chains/solana-node/keys.ts';
import { littleEndian, Reader } from '../../support/chains/solana-node/reader.ts';
import { signTransaction } from '../../support/chains/solana-node/signing.ts';
import { decodeTransaction, feeOf, idOf, isSigned, Malformed } from '../../support/chains/solana-node/transaction.ts';

function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/solana/${name}.json`, import.meta.url), 'utf8')) as T;
}

const { transactions: samples } = recorded<{ transactions: { from: string; base64: string }[] }>('wire-samples');

interface Version1 {
  readonly block: {
    readonly transactions: readonly {
      readonly transaction: {
        readonly message: {
          readonly accountKeys: readonly string[];
          readonly header: Record<string, number>;
          readonly instructions: readonly { accounts: number[]; data: string; programIdIndex: number }[];
          readonly recentBlockhash: string;
          readonly transactionConfig: Record<string, number>;
        };
        readonly signatures: readonly string[];
      };
      readonly meta: { readonly fee: number };
    }[];
  };
}

/** The recorded transaction of version 1, encoded as SIMD-0385 says. */
function encodeVersion1({ message, signatures }: Version1['block']['transactions'][number]['transaction']): Uint8Array {
  const { header, accountKeys, instructions, transactionConfig: config } = message;
  const data = instructions.map((one) => base58.decode(one.data));
  return joined([
    Uint8Array.of(0x81, header.numRequiredSignatures ?? 0, header.numReadonlySignedAccounts ?? 0),
    Uint8Array.of(header.numReadonlyUnsignedAccounts ?? 0),
    littleEndian(0b1111, 4),
    base58.decode(message.recentBlockhash),
    Uint8Array.of(instructions.length, accountKeys.length),
    ...accountKeys.map(bytesOf),
    littleEndian(config.priorityFee ?? 0, 8),
    littleEndian(config.computeUnitLimit ?? 0, 4),
    littleEndian(config.loadedAccountsDataSizeLimit ?? 0, 4),
    ...instructions.map(({ programIdIndex, accounts }, index) =>
      joined([Uint8Array.of(programIdIndex, accounts.length), littleEndian(data[index]?.length ?? 0, 2)]),
    ),
    ...instructions.map(({ accounts }, index) => joined([Uint8Array.from(accounts), data[index] ?? new Uint8Array()])),
    ...signatures.map((one) => base58.decode(one)),
  ]);
}

const payer = keyOf('payer');
const hash = keyOf('a hash').address;
const transfer = system.transfer(payer.address, keyOf('receiver').address, 5n);

describe('transactions of the simulated network', () => {
  it('are read as the library of Solana and the main network write them, in each version', () => {
    expect(samples.length).toBeGreaterThan(5);
    for (const { base64 } of samples) {
      const tx = decodeTransaction(Uint8Array.from(Buffer.from(base64, 'base64')));
      expect(tx.signatures).toHaveLength(tx.header.numRequiredSignatures);
      expect(tx.keys.every(isAddress)).toBe(true);
    }
    const versions = samples.map(({ base64 }) => decodeTransaction(Buffer.from(base64, 'base64')).version);
    expect(new Set(versions)).toEqual(new Set(['legacy', 0]));
    for (const version of ['legacy', 0, 1] as const) {
      const tx = signTransaction(payer, hash, { instructions: [transfer], version });
      expect(tx).toMatchObject({ version, blockhash: hash });
      expect(isSigned(tx)).toBe(true);
      expect(base58.decode(idOf(tx))).toEqual(ed25519.sign(tx.message, payer.secret));
    }
  });

  it('of the main network have valid signatures, also one of version 1', () => {
    const signed = samples.map(({ base64 }) => isSigned(decodeTransaction(Buffer.from(base64, 'base64'))));
    expect(signed.filter((one) => one).length).toBeGreaterThan(4);
    const [shown] = recorded<Version1>('v1-mainnet-449391489').block.transactions;
    if (!shown) throw new Error('no transaction is recorded');
    const tx = decodeTransaction(encodeVersion1(shown.transaction));
    expect(isSigned(tx)).toBe(true);
    expect(tx.config).toEqual({ ...shown.transaction.message.transactionConfig, priorityFee: 3n });
    expect(feeOf(tx, 5_000n)).toBe(BigInt(shown.meta.fee));
  });

  it('with another byte in their message have no valid signature', () => {
    const tx = signTransaction(payer, hash, { instructions: [transfer] });
    for (const index of [tx.wire.length - 1, 70, 101]) {
      const wire = tx.wire.slice();
      wire[index] = (wire[index] ?? 0) ^ 1;
      expect([index, isSignedOrMalformed(wire)]).toEqual([index, false]);
    }
  });

  it('that are cut, too long or refer to nothing are refused', () => {
    const { wire } = signTransaction(payer, hash, { instructions: [transfer] });
    for (let length = 0; length < wire.length; length += 1) {
      expect(() => decodeTransaction(wire.slice(0, length))).toThrow(Malformed);
    }
    expect(() => decodeTransaction(Uint8Array.from([...wire, 0]))).toThrow(Malformed);
    const lost = wire.slice();
    lost[lost.length - 14] = 9; // an account that the transaction does not have
    expect(() => decodeTransaction(lost)).toThrow(Malformed);
    expect(() => decodeTransaction(Uint8Array.from([0]))).toThrow(Malformed);
  });

  it('state their fee by signatures, and by price and limit of the work', () => {
    const fee = (...instructions: Parameters<typeof signTransaction>[2]['instructions']): bigint =>
      feeOf(signTransaction(payer, hash, { instructions }), 5_000n);
    expect(fee(transfer)).toBe(5_000n);
    expect(fee(computeBudget.price(1_000_000n), computeBudget.limit(10_001), transfer)).toBe(15_001n);
    expect(fee(computeBudget.price(1n), computeBudget.limit(1), transfer)).toBe(5_001n);
    expect(fee(computeBudget.price(1_000_000n), transfer, memo('x'))).toBe(208_000n);
  });
});

function isSignedOrMalformed(wire: Uint8Array): boolean {
  try {
    return isSigned(decodeTransaction(wire));
  } catch (error) {
    expect(error).toBeInstanceOf(Malformed);
    return false;
  }
}

describe('addresses of the simulated network', () => {
  it('are derived as the library of Solana derives them', async () => {
    for (let index = 0; index < 20; index += 1) {
      const [owner, mint] = [keyOf(`owner ${index}`).address, keyOf(`mint ${index}`).address];
      const baseAddress = owner as Address;
      const made = await createAddressWithSeed({
        baseAddress,
        programAddress: programs.system as Address,
        seed: `${index}`,
      });
      expect(seededAddress(owner, `${index}`, programs.system)).toBe(made);
      const encode = (address: string) => getAddressEncoder().encode(address as Address);
      const [derived] = await getProgramDerivedAddress({
        programAddress: programs.associated as Address,
        seeds: [owner, programs.token, mint].map(encode),
      });
      expect(associatedAddress(owner, mint, programs.token)).toBe(derived);
    }
  });
});

describe('lengths in bytes', () => {
  it('have one to three bytes, in their shortest form', () => {
    const length = (...bytes: number[]) => new Reader(Uint8Array.from(bytes)).length();
    expect([length(0x7f), length(0x80, 1), length(0xff, 0x7f), length(0xff, 0xff, 3)]).toEqual([
      127, 128, 16_383, 65_535,
    ]);
    for (const bytes of [[0x80], [0x80, 0], [0xff, 0xff, 4], [0x80, 0x80, 0x80, 1], []]) {
      expect(() => length(...bytes)).toThrow();
    }
  });
});
