import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { associatedAccount, markerSeed, programs, type SolanaToken } from '../../../src/chains/solana/solana-keys.ts';
import { SolanaTransactions } from '../../../src/chains/solana/solana-transactions.ts';
import {
  amountOf,
  encodePayload,
  openSolanaTx,
  reservationOf,
  type SolanaAction,
  type SolanaPayload,
  type SolanaPayment,
  type TokenSweep,
} from '../../../src/chains/solana/solana-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { hashOf, solanaTestKey } from '../../support/chains/solana-told.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const usdc: SolanaToken = { mint: solanaTestKey(4).address, program: programs.token, decimals: 6 };
const usdt: SolanaToken = { mint: solanaTestKey(5).address, program: programs.token2022, decimals: 6 };
const network = {
  chain: 'solana',
  tokens: new Map([
    ['USDC', usdc.mint],
    ['USDT', usdt.mint],
  ]),
};
const signer = new SolanaTransactions({ network, keys });
const wallet = signer.hotWallet();
const owner = keys.poolAddress('SOL', 5);
const path = "m/44'/501'/5'/0'";
const to = solanaTestKey(3).address;
const stranger = solanaTestKey(6).address;

const base = { wallet, blockhash: hashOf(9), computeLimit: 60_000, computePrice: 1_000n } as const;
const payment: SolanaPayment = {
  ...{ kind: 'payment', to, token: null, amount: 25_000n },
  marker: { seed: markerSeed('p1', 0), rent: 650_240n },
};
const tokenPayment: SolanaPayment = { ...payment, token: usdc };
const tokenSweep: TokenSweep = {
  ...{ kind: 'token_sweep', owner, token: usdt },
  sources: [
    { account: associatedAccount(owner, usdt), amount: 20_000n, isClosed: true },
    { account: stranger, amount: 5_000n, isClosed: false },
  ],
};
const coinSweep = { kind: 'coin_sweep', owner, amount: 25_000n } as const;

interface Request {
  readonly intent: PaymentIntent;
  readonly payload: SolanaPayload;
  readonly prepared: Omit<PreparedTx, 'payload'>;
}

function requestOf(action: SolanaAction): Request {
  const isPayment = action.kind === 'payment';
  const contract = action.kind === 'coin_sweep' ? null : (action.token?.mint ?? null);
  return {
    intent: {
      ...{ id: 'p1', attempt: 1, contract, tag: null, amount: amountOf(action) },
      ...(isPayment ? { from: null, to: action.to } : { from: [action.owner], to: wallet }),
    },
    payload: { marker: isPayment ? 0 : null, path: isPayment ? null : path, tx: { ...base, action } },
    prepared: { reserves: [reservationOf({ wallet, action })], fee: 3_000_000n, expiresAt: { height: 1_000 } },
  };
}

function open({ intent, payload, prepared }: Request, chain = 'solana') {
  return signer.open(chain, intent, { ...prepared, payload: encodePayload(payload) });
}

const requests = {
  payment: requestOf(payment),
  tokenPayment: requestOf(tokenPayment),
  coinSweep: requestOf(coinSweep),
  tokenSweep: requestOf(tokenSweep),
} as const;

test.each(Object.entries(requests))('a %s is signed with the keys of its accounts', (_name, request) => {
  const opened = open(request);
  expect(opened.faults).toEqual([]);
  const signed = opened.sign();
  expect(openSolanaTx(signed.raw)).toEqual({ txid: signed.txid, tx: request.payload.tx });
  expect(opened.sign()).toEqual(signed);
});

test('the wallet is the first address of the words, and deposits are the next ones', () => {
  expect(wallet).not.toBe(keys.poolAddress('SOL', 1));
  expect(signer.isHotWallet('solana', wallet)).toBe(true);
  expect(signer.isHotWallet('solana', wallet.toLowerCase())).toBe(false);
  expect(() => new SolanaTransactions({ network: { ...network, chain: 'stellar' }, keys })).toThrow('not Solana');
});

