import { encodeStellarAccount } from '../../../src/chains/addresses/stellar.ts';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { networkIdOf } from '../../../src/chains/stellar/stellar-section.ts';
import { StellarTransactions } from '../../../src/chains/stellar/stellar-transactions.ts';
import {
  decodePayload,
  encodePayload,
  openStellarTx,
  reservationOf,
  type StellarAction,
  type StellarTx,
} from '../../../src/chains/stellar/stellar-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const addressOf = (byte: number): string => encodeStellarAccount(new Uint8Array(32).fill(byte));
const to = addressOf(2);
const thief = addressOf(3);
const issuer = addressOf(4);
const usdc = { code: 'USDC', issuer };

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const network = {
  chain: 'stellar',
  passphrase: 'Test SDF Network ; September 2015',
  tokens: new Map([['USDC', issuer]]),
  channels: 3,
};
const networkId = networkIdOf(network);
const signer = new StellarTransactions({ network, keys });
const { wallet, channels } = signer.accounts;
const [first = '', second = '', third = ''] = channels;

interface Case {
  readonly intent: PaymentIntent;
  readonly tx: StellarTx;
  readonly channel: number;
  readonly fee: bigint;
  readonly reserves: readonly string[];
  readonly expiresAt: Expiry | null;
  readonly chain: string;
}

/** A case whose bytes have another member, and whose other parts fit them. */
function withTx(one: Case, change: Partial<StellarTx>): Case {
  const tx = { ...one.tx, ...change };
  const expiresAt = { timeMs: tx.maxTimeSec * 1_000 };
  return { ...one, tx, fee: BigInt(tx.fee), reserves: [reservationOf(tx)], expiresAt };
}

const withIntent = (one: Case, change: Partial<PaymentIntent>): Case => ({
  ...one,
  intent: { ...one.intent, ...change },
});

const payment = { kind: 'payment', to, token: null, amount: 50_000_000n } as const;
const tx: StellarTx = {
  ...{ source: second, wallet, fee: 100, sequence: 9n, maxTimeSec: 1_790_000_000 },
  memo: { id: 7n },
  action: payment,
};
const intent: PaymentIntent = {
  ...{ id: 'one', attempt: 1, from: null, contract: null },
  ...{ to, tag: '7', amount: 50_000_000n },
};
const byChannel: Case = withTx(
  { intent, tx, channel: 2, fee: 0n, reserves: [], expiresAt: null, chain: 'stellar' },
  {},
);
const ofWallet = { ...byChannel, channel: 0 };
const setup = (name: string, action: StellarAction): Case =>
  withIntent(withTx(ofWallet, { source: wallet, memo: null, action }), {
    ...{ to: wallet, tag: null, amount: 0n, setup: name },
  });

const payments: Readonly<Record<string, Case>> = {
  'a payment of coins by a channel': byChannel,
  'a payment of a token with a text, by a channel': withIntent(
    withTx(byChannel, { memo: { text: 'Anna' }, action: { ...payment, token: usdc } }),
    { contract: issuer, tag: 'Anna' },
  ),
  'a payment without a memo, by the wallet': withIntent(withTx(ofWallet, { source: wallet, memo: null }), {
    tag: null,
  }),
  'a payment to a new account': withTx(byChannel, {
    action: { kind: 'create_account', to, amount: 50_000_000n },
  }),
};
const setups: Readonly<Record<string, Case>> = {
  'the entry that asks for memos': setup('require_memo', { kind: 'require_memo' }),
  'a trust line': setup('trust:USDC', { kind: 'change_trust', token: usdc }),
  'a new channel': setup('channel:3:2', { kind: 'create_account', to: third, amount: 20_000_000n }),
  'coins for a channel': setup('top_up:1:0.5', { kind: 'payment', to: first, token: null, amount: 5_000_000n }),
};
const all = { ...payments, ...setups };

function prepared({ channel, tx: built, fee, reserves, expiresAt }: Case): PreparedTx {
  return { payload: encodePayload({ channel, tx: built }), reserves, fee, expiresAt };
}

/** What is wrong with a payment; 'no transaction' for a payload that is none. */
function faultsOf(one: Case, told = prepared(one)): readonly string[] {
  try {
    return signer.open(one.chain, one.intent, told).faults;
  } catch (error) {
    if (error instanceof SignerError && error.code === 'refused') return ['no transaction'];
    throw error;
  }
}

