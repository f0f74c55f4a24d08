import { ChainError, type TxStatus } from '../../../src/chains/port/chain-adapter.ts';
import { associatedAccount, markerAddress, markerSeed, programs } from '../../../src/chains/solana/solana-keys.ts';
import { sentTx, solanaStatus } from '../../../src/chains/solana/solana-status.ts';
import { type SolanaAction, type SolanaTx, signersOf, signSolanaTx } from '../../../src/chains/solana/solana-tx.ts';
import { coins, hashOf, solanaTestKey, ToldSolana } from '../../support/chains/solana-told.ts';

const [walletKey, ownerKey, toKey] = [1, 2, 3].map(solanaTestKey) as [
  ReturnType<typeof solanaTestKey>,
  ReturnType<typeof solanaTestKey>,
  ReturnType<typeof solanaTestKey>,
];
const [wallet, owner, to] = [walletKey.address, ownerKey.address, toKey.address];
const usdc = { mint: solanaTestKey(4).address, program: programs.token, decimals: 6 };
const marker = { seed: markerSeed('payment', 0), rent: 650_240n };
const madeMarker = markerAddress(wallet, marker.seed);
const lastHeight = 1_000;
const payment: SolanaAction = { kind: 'payment', marker, to, token: null, amount: 5_000_000n };
const tokenPayment: SolanaAction = { ...payment, token: usdc, amount: 7n };
const coinSweep: SolanaAction = { kind: 'coin_sweep', owner, amount: 9_000_000n };
const tokenSweep: SolanaAction = {
  ...{ kind: 'token_sweep', owner, token: usdc },
  sources: [{ account: associatedAccount(owner, usdc), amount: 7n, isClosed: true }],
};

function sentOf(action: SolanaAction) {
  const tx: SolanaTx = { wallet, blockhash: hashOf(9), computeLimit: 1_000, computePrice: 0n, action };
  const keys = signersOf(tx).map((address) => (address === wallet ? walletKey : ownerKey));
  const signed = { ...signSolanaTx(tx, keys), reserves: [], expiresAt: { height: lastHeight } };
  return sentTx(signed, tx);
}

/** A chain whose newest block has a height, and whose node has blocks from another one on. */
function chain(blockHeight: number, from = 1): ToldSolana {
  const told = new ToldSolana();
  told.blocks.set(1_000, { parentSlot: 999, blockHeight: from });
  told.blocks.set(5_000, { parentSlot: 4_999, blockHeight });
  return told;
}

const statusOn = (told: ToldSolana, action: SolanaAction = payment, other?: ToldSolana): Promise<TxStatus> =>
  solanaStatus(told.node(), sentOf(action), {
    askSecond: other === undefined ? null : (question) => question(other.node()),
  });

const waiting = { state: 'waiting', until: { height: lastHeight } };
const dead = { state: 'dead', why: 'expired', final: true };

