import { toUnits } from '../../../src/base/money.ts';
import { ChainError, type EarlierTx, type Held, type PaymentIntent } from '../../../src/chains/port/chain-adapter.ts';
import { balancesOf, finalBalancesOf } from '../../../src/chains/solana/solana-balances.ts';
import { associatedAccount, markerAddress, markerSeed, programs } from '../../../src/chains/solana/solana-keys.ts';
import { SolanaPreparation } from '../../../src/chains/solana/solana-preparation.ts';
import type { SolanaNetwork } from '../../../src/chains/solana/solana-section.ts';
import { SolanaTransactions } from '../../../src/chains/solana/solana-transactions.ts';
import { decodePayload } from '../../../src/chains/solana/solana-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { coins, hashOf, mint, solanaTestKey, ToldSolana, tokens } from '../../support/chains/solana-told.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const usdc = { mint: solanaTestKey(4).address, program: programs.token, decimals: 6 };
const usdt = { mint: solanaTestKey(5).address, program: programs.token2022, decimals: 6 };
const network: SolanaNetwork = {
  ...{ kind: 'solana', chain: 'solana', net: 'private', genesis: hashOf(0), finality: 'finalized' },
  ...{ nodes: [], startHeight: 0, pollMs: 1_000, reorgWindow: 20, stalledAfterSec: 0, twoNodesAbove: new Map() },
  ...{ limits: new Map(), levels: new Map(), sweepFrom: new Map() },
  tokens: new Map([
    ['USDC', usdc.mint],
    ['USDT', usdt.mint],
  ]),
  feeLimits: { perTransaction: '0.03', perDay: '1' },
};
const signer = new SolanaTransactions({ network, keys });
const wallet = signer.hotWallet();
const owner = keys.poolAddress('SOL', 5);
const to = solanaTestKey(3).address;
const rent = 650_240n;
const accountRent = 1_488_440n;

const payout: PaymentIntent = {
  ...{ id: 'p1', attempt: 1, from: null, contract: null, to, tag: null, amount: 5_000_000n },
};
const tokenPayout: PaymentIntent = { ...payout, contract: usdc.mint };
const sweep: PaymentIntent = { ...payout, from: [owner], to: wallet, amount: 9_000_000n };
const tokenSweep: PaymentIntent = { ...sweep, contract: usdt.mint, amount: 7n };

const addresses = { indexes: async (asked: readonly string[]) => new Map(asked.includes(owner) ? [[owner, 5]] : []) };
const preparationOf = (change: Partial<SolanaNetwork> = {}) =>
  new SolanaPreparation({ network: { ...network, ...change }, hotWallet: wallet, addresses });

function chain(): ToldSolana {
  const told = new ToldSolana().addBlocks(100, 101, 105);
  told.accounts.set(wallet, coins(50_000_000));
  told.accounts.set(usdc.mint, mint(usdc));
  told.accounts.set(usdt.mint, mint(usdt));
  told.accounts.set(associatedAccount(wallet, usdc), tokens(usdc, wallet, 6_000_000n));
  told.accounts.set(owner, coins(9_000_000));
  told.accounts.set(associatedAccount(owner, usdt), tokens(usdt, owner, 7n));
  return told;
}

const nothing: Held = new Map();
const prepare = (
  told: ToldSolana,
  intent: PaymentIntent,
  {
    held = nothing,
    earlier = [],
    change = {},
  }: { held?: Held; earlier?: EarlierTx[]; change?: Partial<SolanaNetwork> } = {},
) => preparationOf(change).prepare(told.node(), intent, held, earlier);

async function codeOf(question: Promise<unknown>): Promise<unknown> {
  const error = await question.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof ChainError ? error.code : error;
}

const all = { payout, tokenPayout, sweep, tokenSweep };

test.each(Object.entries(all))('the signer signs a %s as it is prepared', async (_name, intent) => {
  const prepared = await prepare(chain(), intent);
  expect(signer.open('solana', intent, prepared).faults).toEqual([]);
  expect(prepared.expiresAt).toEqual({ height: 101 + 150 });
  expect(decodePayload(prepared.payload).tx).toMatchObject({ wallet, blockhash: hashOf(105), computeLimit: 12_001 });
});