/** A member by the least that it can change, as a name and the changed members. */
function changed<T extends object>(members: T): [string, T][] {
  const next = (name: string, value: unknown): readonly unknown[] => {
    if (typeof value === 'bigint') return [value + 1n, value - 1n];
    if (typeof value === 'number') return [value + 1, value - 1];
    if (name === 'memo') return [null, { id: 8n }, { id: 0n }, { text: '7' }, { text: 'Bert' }, { text: '' }];
    if (name === 'token') return [null, usdc, { code: 'USD', issuer }, { code: 'USDC', issuer: thief }];
    return [thief, wallet, first, second, third];
  };
  return Object.entries(members)
    .filter(([name]) => name !== 'kind' && name !== 'action')
    .flatMap(([name, value]) =>
      next(name, value)
        .filter((each) => textOf(each) !== textOf(value))
        .map((each): [string, T] => [`${name} ${textOf(each)}`, { ...members, [name]: each }]),
    )
    .filter(
      ([, { ...one }]) => !('kind' in one && one.kind === 'change_trust' && 'token' in one && one.token === null),
    );
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '';
}

const mutated = (one: StellarTx): [string, StellarTx][] => [
  ...changed(one),
  ...changed(one.action).map(([name, action]): [string, StellarTx] => [`its ${name}`, { ...one, action }]),
];

test('the accounts are the same as wallets show for the words', () => {
  const paths = [0, 1, 2, 3].map((index) => `m/44'/148'/${index}'`);
  const expected = paths.map((path) => encodeStellarAccount(keys.ed25519(path).publicKey));
  expect([wallet, ...channels]).toEqual(expected);
  expect(signer.hotWallet()).toBe(wallet);
  expect(signer.channels()).toEqual(channels);
});

test('the wallet is known by all of its letters', () => {
  expect(signer.isHotWallet('stellar', wallet)).toBe(true);
  for (const other of [wallet.toLowerCase(), `${wallet} `, '', thief, first]) {
    expect(signer.isHotWallet('stellar', other)).toBe(false);
  }
});

test('chains that are not Stellar are refused', () => {
  const other = new StellarTransactions({ network: { ...network, chain: 'ripple' }, keys });
  expect(() => other.hotWallet()).toThrow('ripple is not Stellar');
});

describe.each(Object.entries(all))('%s', (_name, sound) => {
  test('is signed, always to the same bytes', () => {
    const { faults, sign } = signer.open(sound.chain, sound.intent, prepared(sound));
    expect(faults).toEqual([]);
    const signed = sign();
    expect(sign()).toEqual(signed);
    expect(openStellarTx(signed.raw, networkId)).toEqual({ txid: signed.txid, tx: sound.tx });
  });

  test.each(mutated(sound.tx))('is refused with another member in its bytes: %s', (_, other) => {
    expect(faultsOf({ ...sound, tx: other })).not.toEqual([]);
    // Also when nothing but the decision contradicts it.
    const { source, fee, sequence, maxTimeSec } = sound.tx;
    const same = { ...other, source, fee, sequence, maxTimeSec };
    if (textOf(same) !== textOf(sound.tx)) expect(faultsOf(withTx(sound, same))).not.toEqual([]);
  });

  const anotherSequence = 'the account of the sequence number is neither the wallet nor a channel of ours';
  const reservesFault = 'the reserves are not what the transaction uses up';
  const timeFault = 'the last second of the transaction is not the one stated';
  test.each<[string, Case, string]>([
    ['another chain', { ...sound, chain: 'ripple' }, 'the chain is not the one asked for'],
    ["another account's wallet", withTx(sound, { wallet: thief }), 'the account that acts is not the hot wallet'],
    ["another account's sequence", withTx(sound, { source: thief }), anotherSequence],
    ["another channel's sequence", withTx(sound, { source: third }), anotherSequence],
    ["another channel's key", { ...sound, channel: 1 }, anotherSequence],
    ['the key of no channel', { ...sound, channel: 4 }, anotherSequence],
    ['a channel below 0', { ...sound, channel: -1 }, anotherSequence],
    ['a channel that is no whole number', { ...sound, channel: 0.5 }, anotherSequence],
    ['a sweep', withIntent(sound, { from: [thief] }), 'a sweep has no place on this chain'],
    ['a higher fee', { ...sound, fee: 101n }, 'the fee of the transaction is not the one stated'],
    ['a lower fee', { ...sound, fee: 99n }, 'the fee of the transaction is not the one stated'],
    ['no fee', withTx(sound, { fee: 0 }), 'the fee is not above 0'],
    ['sequence number 0', withTx(sound, { sequence: 0n }), 'the sequence number is not above 0'],
    ['another last second', { ...sound, expiresAt: { timeMs: 1_790_000_001_000 } }, timeFault],
    ['a last millisecond', { ...sound, expiresAt: { timeMs: 1_790_000_000_001 } }, timeFault],
    ['an expiry by height', { ...sound, expiresAt: { height: 1_790_000_000 } }, timeFault],
    ['no expiry', { ...sound, expiresAt: null }, timeFault],
    ['time 0, which stands for no last second', withTx(sound, { maxTimeSec: 0 }), 'the transaction never expires'],
    ['no reservation', { ...sound, reserves: [] }, reservesFault],
    ['two reservations', { ...sound, reserves: [...sound.reserves, ...sound.reserves] }, reservesFault],
    ['the next reservation', { ...sound, reserves: [`sequence:${sound.tx.source}:10`] }, reservesFault],
    ["another account's reservation", { ...sound, reserves: [`sequence:${third}:9`] }, reservesFault],
  ])('is refused with %s', (_, other, fault) => {
    expect(faultsOf(other)).toEqual([fault]);
  });

  test('is refused with the bytes of any other kind', () => {
    for (const other of Object.values(all)) {
      // Coins for an account that does not exist are a new account: the ledger decides which it is.
      const isSame = other.intent === sound.intent;
      expect(faultsOf({ ...other, intent: sound.intent }).length === 0).toBe(isSame);
    }
  });

  test.each([
    '',
    '{}',
    'null',
    'no JSON',
    '{"channel":0,"tx":""}',
    '{"channel":0,"tx":"00"}',
  ])('is refused with the payload %p', (payload) => {
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
  });

  test('is refused with more bytes than a transaction of ours', () => {
    const payload = prepared(sound).payload.replace('"}', '00000000"}');
    expect(() => decodePayload(payload)).toThrow('it has more bytes');
    expect(faultsOf(sound, { ...prepared(sound), payload })).toEqual(['no transaction']);
  });
});

