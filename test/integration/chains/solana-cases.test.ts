import { ChainError, type PaymentIntent, type Transfer } from '../../../src/chains/port/chain-adapter.ts';
import type { SolanaAdapter } from '../../../src/chains/solana/solana-adapter.ts';
import { describeWithVm } from '../../support/chains/solana-calls.ts';
import type { SolanaHarness } from '../../support/chains/solana-harness.ts';
import { solanaSetup } from '../../support/chains/solana-setup.ts';

let solana: SolanaHarness<SolanaAdapter>;

const usualRent = { rentPerByte: 5_080n };

/** What comes to an address while something happens. */
async function comingTo(address: string, happen: () => void): Promise<Pick<Transfer, 'contract' | 'amount'>[]> {
  const cursor = await solana.adapter.start(solana.chain.head.slot);
  happen();
  await solana.mine(3);
  const { blocks } = await solana.adapter.scan(cursor, 20);
  const transfers = blocks.flatMap((block) => block.transfers).filter((each) => each.address === address);
  expect(new Set(transfers.map(({ key }) => key)).size).toBe(transfers.length);
  return transfers.map(({ contract, amount }) => ({ contract, amount }));
}

function intentOf(changes: Partial<PaymentIntent>): PaymentIntent {
  const to = solana.chain.newKey().address;
  return { ...{ id: 'p1', attempt: 1, from: null, contract: null, to, tag: null, amount: 5_000_000n }, ...changes };
}

async function codeOf(intent: PaymentIntent): Promise<string | null> {
  const error = await solana.adapter.prepare(intent, new Map()).then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error === null || error instanceof ChainError) return error?.code ?? null;
  throw error;
}

/** Signs a payment and puts it into a block. Returns its status. */
async function made(intent: PaymentIntent) {
  const tx = await solana.sign(intent, await solana.adapter.prepare(intent, new Map()));
  await solana.adapter.broadcast(tx);
  await solana.mine(2);
  return solana.adapter.status(tx);
}