describe('a fee', () => {
  test('is what the chain tells, with the rents of accounts that are made', async () => {
    const told = chain();
    const fee = async (intent: PaymentIntent) => (await prepare(told, intent)).fee;
    expect(await fee(payout)).toBe(5_000n + rent);
    expect(await fee(tokenPayout)).toBe(5_000n + rent + accountRent);
    told.accounts.set(associatedAccount(to, usdc), tokens(usdc, to, 0n));
    expect(await fee(tokenPayout)).toBe(5_000n + rent);
    expect(await fee(sweep)).toBe(10_000n);
    // The wallet has no account of this token yet. One of the program of 2022 has 5 bytes more.
    expect(await fee(tokenSweep)).toBe(10_000n + accountRent + 5n * 5_080n);
    told.accounts.set(associatedAccount(wallet, usdt), tokens(usdt, wallet, 0n));
    expect(await fee(tokenSweep)).toBe(10_000n);
  });

  test('follows the prices of the chain', async () => {
    const told = chain();
    Object.assign(told, { rentPerByte: 696, signatureFee: 7_000 });
    expect((await prepare(told, payout)).fee).toBe(7_000n + 128n * 696n);
    expect(decodePayload((await prepare(told, payout)).payload).tx.action).toMatchObject({
      marker: { rent: 128n * 696n },
    });
  });

  test('offers what nine of ten transactions of the last blocks offered', async () => {
    const told = chain();
    told.prices = [9_000_000, 0, 100, 200, 300, 400, 500, 600, 700, 800];
    const { payload, fee } = await prepare(told, payout);
    expect(decodePayload(payload).tx.computePrice).toBe(800n);
    // 12,001 units at 800 millionths of a lamport.
    expect(fee).toBe(5_000n + rent + 10n);
  });

  test('of usual transactions follows from the prices too', async () => {
    const costs = (contract: string | null) => preparationOf().usualCosts(chain().node(), contract);
    expect(await costs(null)).toEqual({ payout: 5_000n + rent, sweep: 10_000n });
    expect(await costs(usdc.mint)).toEqual({ payout: 5_000n + rent + accountRent, sweep: 10_000n });
  });

  test('above its maximum makes the payment wait', async () => {
    const exact = { feeLimits: { perTransaction: '0.00065524', perDay: '1' } };
    expect(toUnits('0.00065524', 9)).toBe(5_000n + rent);
    expect((await prepare(chain(), payout, { change: exact })).fee).toBe(655_240n);
    const less = { feeLimits: { perTransaction: '0.000655239', perDay: '1' } };
    expect(await codeOf(prepare(chain(), payout, { change: less }))).toBe('fee_above_maximum');
  });
});

describe('coins', () => {
  test('that the wallet lacks', async () => {
    const told = chain();
    // What it pays, and what it must keep itself.
    const needed = 5_000_000n + 5_000n + rent + rent;
    told.accounts.set(wallet, coins(Number(needed)));
    expect((await prepare(told, payout)).fee).toBe(5_000n + rent);
    told.accounts.set(wallet, coins(Number(needed - 1n)));
    expect(await codeOf(prepare(told, payout))).toBe('insufficient_funds');
    told.accounts.delete(wallet);
    expect(await codeOf(prepare(told, payout))).toBe('insufficient_funds');
  });

  test('that are promised to payments under way, with the fees of sweeps', async () => {
    const told = chain();
    const promised = (reservation: string, contract: string | null, amount: bigint, fee: bigint): Held =>
      new Map([[reservation, { contract, amount, fee }]]);
    const left = 50_000_000n - rent - (5_000_000n + 5_000n + rent);
    for (const [held, isEnough] of [
      [promised('marker:x', null, left - 1_000n, 1_000n), true],
      [promised('marker:x', null, left - 1_000n, 1_001n), false],
      [promised('marker:x', usdc.mint, left, left), true],
      [promised('marker:x', usdc.mint, 0n, left + 1n), false],
      [promised(`sweep:${owner}`, null, left * 9n, left), true],
      [promised(`sweep:${owner}`, null, 0n, left + 1n), false],
    ] as const) {
      expect(await codeOf(prepare(told, payout, { held }))).toBe(isEnough ? null : 'insufficient_funds');
    }
    const ofTokens = (amount: bigint) => ({ held: promised('marker:x', usdc.mint, amount, 0n) });
    expect(await codeOf(prepare(told, tokenPayout, ofTokens(1_000_000n)))).toBe(null);
    expect(await codeOf(prepare(told, tokenPayout, ofTokens(1_000_001n)))).toBe('insufficient_funds');
  });

  test('to an address without any are at least what an account must have', async () => {
    const told = chain();
    expect(await codeOf(prepare(told, { ...payout, amount: rent }))).toBe(null);
    expect(await codeOf(prepare(told, { ...payout, amount: rent - 1n }))).toBe('below_least_amount');
    told.accounts.set(to, coins(700_000));
    expect(await codeOf(prepare(told, { ...payout, amount: 1n }))).toBe(null);
  });
});