describe.each(Object.entries(payments))('%s', (_name, sound) => {
  const action = sound.tx.action as typeof payment;
  const assetFault = 'the asset of the transaction is not that of the payment';
  const memoFault = 'the memo of the transaction is not the tag of the payment';
  const withAction = (change: object): Case => withTx(sound, { action: { ...action, ...change } });
  const own = 'the wallet pays itself';

  test.each<[string, Partial<PaymentIntent>, readonly string[]]>([
    ['another recipient', { to: thief }, ['the recipient (to) of the transaction is not that of the payment']],
    ['a larger amount', { amount: 50_000_001n }, ['the amount of the transaction is not that of the payment']],
    ['a smaller amount', { amount: 49_999_999n }, ['the amount of the transaction is not that of the payment']],
    ['tag 0', { tag: '0' }, [memoFault]],
    ['another tag', { tag: '8' }, [memoFault]],
    ['another writing of a tag', { tag: '07' }, [memoFault]],
    ['an empty tag', { tag: '' }, [memoFault]],
    ['a token of another issuer', { contract: thief }, ['the payment is in a token that the file does not name']],
    ['a code as token', { contract: 'USDC' }, ['the payment is in a token that the file does not name']],
    ['a set-up', { setup: 'require_memo' }, ['the transaction is not the set-up that was decided']],
    ['a set-up without a name', { setup: '' }, ['the transaction is not the set-up that was decided']],
  ])('is refused for a decision of %s', (_, change, faults) => {
    expect(faultsOf(withIntent(sound, change))).toEqual(expect.arrayContaining([...faults]));
  });

  test('is refused for a decision of another asset', () => {
    const contract = sound.intent.contract === null ? issuer : null;
    expect(faultsOf(withIntent(sound, { contract }))).toEqual([assetFault]);
  });

  test.each([wallet, ...channels])('is refused when the wallet pays itself: %s', (address) => {
    expect(faultsOf(withIntent(withAction({ to: address }), { to: address }))).toEqual([own]);
  });

  test('is refused when it pays nothing', () => {
    expect(faultsOf(withIntent(withAction({ amount: 0n }), { amount: 0n }))).toEqual(['the transaction pays nothing']);
  });

  test('is refused with a memo that only looks like the tag', () => {
    const digits = withIntent(withTx(sound, { memo: { text: '7' } }), { tag: '7' });
    expect(faultsOf(digits)).toEqual([memoFault]);
    const empty = withIntent(withTx(sound, { memo: { text: '' } }), { tag: '' });
    expect(faultsOf(empty)).toEqual([memoFault]);
    const none = withIntent(withTx(sound, { memo: { text: '' } }), { tag: null });
    expect(faultsOf(none)).toEqual([memoFault]);
  });
});

describe('a payment of a token is refused', () => {
  const sound = payments['a payment of a token with a text, by a channel'] as Case;
  const withToken = (token: { code: string; issuer: string } | null): Case =>
    withTx(sound, { action: { ...payment, token } });

  test.each([
    ['with the right code and another issuer', { code: 'USDC', issuer: thief }],
    ['with the right issuer and another code', { code: 'EURC', issuer }],
    ['with the code in other letters', { code: 'usdc', issuer }],
    ['in coins', null],
  ])('%s', (_, token) => {
    expect(faultsOf(withToken(token))).toEqual(['the asset of the transaction is not that of the payment']);
  });

  test('which the file does not name, also when that was decided', () => {
    const other = withIntent(withToken({ code: 'USDC', issuer: thief }), { contract: thief });
    expect(faultsOf(other)).toContain('the payment is in a token that the file does not name');
  });
});

