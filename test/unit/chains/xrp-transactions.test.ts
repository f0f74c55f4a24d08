import { encodeRippleClassic, rippleAddress } from '../../../src/chains/addresses/ripple.ts';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { reservationOf } from '../../../src/chains/xrp/xrp-preparation.ts';
import { XrpTransactions } from '../../../src/chains/xrp/xrp-transactions.ts';
import { decodePayload, encodePayload, openXrpTx, type XrpAction, type XrpTx } from '../../../src/chains/xrp/xrp-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const signer = new XrpTransactions({ network: { chain: 'ripple', networkId: 0 }, keys });
const hot = signer.hotWallet();
const path = "m/44'/144'/1'/0/0";
const to = encodeRippleClassic(new Uint8Array(20).fill(2));
const thief = encodeRippleClassic(new Uint8Array(20).fill(3));

const payment = { kind: 'payment', to, tag: 7, amount: 5_000_000n } as const;
const tx: XrpTx = {
  account: hot,
  action: payment,
  fee: 12n,
  ticket: 9,
  sequence: 0,
  lastLedger: 1_000,
  networkId: null,
};
const intent: PaymentIntent = {
  id: 'one',
  attempt: 1,
  from: null,
  contract: null,
  to,
  tag: '7',
  amount: 5_000_000n,
};

interface Case {
  readonly intent: PaymentIntent;
  readonly tx: XrpTx;
  readonly path: string;
  readonly fee: bigint;
  readonly reserves: readonly string[];
  readonly expiresAt: Expiry | null;
  readonly chain: string;
}

const byTicket: Case = {
  ...{ intent, tx, path, fee: 12n, chain: 'ripple' },
  reserves: [reservationOf(hot, tx)],
  expiresAt: { height: 1_000 },
};
const turn = { ticket: null, sequence: 31 };
const untagged: Case = {
  ...byTicket,
  intent: { ...intent, tag: null },
  tx: { ...tx, ...turn, action: { ...payment, tag: null } },
  reserves: [reservationOf(hot, turn)],
};
const setup = (name: string, action: XrpAction): Case => ({
  ...untagged,
  intent: { ...intent, to: hot, tag: null, amount: 0n, setup: name },
  tx: { ...untagged.tx, action },
});
const payments = { 'a payment by a ticket': byTicket, 'a payment without a tag, by a sequence number': untagged };
const setups = {
  'a set-up of tickets': setup('tickets:40', { kind: 'tickets', count: 40 }),
  'the set-up of the flag for tags': setup('require_tag', { kind: 'require_tag' }),
};

function prepared({ path: key, tx: built, fee, reserves, expiresAt }: Case): PreparedTx {
  return { payload: encodePayload({ path: key, tx: built }), reserves, fee, expiresAt };
}

/** What is wrong with a payment; 'no transaction' for a payload that is none. */
function faultsOf(one: Case, tx = prepared(one)): readonly string[] {
  try {
    return signer.open(one.chain, one.intent, tx).faults;
  } catch (error) {
    if (error instanceof SignerError && error.code === 'refused') return ['no transaction'];
    throw error;
  }
}

/** The members of a transaction and of its action, each changed by the least that it can be. */
function mutated({ action, ...rest }: XrpTx): [string, XrpTx][] {
  const ofTx = changed(rest).map(([name, next]): [string, XrpTx] => [name, { ...next, action }]);
  const ofAction = changed<XrpAction>(action).map(([name, next]): [string, XrpTx] => [name, { ...rest, action: next }]);
  return [...ofTx, ...ofAction];
}

function changed<T extends object>(members: T): [string, T][] {
  const change = (value: unknown): readonly unknown[] => {
    if (typeof value === 'bigint') return [value + 1n, value - 1n];
    if (typeof value === 'number') return value === 0 ? [1] : [value + 1, value - 1, null];
    return value === null ? [0, 1] : [thief];
  };
  return Object.entries(members)
    .filter(([name]) => name !== 'kind')
    .flatMap(([name, value]) =>
      change(value)
        // Only these may be absent.
        .filter((next) => next !== null || ['tag', 'ticket', 'networkId'].includes(name))
        .map((next): [string, T] => [`${name} ${String(next)}`, { ...members, [name]: next }]),
    );
}

test('the wallet of each network has a separate key, because its signatures are valid on all', () => {
  const wallets = [0, 1, 2, 21_337].map((networkId) =>
    new XrpTransactions({ network: { chain: 'ripple', networkId }, keys }).hotWallet(),
  );
  expect(wallets[0]).toBe(rippleAddress(keys.secp256k1("m/44'/144'/1'/0/0").publicKey));
  expect(wallets[1]).toBe(rippleAddress(keys.secp256k1("m/44'/144'/1'/1/1").publicKey));
  expect(new Set(wallets).size).toBe(4);
});

test('the wallet is known by all of its letters', () => {
  expect(signer.isHotWallet('ripple', hot)).toBe(true);
  for (const other of [hot.toLowerCase(), hot.toUpperCase(), `${hot} `, '', thief]) {
    expect(signer.isHotWallet('ripple', other)).toBe(false);
  }
});

test('chains that are not the XRP Ledger are refused', () => {
  expect(() => new XrpTransactions({ network: { chain: 'stellar', networkId: 0 }, keys })).toThrow(/stellar/);
});