describe('tokens', () => {
  test('that the wallet lacks, or its issuer froze', async () => {
    const told = chain();
    const own = associatedAccount(wallet, usdc);
    told.accounts.set(own, tokens(usdc, wallet, 4_999_999n));
    expect(await codeOf(prepare(told, tokenPayout))).toBe('insufficient_funds');
    told.accounts.delete(own);
    expect(await codeOf(prepare(told, tokenPayout))).toBe('insufficient_funds');
    told.accounts.set(own, tokens(usdc, wallet, 6_000_000n, 2));
    expect(await codeOf(prepare(told, tokenPayout))).toBe('permission_changed');
  });

  test('to an account that the issuer froze', async () => {
    const told = chain();
    told.accounts.set(associatedAccount(to, usdc), tokens(usdc, to, 0n, 2));
    expect(await codeOf(prepare(told, tokenPayout))).toBe('would_fail');
  });

  test('of a mint that is not listed, or is none', async () => {
    const told = chain();
    expect(await codeOf(prepare(told, { ...payout, contract: solanaTestKey(9).address }))).toBe('token_not_listed');
    told.accounts.set(usdc.mint, coins(5));
    expect(await codeOf(prepare(told, tokenPayout))).toBe('unsound_answer');
    told.accounts.delete(usdc.mint);
    expect(await codeOf(prepare(told, tokenPayout))).toBe('unsound_answer');
  });

  test.each([
    [1, 'unsound_answer'],
    [3, null],
    [4, 'unsound_answer'],
    [9, 'unsound_answer'],
    [12, 'unsound_answer'],
    [14, 'unsound_answer'],
    [18, null],
    [99, 'unsound_answer'],
  ])('with the extension %d', async (kind, expected) => {
    const told = chain();
    told.accounts.set(usdt.mint, mint(usdt, [18, kind]));
    expect(await codeOf(prepare(told, tokenSweep))).toBe(expected);
  });
});

describe('a marker', () => {
  const addressOf = (number: number): string => markerAddress(wallet, markerSeed('p1', number));
  const markerOf = (prepared: { payload: string }) => decodePayload(prepared.payload).marker;
  const earlierOf = async (told: ToldSolana): Promise<EarlierTx[]> => {
    const { payload, reserves, expiresAt } = await prepare(told, payout);
    return [{ payload, reserves, expiresAt, why: 'expired' }];
  };

  test('is the first one that no stranger made', async () => {
    const told = chain();
    const first = await prepare(told, payout);
    expect([markerOf(first), first.reserves]).toEqual([0, [`marker:${addressOf(0)}`]]);
    told.accounts.set(addressOf(0), coins(1));
    told.accounts.set(addressOf(1), coins(1));
    const third = await prepare(told, payout);
    expect([markerOf(third), third.reserves]).toEqual([2, [`marker:${addressOf(2)}`]]);
    for (let number = 2; number < 8; number += 1) told.accounts.set(addressOf(number), coins(1));
    expect(await codeOf(prepare(told, payout))).toBe('would_fail');
  });

  test('is the same one for each attempt of a payment', async () => {
    const told = chain();
    told.accounts.set(addressOf(0), coins(1));
    const earlier = await earlierOf(told);
    // Although the first one is free by now.
    told.accounts.delete(addressOf(0));
    told.addBlocks(400);
    const next = await prepare(told, payout, { earlier });
    expect(markerOf(next)).toBe(1);
    expect(next.reserves).toEqual(earlier[0]?.reserves);
    expect(next.payload).not.toBe(earlier[0]?.payload);
  });

  test('that exists keeps a further attempt from being built', async () => {
    const told = chain();
    const earlier = await earlierOf(told);
    told.accounts.set(addressOf(0), coins(650_240));
    expect(await codeOf(prepare(told, payout, { earlier }))).toBe('earlier_may_confirm');
  });

  test('that a second node knows refutes the first node', async () => {
    const [told, other] = [chain(), chain()];
    const { payload } = await prepare(told, payout);
    const isConfirmed = () => preparationOf().isConfirmed(other.node(), payload);
    expect(await isConfirmed()).toBe(true);
    other.accounts.set(addressOf(0), coins(1));
    expect(await isConfirmed()).toBe(false);
    other.answers.set('getFeeForMessage', () => ({ context: { slot: 105 }, value: null }));
    expect(await codeOf(isConfirmed())).toBe('node_behind');
  });
});