describe('a transaction in no block', () => {
  test.each([
    [lastHeight - 1, waiting],
    [lastHeight, waiting],
    // A transaction may land one block above the last height that a node tells.
    [lastHeight + 1, waiting],
    [lastHeight + 2, dead],
  ])('at height %d', async (height, expected) => {
    for (const action of [payment, tokenPayment, coinSweep, tokenSweep]) {
      expect(await statusOn(chain(height), action)).toEqual(expected);
    }
  });

  test('is not dead while its marker exists: it may be the one that made it', async () => {
    const told = chain(lastHeight + 500);
    told.accounts.set(madeMarker, coins(650_240));
    expect(await statusOn(told)).toEqual({ state: 'unknown' });
    told.accounts.set(madeMarker, coins(1));
    expect(await statusOn(told)).toEqual({ state: 'unknown' });
  });

  test('is asked about at a slot that its head has reached', async () => {
    const told = chain(lastHeight + 2);
    await statusOn(told);
    const [, params] = told.calls.find(([method]) => method === 'getMultipleAccounts') ?? ['', []];
    expect(params[1]).toMatchObject({ minContextSlot: 5_000, commitment: 'finalized' });
  });

  test.each([
    [lastHeight - 150, true],
    [lastHeight - 149, false],
  ])('is no dead sweep by a node whose blocks begin at height %d', async (from, isDead) => {
    const status = statusOn(chain(lastHeight + 2, from), coinSweep);
    if (isDead) expect(await status).toEqual(dead);
    else await expect(status).rejects.toMatchObject({ code: 'no_index' });
    // The state of the chain proves it for a payment.
    expect(await statusOn(chain(lastHeight + 2, from))).toEqual(dead);
  });

  test('is not dead by an answer about an older slot', async () => {
    const told = chain(lastHeight + 2);
    told.answers.set('getSignatureStatuses', () => ({ context: { slot: 4_999 }, value: [null] }));
    await expect(statusOn(told)).rejects.toMatchObject({ code: 'node_behind' });
    told.answers.delete('getSignatureStatuses');
    told.answers.set('getMultipleAccounts', () => ({ context: { slot: 4_999 }, value: [null] }));
    await expect(statusOn(told)).rejects.toMatchObject({ code: 'node_behind' });
  });

  test('that a block holds which is not final waits, also after its last height', async () => {
    for (const height of [lastHeight, lastHeight + 2]) {
      const told = chain(height);
      told.statuses.set(sentOf(payment).txid, { slot: 5_001, err: null, confirmationStatus: 'confirmed' });
      expect(await statusOn(told)).toEqual(waiting);
    }
  });

  test('is finally dead when a second node tells the same', async () => {
    const [one, other] = [chain(lastHeight + 2), chain(lastHeight + 2)];
    expect(await statusOn(one, payment, other)).toEqual(dead);
    other.accounts.set(madeMarker, coins(650_240));
    expect(await statusOn(one, payment, other)).toEqual({ ...dead, final: false });
    const status = await solanaStatus(one.node(), sentOf(payment), { askSecond: async () => null });
    expect(status).toEqual({ ...dead, final: false });
  });
});

interface Change {
  /** Of coins, before and after. */
  readonly coins?: Readonly<Record<string, readonly [number, number]>>;
  readonly tokens?: Readonly<Record<string, readonly [owner: string, before: string, after: string]>>;
  readonly err?: unknown;
}

/** A block of the chain that holds the transaction. */
function mine(told: ToldSolana, action: SolanaAction, { coins: moved = {}, tokens = {}, err = null }: Change) {
  const { txid } = sentOf(action);
  const keys = [wallet, ...Object.keys(moved).filter((key) => key !== wallet), ...Object.keys(tokens)];
  const balances = (place: 0 | 1) => keys.map((key) => moved[key]?.[place] ?? 0);
  const held = (place: 1 | 2) =>
    Object.entries(tokens).map(([account, row]) => ({
      ...{ accountIndex: keys.indexOf(account), mint: usdc.mint, owner: row[0] },
      uiTokenAmount: { amount: row[place] },
    }));
  const meta = {
    ...{ err, fee: 5_000, preBalances: balances(0), postBalances: balances(1) },
    ...{ preTokenBalances: held(1), postTokenBalances: held(2) },
  };
  const transaction = { signatures: [txid], accountKeys: keys.map((pubkey) => ({ pubkey })) };
  told.blocks.set(4_000, { parentSlot: 3_999, blockHeight: 900, transactions: [{ transaction, meta }] });
  told.blocks.set(5_000, { parentSlot: 4_999, blockHeight: lastHeight });
  told.statuses.set(txid, { slot: 4_000, err, confirmationStatus: 'finalized' });
  return told;
}