describeWithVm('cases of Solana', () => {
  beforeEach(async () => {
    solana = await solanaSetup({}, usualRent);
  });
  afterEach(() => solana.stop());

  describe('what comes', () => {
    it.each([
      'with-seed',
      'closed-account',
      'lookup',
      'version-1',
      'memo',
      'priority',
    ] as const)('as coins by the way %s counts once', async (kind) => {
      const to = solana.chain.newKey().address;
      const happen = () => void solana.chain.creditCoins(kind, to, 9_000_000n);
      expect(await comingTo(to, happen)).toEqual([{ contract: null, amount: 9_000_000n }]);
    });

    it.each(['other-account', 'reopened-account'] as const)('as tokens by the way %s counts once', async (kind) => {
      const to = solana.chain.newKey().address;
      const happen = () => void solana.chain.creditTokens(kind, to, solana.mint, 7n);
      expect(await comingTo(to, happen)).toEqual([{ contract: solana.mint.address, amount: 7n }]);
    });

    it('as wrapped coins, or as another token, is left out', async () => {
      const to = solana.chain.newKey().address;
      const happen = () => void solana.chain.creditTokens('wrapped', to, solana.mint, 9_000_000n);
      expect(await comingTo(to, happen)).toEqual([]);
      const scam = solana.chain.mint('USDC of others');
      const other = solana.chain.newKey().address;
      const paid = () => void solana.chain.pay(solana.chain.bank, other, 7n, { mint: scam });
      expect(await comingTo(other, paid)).toEqual([]);
    });

    it('in a transaction that fails after it moved all is nothing', async () => {
      const to = solana.chain.newKey().address;
      const pay = () => void solana.chain.pay(solana.chain.bank, to, 9_000_000n, { isFailing: true });
      expect(await comingTo(to, pay)).toEqual([]);
    });

    it('with its mint keeping a fee is what arrives', async () => {
      const mint = solana.chain.mint('fee', { program: 'token2022', transferFee: { basisPoints: 100, most: 1_000n } });
      await solana.stop();
      const tokens = new Map([['USDC', mint.address]]);
      solana = await solanaSetup({ tokens }, usualRent);
      const same = solana.chain.mint('fee', { program: 'token2022', transferFee: { basisPoints: 100, most: 1_000n } });
      expect(same.address).toBe(mint.address);
      const to = solana.chain.newKey().address;
      const pay = () => void solana.chain.pay(solana.chain.bank, to, 10_000n, { mint: same });
      expect(await comingTo(to, pay)).toEqual([{ contract: mint.address, amount: 9_900n }]);
      // But nothing is paid in it.
      expect(await codeOf(intentOf({ contract: mint.address, amount: 5n }))).toBe('unsound_answer');
    });
  });

  describe('a payment', () => {
    it('of less than an account must have is refused, and of as much is made', async () => {
      const least = solana.chain.vm.minimum(0);
      expect(await codeOf(intentOf({ amount: least - 1n }))).toBe('below_least_amount');
      expect(await made(intentOf({ amount: least }))).toMatchObject({ state: 'mined', success: true });
    });

    it('of a token makes the account of its recipient, and its rent is part of the cost', async () => {
      const intent = intentOf({ contract: solana.mint.address, amount: 7n });
      const before = solana.chain.balance(solana.hot.address);
      const status = await made(intent);
      const rents = solana.chain.vm.minimum(0) + solana.chain.vm.minimum(165);
      expect(status).toMatchObject({ success: true, fee: rents + 5_000n });
      expect(before - solana.chain.balance(solana.hot.address)).toBe(rents + 5_000n);
      // The next one costs no account.
      const next = await made({ ...intent, id: 'p2' });
      expect(next).toMatchObject({ success: true, fee: solana.chain.vm.minimum(0) + 5_000n });
    });

    it('to an account that requires a memo is refused', async () => {
      const mint = solana.chain.mint('USDT', { program: 'token2022' });
      await solana.stop();
      solana = await solanaSetup({ tokens: new Map([['USDT', mint.address]]) }, usualRent);
      const usdt = solana.chain.mint('USDT', { program: 'token2022' });
      solana.chain.giveTokens(solana.hot.address, usdt, 1_000n);
      const to = solana.chain.newKey().address;
      await solana.mine(1);
      expect(await codeOf(intentOf({ to, contract: usdt.address, amount: 7n }))).toBe(null);
      solana.chain.requireMemos(to, usdt);
      await solana.mine(1);
      expect(await codeOf(intentOf({ to, contract: usdt.address, amount: 7n }))).toBe('would_fail');
    });

    it('whose marker a stranger made uses the next one', async () => {
      const intent = intentOf({});
      const first = await solana.adapter.prepare(intent, new Map());
      const marker = first.reserves[0]?.replace('marker:', '') ?? '';
      solana.chain.pay(solana.chain.bank, marker, 1_000_000n);
      await solana.mine(2);
      const second = await solana.adapter.prepare(intent, new Map());
      expect(second.reserves).not.toEqual(first.reserves);
      expect(await made(intent)).toMatchObject({ success: true });
      // The first one, which fails at its marker and moves nothing.
      solana.chain.plant(Buffer.from((await solana.sign(intent, first)).raw, 'base64'));
      await solana.mine(2);
      expect(solana.chain.balance(intent.to)).toBe(intent.amount);
    });
  });

  describe('a sweep', () => {
    it('of tokens on two accounts takes them and their rent, and the second of two fails', async () => {
      const own = (await solana.depositAddress?.()) ?? '';
      solana.chain.pay(solana.chain.bank, own, 5n, { mint: solana.mint });
      solana.chain.creditTokens('other-account', own, solana.mint, 7n);
      await solana.mine(2);
      const sweep = intentOf({ from: [own], to: solana.hot.address, contract: solana.mint.address, amount: 12n });
      const prepared = await solana.adapter.prepare(sweep, new Map());
      const other = await solana.adapter.prepare({ ...sweep, id: 'p2' }, new Map());
      await solana.mine(1);
      const late = await solana.adapter.prepare({ ...sweep, id: 'p2' }, new Map());
      expect(other.payload).not.toBe(late.payload);
      const before = solana.chain.balance(solana.hot.address);
      for (const each of [prepared, late]) {
        solana.chain.plant(Buffer.from((await solana.sign(sweep, each)).raw, 'base64'));
      }
      await solana.mine(3);
      const [one, two] = await Promise.all(
        [prepared, late].map(async (each) => solana.adapter.status(await solana.sign(sweep, each))),
      );
      const rents = 2n * solana.chain.vm.minimum(165);
      expect([one, two].map((each) => each?.state === 'mined' && [each.success, each.fee])).toEqual(
        expect.arrayContaining([
          [true, 10_000n - rents],
          [false, 10_000n],
        ]),
      );
      expect(solana.chain.balance(solana.hot.address)).toBe(before + rents - 20_000n);
      expect(solana.chain.tokens(own, solana.mint)).toBe(0n);
    });

    it('of coins leaves nothing', async () => {
      const own = (await solana.depositAddress?.()) ?? '';
      solana.chain.pay(solana.chain.bank, own, 5_000_000n);
      await solana.mine(2);
      const sweep = intentOf({ from: [own], to: solana.hot.address, amount: 5_000_000n });
      expect(await made(sweep)).toMatchObject({ success: true, fee: 10_000n });
      expect(solana.chain.balance(own)).toBe(0n);
    });
  });
});