describe('a sweep', () => {
  test('takes all coins of an address, and the wallet pays', async () => {
    const { payload, fee } = await prepare(chain(), sweep);
    expect(decodePayload(payload).tx.action).toEqual({ kind: 'coin_sweep', owner, amount: 9_000_000n });
    expect(await preparationOf().sweepCost(chain().node(), sweep)).toEqual({ fee, perSource: fee, lacking: 0n });
  });

  test('takes a token from all accounts of an address, and closes emptied ones', async () => {
    const told = chain();
    const other = solanaTestKey(9).address;
    told.accounts.set(other, tokens(usdt, owner, 20n));
    told.accounts.set(solanaTestKey(10).address, tokens(usdt, owner, 0n));
    const { payload } = await prepare(told, { ...tokenSweep, amount: 25n });
    const { action } = decodePayload(payload).tx;
    const sources = action.kind === 'token_sweep' ? action.sources : [];
    expect(sources.reduce((sum, { amount }) => sum + amount, 0n)).toBe(25n);
    expect(sources.filter(({ isClosed }) => isClosed)).toHaveLength(1);
    expect(await codeOf(prepare(told, { ...tokenSweep, amount: 28n }))).toBe('insufficient_funds');
  });

  test('takes at most as many accounts as a transaction holds, the largest ones', async () => {
    const told = chain();
    for (let amount = 1; amount <= 9; amount += 1) {
      told.accounts.set(solanaTestKey(20 + amount).address, tokens(usdt, owner, BigInt(100 * amount)));
    }
    // Strangers may give an address as many accounts as they like. The rest is for the next sweep.
    const { block, amounts } = await finalBalancesOf(told.node(), [owner], usdt.mint);
    expect([block.height, amounts]).toEqual([105, [4_400n]]);
    expect(await balancesOf(told.node(), [owner], usdt.mint)).toEqual([4_507n]);
    const { payload } = await prepare(told, { ...tokenSweep, amount: 4_400n });
    const { action } = decodePayload(payload).tx;
    expect(action.kind === 'token_sweep' && action.sources.map(({ amount }) => amount)).toEqual([
      900n,
      800n,
      700n,
      600n,
      500n,
      400n,
      300n,
      200n,
    ]);
  });

  test('of more than an address has, of two, of a stranger, or to another place', async () => {
    const refused = (change: Partial<PaymentIntent>) => codeOf(prepare(chain(), { ...sweep, ...change }));
    expect(await refused({ amount: 9_000_001n })).toBe('insufficient_funds');
    expect(await refused({ from: [owner, to] })).toBe('bad_sweep');
    expect(await refused({ from: [] })).toBe('bad_sweep');
    expect(await refused({ from: [to] })).toBe('unknown_address');
    expect(await refused({ to })).toBe('bad_sweep');
  });
});

describe('a trial', () => {
  test.each([
    [{ InstructionError: [4, { Custom: 1 }] }, 'would_fail'],
    [{ InsufficientFundsForRent: { account_index: 1 } }, 'would_fail'],
    [{ InsufficientFundsForRent: { account_index: 0 } }, 'insufficient_funds'],
    ['InsufficientFundsForFee', 'insufficient_funds'],
    ['AccountNotFound', 'insufficient_funds'],
    ['BlockhashNotFound', 'node_busy'],
    ['AccountInUse', 'node_busy'],
  ])('that ends with %j', async (err, code) => {
    const told = chain();
    told.trial = { err };
    expect(await codeOf(prepare(told, payout))).toBe(code);
  });

  test('that tells no result, or no units, is no success', async () => {
    const told = chain();
    for (const value of [{}, { err: null }, null]) {
      told.answers.set('simulateTransaction', () => ({ context: { slot: 105 }, value }));
      expect(await codeOf(prepare(told, payout))).toBe('unsound_answer');
    }
  });

  test('that needs more computing than the chain allows', async () => {
    const told = chain();
    told.trial = { err: null, unitsConsumed: 1_300_000 };
    expect(await codeOf(prepare(told, payout))).toBe('would_fail');
  });
});

test('a blockhash with too short or too long a life is refused', async () => {
  const told = chain();
  const lifeOf = (life: number, slot = 105) => {
    const value = { blockhash: hashOf(105), lastValidBlockHeight: 101 + life };
    told.answers.set('getLatestBlockhash', () => ({ context: { slot }, value }));
    return codeOf(prepare(told, payout));
  };
  expect(await lifeOf(150)).toBe(null);
  expect(await lifeOf(101)).toBe(null);
  expect(await lifeOf(100)).toBe('unsound_answer');
  expect(await lifeOf(151)).toBe('unsound_answer');
  expect(await lifeOf(150, 104)).toBe('node_behind');
});

test('what has no place on the chain', async () => {
  expect(await codeOf(prepare(chain(), { ...payout, tag: '5' }))).toBe('no_tags');
  expect(await codeOf(prepare(chain(), { ...payout, to: wallet }))).toBe('would_fail');
});

test('nothing is built on an old block, or on one of the future', async () => {
  const told = chain();
  const change = { stalledAfterSec: 60 };
  expect(await codeOf(prepare(told, payout, { change }))).toBe('chain_stalled');
  told.timeSec = 4_000_000_000;
  expect(await codeOf(prepare(told, payout, { change }))).toBe('chain_ahead');
});
