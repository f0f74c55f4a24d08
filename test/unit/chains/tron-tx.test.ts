import { readFileSync } from 'node:fs';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { sha256 } from '../../../src/chains/addresses/hashes.ts';
import { tronDigits } from '../../../src/chains/addresses/tron.ts';
import {
  bytesField,
  bytesOf,
  joinBytes,
  messageField,
  messageOf,
  numberField,
  numberOf,
  readFields,
} from '../../../src/chains/tron/protobuf.ts';
import {
  bandwidthOf,
  decodePayload,
  decodeTronTx,
  encodePayload,
  encodeTronTx,
  openTronTx,
  referenceTo,
  reservation,
  signTronTx,
  spreadMs,
  type TronTx,
  timeSpreads,
} from '../../../src/chains/tron/tron-tx.ts';

const key = new Uint8Array(32).fill(9);
/** Random payments of the key, as tronweb builds and signs them. */
const { owner, built } = JSON.parse(readFileSync('test/fixtures/tron/tronweb.json', 'utf8')) as {
  owner: string;
  built: (Record<'refBlockBytes' | 'refBlockHash' | 'feeLimit' | 'to' | 'amount' | 'txID' | 'signature', string> &
    Pick<TronTx, 'expiresAtMs' | 'builtAtMs' | 'contract'>)[];
};
const coins: TronTx = {
  refBlockBytes: '1d00',
  refBlockHash: '081a3fe1f1440f1d',
  expiresAtMs: 1_777_438_164_000,
  builtAtMs: 1_777_438_106_738,
  feeLimit: 0n,
  owner: '41a614f803b6fd780986a42c78ec9c7f77e6ded13c',
  contract: null,
  to: '4112ab345eafdc9af9eaad7c97a2e9c3d4ddc0d7e1',
  amount: 1_000_000n,
};
const tokens: TronTx = {
  ...coins,
  feeLimit: 30_000_000n,
  contract: '41eca9bc828a3005b9a3b909f2cc5c2a54794de05f',
  amount: 2n ** 255n + 7n,
};