describe('a transaction in a final block', () => {
  const mined = { state: 'mined', height: 4_000, confirmations: 1_001, success: true, final: true };
  const account = solanaTestKey(9).address;
  const cases: readonly (readonly [string, SolanaAction, Change, object])[] = [
    [
      'a payment of coins, with the rent of its marker',
      payment,
      { coins: { [wallet]: [10_000_000, 4_344_760], [to]: [0, 5_000_000] } },
      { fee: 655_240n },
    ],
    [
      'a payment of coins that brought less',
      payment,
      { coins: { [wallet]: [10_000_000, 4_344_760], [to]: [0, 4_999_999] } },
      { fee: 655_240n, success: false, problem: 'short_transfer' },
    ],
    [
      'a payment of coins that brought nothing',
      payment,
      { coins: { [wallet]: [10_000_000, 4_344_760] } },
      { fee: 655_240n, success: false, problem: 'not_transferred' },
    ],
    [
      'a payment that failed, at its marker or later',
      payment,
      { coins: { [wallet]: [10_000_000, 9_995_000] }, err: { InstructionError: [0, { Custom: 0 }] } },
      { fee: 5_000n, success: false },
    ],
    [
      "a payment of a token, with the rent of the recipient's account",
      tokenPayment,
      { coins: { [wallet]: [10_000_000, 7_000_000] }, tokens: { [account]: [to, '5', '12'] } },
      { fee: 3_000_000n },
    ],
    [
      'a payment of a token whose mint kept a fee',
      tokenPayment,
      { coins: { [wallet]: [10_000_000, 7_000_000] }, tokens: { [account]: [to, '5', '11'] } },
      { fee: 3_000_000n, success: false, problem: 'short_transfer' },
    ],
    [
      'a sweep of coins',
      coinSweep,
      { coins: { [wallet]: [1_000_000, 9_990_000], [owner]: [9_000_000, 0] } },
      { fee: 10_000n },
    ],
    [
      'a sweep of a token, with more rent than fee',
      tokenSweep,
      { coins: { [wallet]: [1_000_000, 3_029_280] }, tokens: { [account]: [wallet, '0', '7'] } },
      { fee: -2_029_280n },
    ],
  ];

  test.each(cases)('%s', async (_name, action, change, expected) => {
    expect(await statusOn(mine(chain(lastHeight), action, change), action)).toEqual({ ...mined, ...expected });
  });

  test('is not called final before a second node tells the same', async () => {
    const change = { coins: { [wallet]: [10_000_000, 4_344_760], [to]: [0, 5_000_000] } } as const;
    const [one, other] = [mine(chain(1), payment, change), mine(chain(1), payment, change)];
    expect(await statusOn(one, payment, other)).toMatchObject({ final: true });
    other.statuses.clear();
    expect(await statusOn(one, payment, other)).toMatchObject({ state: 'mined', final: false });
  });

  test('has lost its marker only when two nodes say that it was there already', async () => {
    const failed = (action: SolanaAction, err: unknown) =>
      mine(chain(1), action, { coins: { [wallet]: [10_000_000, 9_995_000] }, err });
    const atMarker = { InstructionError: [0, { Custom: 0 }] };
    const lost = { ...mined, fee: 5_000n, success: false, lost: true };
    expect(await statusOn(failed(payment, atMarker), payment, failed(payment, atMarker))).toMatchObject(lost);
    expect(await statusOn(failed(payment, atMarker))).not.toHaveProperty('lost');
    expect(await statusOn(failed(payment, atMarker), payment, chain(1))).toMatchObject({ final: false });
    for (const err of [
      { InstructionError: [3, { Custom: 0 }] },
      { InstructionError: [0, { Custom: 1 }] },
      'AccountInUse',
    ]) {
      expect(await statusOn(failed(payment, err), payment, failed(payment, err))).not.toHaveProperty('lost');
    }
    expect(await statusOn(failed(coinSweep, atMarker), coinSweep, failed(coinSweep, atMarker))).not.toHaveProperty(
      'lost',
    );
  });

  test('that the block does not hold is a fault of the node', async () => {
    const told = mine(chain(1), payment, {});
    told.blocks.set(4_000, { parentSlot: 3_999, blockHeight: 900 });
    await expect(statusOn(told)).rejects.toMatchObject({ code: 'unsound_answer' });
    await expect(statusOn(told)).rejects.toThrow(ChainError);
  });
});

test('bytes that expire at no height have no status', () => {
  const { txid, tx } = sentOf(payment);
  for (const expiresAt of [null, { timeMs: 5 }]) {
    expect(() => sentTx({ txid, raw: '', reserves: [], expiresAt }, tx)).toThrow('expires at no height');
  }
});