test('what a transaction costs the wallet at least', () => {
  const costs = Object.values(requests).map((request) => open(request).leastCounted);
  // A new account of a token has 165 bytes, and rent for 128 more.
  expect(costs).toEqual([
    ...[5_000n + 60n + 650_240n, 5_000n + 60n + 650_240n + (650_240n * 293n) / 128n],
    ...[10_000n + 60n, 10_000n + 60n],
  ]);
});

type Changes = Readonly<Record<string, (request: Request) => Request>>;

const inIntent =
  (change: Partial<PaymentIntent>) =>
  (request: Request): Request => ({ ...request, intent: { ...request.intent, ...change } });
const inPrepared =
  (change: Partial<PreparedTx>) =>
  (request: Request): Request => ({ ...request, prepared: { ...request.prepared, ...change } });
const inPayload =
  (change: Partial<SolanaPayload>) =>
  (request: Request): Request => ({ ...request, payload: { ...request.payload, ...change } });
/** Changes the bytes and all that follows from them alone. */
const inAction =
  (change: (action: SolanaAction) => SolanaAction, isReserved = true) =>
  (request: Request): Request => {
    const action = change(request.payload.tx.action);
    const reserves = isReserved ? [reservationOf({ wallet, action })] : request.prepared.reserves;
    return {
      ...request,
      payload: { ...request.payload, tx: { ...request.payload.tx, action } },
      prepared: { ...request.prepared, reserves },
    };
  };
const inPaymentAction = (change: Partial<SolanaPayment>) =>
  inAction((action) => (action.kind === 'payment' ? { ...action, ...change } : action));

const everywhere: Changes = {
  'another wallet pays the fee': (request) => {
    const tx = { ...request.payload.tx, wallet: stranger };
    return inPrepared({ reserves: [reservationOf(tx)] })({ ...request, payload: { ...request.payload, tx } });
  },
  'a tag': inIntent({ tag: '5' }),
  'another amount': inIntent({ amount: 25_001n }),
  'another contract': inIntent({ contract: solanaTestKey(8).address }),
  'another recipient': inIntent({ to: stranger }),
  'no reserves': inPrepared({ reserves: [] }),
  'other reserves': inPrepared({ reserves: [`marker:${stranger}`] }),
  'reserves twice': (request) => inPrepared({ reserves: [...request.prepared.reserves, 'marker:x'] })(request),
  'no expiry': inPrepared({ expiresAt: null }),
  'an expiry by time': inPrepared({ expiresAt: { timeMs: 5 } }),
  'an expiry at height 0': inPrepared({ expiresAt: { height: 0 } }),
  'a fee below the offer': inPrepared({ fee: 59n }),
  'another path': (request) => inPayload({ path: request.payload.path === null ? path : null })(request),
  'another marker': (request) => inPayload({ marker: request.payload.marker === null ? 0 : null })(request),
};

const ofPayments: Changes = {
  'another recipient in the bytes': inPaymentAction({ to: stranger }),
  'another amount in the bytes': inPaymentAction({ amount: 24_999n }),
  'a marker of another payment': inPaymentAction({ marker: { seed: markerSeed('p2', 0), rent: 650_240n } }),
  'a marker of another number': inPayload({ marker: 1 }),
  'a marker without rent': inPaymentAction({ marker: { seed: markerSeed('p1', 0), rent: 0n } }),
  'a marker with a negative number': inPayload({ marker: -1 }),
  'a marker beyond the last one': (request) =>
    inPayload({ marker: 8 })(inPaymentAction({ marker: { seed: markerSeed('p1', 8), rent: 650_240n } })(request)),
  'a marker whose rent is above the fee': inPaymentAction({
    marker: { seed: markerSeed('p1', 0), rent: 3_000_000n },
  }),
  'another payment': inIntent({ id: 'p2' }),
  'the wallet as recipient': (request) => inIntent({ to: wallet })(inPaymentAction({ to: wallet })(request)),
  'a sweep of the wallet': inIntent({ from: [wallet], to: wallet }),
  'nothing that is paid': (request) => inIntent({ amount: 0n })(inPaymentAction({ amount: 0n })(request)),
};