describe('the bytes of a payment', () => {
  it('equal those of tronweb, with id and signature, for random payments', () => {
    expect(built.filter(({ contract }) => contract === null).length).toBeGreaterThan(100);
    expect(built.filter(({ contract }) => contract !== null).length).toBeGreaterThan(100);
    for (const [n, { txID, signature, feeLimit, amount, ...rest }] of built.entries()) {
      const tx = { ...rest, feeLimit: BigInt(feeLimit), amount: BigInt(amount), owner: tronDigits(owner) ?? '' };
      const raw = encodeTronTx(tx);
      // The id is the hash of the bytes.
      expect(bytesToHex(sha256(raw))).toBe(txID);
      expect(decodeTronTx(raw)).toEqual(tx);
      const signed = signTronTx(tx, key);
      expect(signed.txid).toBe(txID);
      expect(signed.raw.slice(-130)).toBe(signature);
      // Slow, and the same code each time.
      if (n % 20 === 0) expect(openTronTx(signed.raw)).toEqual({ txid: txID, sender: owner, tx });
    }
  });

  it('hold amounts beyond 2^53', () => {
    for (const amount of [2n ** 53n + 1n, 2n ** 63n - 1n]) {
      expect(decodeTronTx(encodeTronTx({ ...coins, amount })).amount).toBe(amount);
    }
    expect(decodeTronTx(encodeTronTx(tokens)).amount).toBe(2n ** 255n + 7n);
  });

  it('refuse an amount that has no place in them', () => {
    for (const amount of [-1n, 2n ** 256n]) expect(() => encodeTronTx({ ...tokens, amount })).toThrow(RangeError);
    expect(() => decodeTronTx(encodeTronTx({ ...coins, amount: 2n ** 64n }))).toThrow();
  });

  /** The payment with further fields in its raw data, its contract, its parameter or its value. */
  const widened = (
    tx: TronTx,
    {
      raw = [],
      contract = [],
      any = [],
      value = [],
    }: Partial<Record<'raw' | 'contract' | 'any' | 'value', Uint8Array[]>>,
  ): Uint8Array => {
    const fields = readFields(encodeTronTx(tx));
    const inner = messageOf(fields, 11);
    const parameter = messageOf(inner, 2);
    const wholeValue = joinBytes(bytesOf(parameter, 2), ...value);
    const wholeAny = [bytesField(1, bytesOf(parameter, 1)), messageField(2, wholeValue), ...any];
    const whole = [numberField(1, numberOf(inner, 1)), messageField(2, ...wholeAny), ...contract];
    const last = [numberField(14, numberOf(fields, 14)), numberField(18, numberOf(fields, 18))];
    const first = [
      bytesField(1, bytesOf(fields, 1)),
      bytesField(4, bytesOf(fields, 4)),
      numberField(8, numberOf(fields, 8)),
    ];
    return joinBytes(...first, messageField(11, ...whole), ...last, ...raw);
  };

  it('are given back by the widening of these tests, without additions', () => {
    for (const tx of [coins, tokens]) expect(widened(tx, {})).toEqual(encodeTronTx(tx));
  });

  const text = Buffer.from('memo');
  it.each<[string, TronTx, Parameters<typeof widened>[1]]>([
    ['a memo', coins, { raw: [bytesField(10, text)] }],
    ['a reference by number', coins, { raw: [numberField(3, 7n)] }],
    ['an authority', coins, { raw: [messageField(9, bytesField(1, text))] }],
    ['a script', coins, { raw: [bytesField(12, text)] }],
    ['an unknown member', coins, { raw: [numberField(30, 1n)] }],
    ['a second contract', coins, { raw: [messageField(11, numberField(1, 1n))] }],
    ['a permission', coins, { contract: [numberField(5, 2n)] }],
    ['a provider', coins, { contract: [bytesField(3, text)] }],
    ['a name of the contract', coins, { contract: [bytesField(4, text)] }],
    ['a second type', coins, { contract: [numberField(1, 1n)] }],
    ['a member of the parameter', coins, { any: [numberField(3, 1n)] }],
    ['a second amount', coins, { value: [numberField(3, 9n)] }],
    ['coins with a call', tokens, { value: [numberField(3, 9n)] }],
    ['tokens of TRC-10 with a call', tokens, { value: [numberField(5, 9n)] }],
    ['a token of TRC-10', tokens, { value: [numberField(6, 1_000_001n)] }],
    ['a second data', tokens, { value: [bytesField(4, text)] }],
  ])('with %s are refused', (_what, tx, additions) => {
    expect(() => decodeTronTx(widened(tx, additions))).toThrow();
  });

  it.each<[string, Partial<TronTx>]>([
    ['no reference', { refBlockBytes: '' }],
    ['a reference of 3 bytes', { refBlockBytes: '001d00' }],
    ['no hash of the reference', { refBlockHash: '' }],
    ['a hash of 9 bytes', { refBlockHash: '081a3fe1f1440f1d00' }],
    ['no expiration', { expiresAtMs: 0 }],
    ['no time', { builtAtMs: 0 }],
    ['a negative fee limit', { feeLimit: -1n }],
    ['an owner of another network', { owner: 'a0a614f803b6fd780986a42c78ec9c7f77e6ded13c' }],
    ['a recipient of 20 bytes', { to: '12ab345eafdc9af9eaad7c97a2e9c3d4ddc0d7e1' }],
  ])('with %s are refused', (_what, change) => {
    expect(() => decodeTronTx(encodeTronTx({ ...coins, ...change }))).toThrow();
  });

  it('with another call of the token are refused', () => {
    const raw = bytesToHex(encodeTronTx(tokens));
    for (const [from, to] of [
      ['a9059cbb', '095ea7b3'],
      ['a9059cbb000000000000000000000000', 'a9059cbb000000000000000000000041'],
    ] as const) {
      expect(raw).toContain(from);
      expect(() => decodeTronTx(hexToBytes(raw.replace(from, to)))).toThrow('it calls another method');
    }
  });

  it('whose type has another name or number are refused', () => {
    const raw = bytesToHex(encodeTronTx(coins));
    const named = (name: string) => bytesToHex(Buffer.from(name));
    expect(() => decodeTronTx(hexToBytes(raw.replace(named('TransferC'), named('transferC'))))).toThrow();
    expect(() => decodeTronTx(hexToBytes(raw.replace('5a67080112', '5a67081f12')))).toThrow();
  });

  it('at random never break the reader', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(encodeTronTx(decodeTronTx(bytes))).toEqual(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});

describe('a payload', () => {
  it('has one form', () => {
    const payload = { path: "m/44'/195'/1'/0/0", tx: tokens };
    const text = encodePayload(payload);
    expect(decodePayload(text)).toEqual(payload);
    expect(JSON.parse(text).tx).toMatch(/^[0-9a-f]+$/);
    for (const other of [
      `${text} `,
      text.replace('0a02', '0A02'),
      text.replace('"}', '00"}'),
      '{}',
      'null',
      '[]',
      '',
    ]) {
      expect(() => decodePayload(other)).toThrow();
    }
  });
});

describe('a signed transaction', () => {
  it('is the same each time, and its id is the hash of the unsigned bytes', () => {
    const signed = signTronTx(coins, key);
    expect(signTronTx(coins, key)).toEqual(signed);
    expect(signed.txid).toBe(bytesToHex(sha256(encodeTronTx(coins))));
  });

  it('with any third byte changed does not open as the same payment of the same sender', () => {
    const signed = signTronTx(coins, key).raw;
    const opened = openTronTx(signed);
    for (let at = 0; at < signed.length; at += 6) {
      const byte = (Number.parseInt(signed.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
      const other = signed.slice(0, at) + byte + signed.slice(at + 2);
      const found = (() => {
        try {
          return openTronTx(other);
        } catch {
          return null;
        }
      })();
      expect(found).not.toEqual(opened);
    }
  });

  it('uses the bandwidth that the chain counts', () => {
    // Recorded: results of transactions 21851bcf… and c558bd35… of the main network.
    const timed = (amount: bigint) => signTronTx({ ...coins, amount }, key);
    expect(bandwidthOf(timed(1_000_000n))).toBe(267);
    expect(bandwidthOf(timed(10_000_000n))).toBe(268);
  });
});

describe('what keeps attempts apart', () => {
  it('names each attempt', () => {
    expect(reservation('TFrom', { id: 'p1', attempt: 2 })).toBe('attempt:TFrom:p1:2');
  });

  it('spreads expirations evenly, each time the same way', () => {
    const spread = Array.from({ length: 3_000 }, (_, index) => timeSpreads(`attempt:p${index}:1`).expiryMs);
    expect(Math.min(...spread)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...spread)).toBeLessThan(spreadMs);
    expect(new Set(spread).size).toBeGreaterThan(2_950);
    expect(timeSpreads('attempt:p7:1').expiryMs).toBe(spread[7]);
    const mean = spread.reduce((sum, each) => sum + each, 0) / spread.length;
    expect(Math.abs(mean / spreadMs - 0.5)).toBeLessThan(0.05);
  });

  it('gives equal payments of one moment two ids', () => {
    const ids = ['attempt:p1:1', 'attempt:p2:1', 'attempt:p1:2'].map((attempt) => {
      return signTronTx({ ...coins, expiresAtMs: coins.expiresAtMs + timeSpreads(attempt).expiryMs }, key).txid;
    });
    expect(new Set(ids).size).toBe(3);
    const built = Array.from({ length: 3_000 }, (_, index) => timeSpreads(`attempt:p${index}:1`).builtMs);
    expect([Math.min(...built) >= 0, Math.max(...built) < 1_000]).toEqual([true, true]);
    expect(new Set(built).size).toBeGreaterThan(900);
  });

  it('refers to a block by the end of its height and the middle of its id', () => {
    const hash = '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e';
    expect(referenceTo({ height: 66_987_565, hash })).toEqual({
      refBlockBytes: '262d',
      refBlockHash: '52bfa4b2814f816f',
    });
    expect(referenceTo({ height: 65_536, hash }).refBlockBytes).toBe('0000');
  });
});
