import { Address, beginCell, Cell, contractAddress, loadMessage } from '@ton/core';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { highloadAddress, highloadCode, queryIdOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import { type JettonCode, jettonCodeOf, jettonWalletAddress, layouts } from '../../../src/chains/ton/ton-jetton.ts';
import { TonTransactions } from '../../../src/chains/ton/ton-transactions.ts';
import {
  encodeOrder,
  encodePayload,
  expiryMs,
  openTonTx,
  reservationOf,
  type TonPayload,
  type TonTx,
} from '../../../src/chains/ton/ton-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { codeOf, type Highload, highloadCell, jettonWalletInit } from '../../support/chains/ton-contracts.ts';
import { normalHash } from '../../support/chains/ton-node/names.ts';

const addressOf = (byte: number): string => textOf(new Address(0, Buffer.alloc(32, byte)));
const to = addressOf(2);
const thief = addressOf(3);
const master = addressOf(4);
const otherMaster = addressOf(5);
const builtAt = 1_790_000_000;

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const network = { chain: 'ton', tokens: new Map([['USDT', master]]), jettonValue: 50_000_000n };
const signer = new TonTransactions({ network, keys });
const now = new Date(builtAt * 1_000);
const wallet = signer.hotWallet();
const key = keys.ed25519("m/44'/607'/0'");
const walletCode: JettonCode = { layout: 'with_code', code: codeOf('jettonWallet').toBoc().toString('hex') };

interface Case {
  readonly intent: PaymentIntent;
  readonly payload: TonPayload;
  readonly fee: bigint;
  readonly reserves: readonly string[];
  readonly expiresAt: Expiry | null;
  readonly chain: string;
}

/** A case whose bytes have other members, and whose other parts fit them. */
function withTx(one: Case, change: Partial<TonTx>): Case {
  const tx = { ...one.payload.tx, ...change };
  const expiresAt = { timeMs: expiryMs(tx) };
  return { ...one, payload: { ...one.payload, tx }, expiresAt };
}

const withIntent = (one: Case, change: Partial<PaymentIntent>): Case => ({
  ...one,
  intent: { ...one.intent, ...change },
});

const coins: Case = withTx(
  {
    intent: { id: 'one', attempt: 1, from: null, contract: null, to, tag: 'Anna 7', amount: 5_000_000_000n },
    payload: {
      tx: {
        ...{ queryId: queryIdOf(41), createdAt: builtAt - 5, to, amount: 5_000_000_000n },
        ...{ comment: 'Anna 7', jetton: null },
      },
      ...{ deploys: false, code: null },
    },
    ...{ fee: 20_000_000n, reserves: [reservationOf(41)], expiresAt: null, chain: 'ton' },
  },
  {},
);
const jetton = (code: JettonCode): Case =>
  withIntent(
    withTx(
      { ...coins, fee: 70_000_000n, payload: { ...coins.payload, code } },
      { jetton: { wallet: jettonWalletAddress(wallet, master, code), value: 50_000_000n } },
    ),
    { contract: master },
  );
const all: Readonly<Record<string, Case>> = {
  'a payment of coins': coins,
  'a payment without a comment': withIntent(withTx(coins, { comment: null }), { tag: null }),
  'the first payment, which deploys the wallet': { ...coins, payload: { ...coins.payload, deploys: true } },
  ...Object.fromEntries(
    layouts.map((layout) => [`a payment of a jetton ${layout}`, jetton({ ...walletCode, layout })]),
  ),
};

function prepared({ payload, fee, reserves, expiresAt }: Case): PreparedTx {
  return { payload: encodePayload(payload, wallet), reserves, fee, expiresAt };
}

function faultsOf(one: Case, told = prepared(one)): readonly string[] {
  try {
    return signer.open(one.chain, one.intent, told, now).faults;
  } catch (error) {
    if (error instanceof SignerError && error.code === 'refused') return ['no transaction'];
    throw error;
  }
}

/** Each member by the least that it can change. */
function mutated(tx: TonTx): [string, TonTx][] {
  const others: [string, Partial<TonTx>][] = [
    ['the next query id', { queryId: tx.queryId + 1 }],
    ['an earlier query id', { queryId: tx.queryId - 1 }],
    ['a second later', { createdAt: tx.createdAt + 1 }],
    ['a second earlier', { createdAt: tx.createdAt - 1 }],
    ['one unit more', { amount: tx.amount + 1n }],
    ['one unit less', { amount: tx.amount - 1n }],
    ['another recipient', { to: thief }],
    ['the wallet as recipient', { to: wallet }],
    ['another comment', { comment: 'Anna 8' }],
    ['a comment with a space more', { comment: `${tx.comment ?? ''} ` }],
    ['no comment, or one', { comment: tx.comment === null ? 'Anna' : null }],
    ['a jetton, or coins', { jetton: tx.jetton === null ? { wallet: thief, value: 50_000_000n } : null }],
  ];
  if (tx.jetton !== null) {
    const { wallet: own, value } = tx.jetton;
    others.push(
      ["another contract than the wallet's own", { jetton: { wallet: thief, value } }],
      [
        "the wallet's own contract of another jetton",
        { jetton: { wallet: jettonWalletAddress(wallet, otherMaster, walletCode), value } },
      ],
      ['a higher value of the message', { jetton: { wallet: own, value: value + 1n } }],
      ['a lower value of the message', { jetton: { wallet: own, value: value - 1n } }],
    );
  }
  return others.map(([name, change]) => [name, { ...tx, ...change }]);
}

test('the hot wallet is the highload wallet of the key of the shared address', () => {
  expect(wallet).toBe(highloadAddress(key.publicKey));
  expect(signer.isHotWallet('ton', wallet)).toBe(true);
  for (const other of [wallet.toLowerCase(), `${wallet} `, '', thief])
    expect(signer.isHotWallet('ton', other)).toBe(false);
});

test('chains that are not TON are refused', () => {
  const other = new TonTransactions({ network: { ...network, chain: 'solana' }, keys });
  expect(() => other.hotWallet()).toThrow('solana is not TON');
});

test('messages are the same as another encoder makes', () => {
  const highload: Highload = { key: { seed: key.privateKey, publicKey: key.publicKey } };
  for (const deploys of [false, true]) {
    const payload = { ...coins.payload, deploys };
    const { queryId, createdAt, amount } = payload.tx;
    const body = beginCell().storeUint(0, 32).storeStringTail('Anna 7').endCell();
    const message = { to: Address.parse(to), value: amount, body };
    const cell = highloadCell(highload, { queryId, createdAt, message, mode: 1, deploys });
    const { txid, raw } = signer.open('ton', coins.intent, prepared({ ...coins, payload }), now).sign();
    const [own, other] = [Cell.fromHex(raw), cell].map((each) => loadMessage(each.beginParse()));
    if (!own || !other) throw new Error('there is no message');
    expect(own.body.hash().equals(other.body.hash())).toBe(true);
    expect(own.init?.data?.hash()).toEqual(other.init?.data?.hash());
    expect(own.init?.code?.hash()).toEqual(other.init?.code?.hash());
    expect(own.init === null).toBe(!deploys);
    expect(Buffer.from(txid, 'hex').toString('base64')).toBe(normalHash(other));
  }
});

test('the code of the wallet is the published one', () => {
  expect(highloadCode().hash().toString('hex')).toBe(codeOf('highloadWalletV3').hash().toString('hex'));
  expect(highloadCode().hash().toString('hex')).toBe(
    '11acad7955844090f283bf238bc1449871f783e7cc0979408d3f4859483e8525',
  );
});

test('the address of a jetton wallet is that of its first state', () => {
  const init = jettonWalletInit(Address.parse(master), Address.parse(wallet), codeOf('jettonWallet'));
  expect(jettonWalletAddress(wallet, master, walletCode)).toBe(textOf(contractAddress(0, init)));
  const found = layouts.map((layout) => jettonWalletAddress(wallet, master, { ...walletCode, layout }));
  expect(new Set(found).size).toBe(3);
  for (const [index, layout] of layouts.entries()) {
    expect(jettonCodeOf(found[index] ?? '', wallet, master, codeOf('jettonWallet'))?.layout).toBe(layout);
    expect(jettonCodeOf(found[index] ?? '', thief, master, codeOf('jettonWallet'))).toBeNull();
    expect(jettonCodeOf(found[index] ?? '', wallet, otherMaster, codeOf('jettonWallet'))).toBeNull();
  }
});

describe.each(Object.entries(all))('%s', (_name, sound) => {
  test('is signed, always to the same bytes', () => {
    const { faults, sign, builtAtMs, leastCounted } = signer.open(sound.chain, sound.intent, prepared(sound), now);
    expect(faults).toEqual([]);
    expect(builtAtMs).toBe(builtAt * 1_000);
    expect(leastCounted).toBe(sound.payload.tx.jetton?.value ?? 0n);
    const signed = sign();
    expect(sign()).toEqual(signed);
    const opened = openTonTx(signed.raw);
    expect(opened).toMatchObject({ txid: signed.txid, wallet, tx: sound.payload.tx });
    // The name leaves out what deploys the wallet.
    expect(opened.sentHash === signed.txid).toBe(!sound.payload.deploys);
  });

  test.each(mutated(sound.payload.tx))('is refused with %s in its bytes', (_what, tx) => {
    expect(faultsOf({ ...sound, payload: { ...sound.payload, tx } })).not.toEqual([]);
  });

  const timeFault = 'the last second of the transaction is not the one stated';
  const reservesFault = 'the reserves are not the query id of the transaction';
  test.each<[string, Case, string]>([
    ['another chain', { ...sound, chain: 'solana' }, 'the chain is not the one asked for'],
    ['a sweep', withIntent(sound, { from: [thief] }), 'a sweep has no place on this chain'],
    ['an expiry by height', { ...sound, expiresAt: { height: 1_790_000_000 } }, timeFault],
    ['no expiry', { ...sound, expiresAt: null }, timeFault],
    ['a later expiry', { ...sound, expiresAt: { timeMs: expiryMs(sound.payload.tx) + 1 } }, timeFault],
    ['an earlier expiry', { ...sound, expiresAt: { timeMs: expiryMs(sound.payload.tx) - 1 } }, timeFault],
    ['no reservation', { ...sound, reserves: [] }, reservesFault],
    ['two reservations', { ...sound, reserves: [...sound.reserves, ...sound.reserves] }, reservesFault],
    ['the next reservation', { ...sound, reserves: [reservationOf(42)] }, reservesFault],
    [
      'a fee that is not more than what the message carries',
      { ...sound, fee: sound.payload.tx.jetton?.value ?? 0n },
      'the fee does not cover what the message carries',
    ],
    [
      'a time beyond the clock of the signer',
      withTx(sound, { createdAt: builtAt + 31 }),
      'the order is ahead of the clock of the signer',
    ],
  ])('is refused with %s', (_what, other, fault) => {
    expect(faultsOf(other)).toEqual([fault]);
  });

  test('is signed again long after it was built', () => {
    const late = new Date((builtAt + 86_400) * 1_000);
    expect(signer.open('ton', sound.intent, prepared(sound), late).faults).toEqual([]);
  });

  const told = JSON.parse(prepared(sound).payload);
  const cell = Cell.fromHex(told.order);
  /** The order with one of its fixed parts changed: bits from one place on. */
  const withBits = (at: number, value: bigint, length: number): string => {
    const bits = cell.bits;
    const builder = beginCell().storeBits(bits.substring(0, at)).storeUint(value, length);
    builder.storeBits(bits.substring(at + length, bits.length - at - length));
    for (const ref of cell.refs) builder.storeRef(ref);
    return builder.endCell().toBoc().toString('hex');
  };
  const message = cell.refs[0] ?? new Cell();
  const twice = beginCell().storeBits(cell.bits).storeRef(message).storeRef(message).endCell();
  const longer = beginCell().storeSlice(cell.beginParse()).storeBit(true).endCell();
  test.each<[string, string]>([
    ['another wallet number', withBits(0, 0x10aen, 32)],
    ['a mode that carries the whole balance', withBits(32, 128n, 8)],
    ['a mode that destroys the wallet', withBits(32, 33n, 8)],
    ['no separate fees', withBits(32, 0n, 8)],
    ['a bit number that no query id has', withBits(40, 1_023n, 23)],
    ['another time limit', withBits(127, 3_599n, 22)],
    ['two messages', twice.toBoc().toString('hex')],
    ['a bit more', longer.toBoc().toString('hex')],
    ['no message', beginCell().storeBits(cell.bits).endCell().toBoc().toString('hex')],
  ])('is no transaction with %s', (_what, order) => {
    expect(order).not.toBe(told.order);
    const payload = JSON.stringify({ ...told, order });
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
  });

  test.each([
    '',
    '{}',
    'null',
    'no JSON',
    '[]',
    '{"order":""}',
    `${prepared(sound).payload} `,
  ])('is no transaction as %j', (payload) => {
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
  });
});

test('a jetton that the file does not name is refused', () => {
  const code = walletCode;
  const other = withIntent(
    withTx(jetton(code), { jetton: { wallet: jettonWalletAddress(wallet, otherMaster, code), value: 50_000_000n } }),
    { contract: otherMaster },
  );
  expect(faultsOf(other)).toEqual(['the payment is in a token that the file does not name']);
});

test('a code that does not give the address of the jetton wallet is refused', () => {
  const sound = jetton(walletCode);
  for (const code of [
    { ...walletCode, layout: 'plain' as const },
    { ...walletCode, code: new Cell().toBoc().toString('hex') },
  ]) {
    expect(faultsOf({ ...sound, payload: { ...sound.payload, code } })).toEqual([
      "the message goes to another contract than the wallet's own for the token",
    ]);
  }
  expect(encodeOrder(sound.payload.tx, wallet).refs).toHaveLength(1);
});