const inSources = (change: (sources: TokenSweep['sources']) => TokenSweep['sources']) =>
  inAction((action) => (action.kind === 'token_sweep' ? { ...action, sources: change(action.sources) } : action));

const ofSweeps: Changes = {
  'another source': inIntent({ from: [stranger] }),
  'two sources': inIntent({ from: [owner, stranger] }),
  'no source': inIntent({ from: [] }),
  'a payment from the wallet': inIntent({ from: null }),
  'another owner in the bytes': (request) =>
    inIntent({ from: [stranger] })(
      inAction((action) => (action.kind === 'payment' ? action : { ...action, owner: stranger }))(request),
    ),
  'the key of another deposit': inPayload({ path: "m/44'/501'/6'/0'" }),
  'the key of the wallet': inPayload({ path: "m/44'/501'/0'/0'" }),
  'a key of another chain': inPayload({ path: "m/44'/148'/5'" }),
  'a key in another notation': inPayload({ path: "m/44'/501'/05'/0'" }),
};

const ofTokenSweeps: Changes = {
  'another amount in the bytes': inSources(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, amount: 1n }, ...others],
  ),
  'an account twice': inSources(([first, second]) =>
    first === undefined || second === undefined ? [] : [first, { ...first, amount: second.amount }],
  ),
  'nothing from an account': inSources(([first, second]) =>
    first === undefined || second === undefined
      ? []
      : [
          { ...first, amount: 25_000n },
          { ...second, amount: 0n },
        ],
  ),
  'too many accounts': inSources(() =>
    Array.from({ length: 9 }, (_, index) => ({
      ...{ account: solanaTestKey(20 + index).address, amount: index === 0 ? 24_992n : 1n, isClosed: false },
    })),
  ),
};

const all = (names: readonly (keyof typeof requests)[], changes: Changes) =>
  names.flatMap((name) => Object.entries(changes).map(([what, change]) => [name, what, change] as const));

test.each([
  ...all(['payment', 'tokenPayment', 'coinSweep', 'tokenSweep'], everywhere),
  ...all(['payment', 'tokenPayment'], ofPayments),
  ...all(['coinSweep', 'tokenSweep'], ofSweeps),
  ...all(['tokenSweep'], ofTokenSweeps),
])('a %s with %s is refused', (name, _what, change) => {
  expect(open(change(requests[name])).faults).not.toEqual([]);
});

test('a token in place of another one, or of coins, is refused', () => {
  for (const token of [null, usdt, { ...usdc, mint: stranger }]) {
    expect(open(inPaymentAction({ token })(requests.tokenPayment)).faults).not.toEqual([]);
  }
  expect(open(inPaymentAction({ token: usdc })(requests.payment)).faults).not.toEqual([]);
  const unlisted = { ...usdc, mint: stranger };
  const request = inIntent({ contract: stranger })(inPaymentAction({ token: unlisted })(requests.tokenPayment));
  expect(open(request).faults).toEqual(['the payment is in a token that the file does not name']);
});

test('a fee that covers the marker and the offer is enough', () => {
  const least = inPrepared({ fee: 650_300n })(requests.payment);
  expect(open(least).faults).toEqual([]);
  expect(open(inPrepared({ fee: 650_299n })(requests.payment)).faults).toHaveLength(1);
});

test('another chain is refused', () => {
  expect(open(requests.payment, 'stellar').faults).toEqual(['the chain is not the one asked for']);
});

test.each([
  '',
  '{}',
  'null',
  '{"marker":0,"path":null}',
  '{"marker":0,"path":null,"tx":"00"}',
  `${encodePayload(requests.payment.payload)} `,
  encodePayload(requests.payment.payload).replace('"marker":0', '"marker":0.5'),
  encodePayload(requests.payment.payload).replace(/"tx":"../, '"tx":"02'),
])('a payload in another form is refused: %s', (payload) => {
  const { intent, prepared } = requests.payment;
  expect(() => signer.open('solana', intent, { ...prepared, payload })).toThrow(SignerError);
});