test('attempts of a payment exclude each other', () => {
  expect(signer.traits).toMatchObject({ exclusive: true });
});

describe.each(Object.entries({ ...payments, ...setups }))('%s', (_name, sound) => {
  test('is signed by the wallet, always to the same bytes', () => {
    const { faults, sign } = signer.open(sound.chain, sound.intent, prepared(sound));
    expect(faults).toEqual([]);
    const signed = sign();
    expect(sign()).toEqual(signed);
    expect(openXrpTx(signed.raw)).toEqual({ txid: signed.txid, tx: sound.tx });
  });

  test.each(mutated(sound.tx))('is refused with another member in its bytes: %s', (_, other) => {
    expect(faultsOf({ ...sound, tx: other })).not.toEqual([]);
  });

  test.each<[string, Partial<Case>]>([
    ['another chain', { chain: 'stellar' }],
    ['a key of a deposit address', { path: "m/44'/144'/0'/0/0" }],
    ['the key of another network', { path: "m/44'/144'/1'/1/1" }],
    ['another fee', { fee: 13n }],
    ['no fee', { fee: 0n, tx: { ...sound.tx, fee: 0n } }],
    ['no reservation', { reserves: [] }],
    ['another reservation', { reserves: [reservationOf(hot, { ticket: 10, sequence: 0 })] }],
    ['two reservations', { reserves: [...sound.reserves, 'ticket:x:1'] }],
    ['the reservation of another account', { reserves: [reservationOf(thief, sound.tx)] }],
    ['another last ledger', { expiresAt: { height: 1_001 } }],
    ['an expiry by time', { expiresAt: { timeMs: 1_000 } }],
    ['no expiry', { expiresAt: null }],
  ])('is refused with %s', (_, change) => {
    expect(faultsOf({ ...sound, ...change })).not.toEqual([]);
  });

  test.each<[string, Partial<PaymentIntent>]>([
    ['another recipient', { to: thief }],
    ['another amount', { amount: 5_000_001n }],
    ['tag 0', { tag: '0' }],
    ['another tag', { tag: '8' }],
    ['the same tag in another writing', { tag: '07' }],
    ['a token', { contract: thief }],
    ['a sweep', { from: [thief] }],
  ])('is refused for a decision with %s', (_, change) => {
    expect(faultsOf({ ...sound, intent: { ...sound.intent, ...change } })).not.toEqual([]);
  });

  test('is refused with bytes of the other kinds', () => {
    for (const other of Object.values({ ...payments, ...setups })) {
      const { action } = other.tx;
      if (action.kind !== sound.tx.action.kind)
        expect(faultsOf({ ...sound, tx: { ...sound.tx, action } })).not.toEqual([]);
    }
  });

  test.each([
    '',
    '{}',
    'null',
    'no JSON',
    '{"path":"m","tx":""}',
    '{"path":"m","tx":"12000A"}',
  ])('is refused with the payload %p', (payload) => {
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
  });

  test('is refused with bytes that say more than a payment of ours', () => {
    const unsigned = JSON.parse(prepared(sound).payload) as { tx: string };
    // Flags of a partial payment, in their place.
    const payload = JSON.stringify({ path, tx: unsigned.tx.replace(/^(12....)/, '$12200020000') });
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
    expect(() => decodePayload(payload)).toThrow('it has a member that no transaction of ours has');
  });
});

describe.each(Object.entries(payments))('%s', (_name, sound) => {
  const action = sound.tx.action as typeof payment;

  test('is refused when the wallet pays itself', () => {
    const change = { tx: { ...sound.tx, action: { ...action, to: hot } }, intent: { ...sound.intent, to: hot } };
    expect(faultsOf({ ...sound, ...change })).toEqual(['the wallet pays itself']);
  });

  test('is refused when it pays nothing', () => {
    const change = { tx: { ...sound.tx, action: { ...action, amount: 0n } }, intent: { ...sound.intent, amount: 0n } };
    expect(faultsOf({ ...sound, ...change })).toEqual(['the transaction pays nothing']);
  });

  test('is refused for a set-up', () => {
    expect(faultsOf({ ...sound, intent: { ...sound.intent, setup: 'tickets:40' } })).not.toEqual([]);
  });
});

describe.each(Object.entries(setups))('%s', (_name, sound) => {
  test.each<[string, Partial<PaymentIntent>]>([
    ['an amount', { amount: 1n }],
    ['another account', { to: thief }],
    ['a tag', { tag: '7' }],
    ['another name', { setup: 'tickets:41' }],
    ['another writing of a name', { setup: 'tickets:040' }],
  ])('is refused for a decision with %s', (_, change) => {
    expect(faultsOf({ ...sound, intent: { ...sound.intent, ...change } })).not.toEqual([]);
  });

  test('is refused for a payment', () => {
    const { setup: _, ...one } = sound.intent;
    expect(faultsOf({ ...sound, intent: one })).not.toEqual([]);
  });
});

test.each([0, 251, 4_294_967_295])('%s tickets are refused, also when that was decided', (count) => {
  expect(faultsOf(setup(`tickets:${count}`, { kind: 'tickets', count }))).toEqual([
    'an account has no such number of tickets',
  ]);
});