describe.each(Object.entries(setups))('%s', (_name, sound) => {
  const accountFault = 'a set-up is of another account than the hot wallet';
  test.each<[string, Case, string]>([
    ['an amount', withIntent(sound, { amount: 1n }), 'a set-up pays'],
    ['a token', withIntent(sound, { contract: issuer }), 'a set-up pays'],
    ['another account', withIntent(sound, { to: thief }), accountFault],
    ['a channel as its account', withIntent(sound, { to: first }), accountFault],
    ['a tag', withIntent(sound, { tag: '7' }), accountFault],
    ['a memo in its bytes', withTx(sound, { memo: { id: 7n } }), 'a set-up has a memo'],
    ['an empty memo in its bytes', withTx(sound, { memo: { text: '' } }), 'a set-up has a memo'],
    ['an empty name', withIntent(sound, { setup: '' }), 'the transaction is not the set-up that was decided'],
  ])('is refused with %s', (_, other, fault) => {
    expect(faultsOf(other)).toEqual([fault]);
  });

  test('is refused for a payment', () => {
    const { setup: _, ...one } = sound.intent;
    expect(faultsOf({ ...sound, intent: one })).not.toEqual([]);
    const { action } = sound.tx;
    const paying = 'to' in action ? { to: action.to, amount: action.amount } : {};
    const fault = 'to' in action ? 'the wallet pays itself' : 'the transaction pays no one, and no set-up was decided';
    expect(faultsOf({ ...sound, intent: { ...one, ...paying } })).toEqual([fault]);
  });
});

test.each<[string, string, StellarAction]>([
  ['another amount', 'channel:3:2', { kind: 'create_account', to: third, amount: 20_000_001n }],
  ['another writing of the amount', 'channel:3:2.0', { kind: 'create_account', to: third, amount: 20_000_000n }],
  ['another channel', 'channel:3:2', { kind: 'create_account', to: second, amount: 20_000_000n }],
  ['an account that is no channel', 'channel:4:2', { kind: 'create_account', to: thief, amount: 20_000_000n }],
  ['the wallet as channel 0', 'top_up:0:2', { kind: 'payment', to: wallet, token: null, amount: 20_000_000n }],
  [
    'more than 10 XLM for a new channel',
    'channel:3:10.0000001',
    { kind: 'create_account', to: third, amount: 100_000_001n },
  ],
  ['more than 10 XLM for a channel', 'top_up:1:11', { kind: 'payment', to: first, token: null, amount: 110_000_000n }],
  ['another amount for a channel', 'top_up:1:1', { kind: 'payment', to: first, token: null, amount: 9_999_999n }],
  ['a token for a channel', 'top_up:1:1', { kind: 'payment', to: first, token: usdc, amount: 10_000_000n }],
  ['a payment for a new channel', 'channel:1:1', { kind: 'payment', to: first, token: null, amount: 10_000_000n }],
  ['a new channel for coins', 'top_up:1:1', { kind: 'create_account', to: first, amount: 10_000_000n }],
  ['another token', 'trust:USDC', { kind: 'change_trust', token: { code: 'EURC', issuer } }],
  ['a trust line for the entry', 'require_memo', { kind: 'change_trust', token: usdc }],
])('a set-up is refused with %s', (_, name, action) => {
  expect(faultsOf(setup(name, action))).toEqual(
    expect.arrayContaining(['the transaction is not the set-up that was decided']),
  );
});

test.each([
  ['of another issuer', 'trust:USDC', { code: 'USDC', issuer: thief }],
  ['to a token that the file does not name', 'trust:EURC', { code: 'EURC', issuer }],
])('a trust line %s is refused, also when that was decided', (_, name, token) => {
  expect(faultsOf(setup(name, { kind: 'change_trust', token }))).toEqual([
    'a trust line is to another issuer than the file names',
  ]);
});

test('what a set-up brings to channels is told, and what all of a day may bring', () => {
  expect(signer.movingLimits()).toEqual({ once: 100_000_000n, perDay: 300_000_000n });
  const movedBy = (one: Case) => signer.open(one.chain, one.intent, prepared(one)).moved;
  expect(movedBy(setup('channel:3:2', { kind: 'create_account', to: third, amount: 20_000_000n }))).toBe(20_000_000n);
  const coins = { kind: 'payment', to: first, token: null, amount: 10_000_000n } as const;
  expect(movedBy(setup('top_up:1:1', coins))).toBe(10_000_000n);
  expect(movedBy(setup('require_memo', { kind: 'require_memo' }))).toBeUndefined();
  for (const sound of Object.values(payments)) expect(movedBy(sound)).toBeUndefined();
});
