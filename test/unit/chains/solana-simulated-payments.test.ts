import {
  ask,
  askHead,
  askValue,
  broughtTo,
  describeWithVm,
  inBase64,
  refusedSending,
  type ShownBlock,
  send,
  signOld,
  statusOf,
} from '../../support/chains/solana-calls.ts';
import { tokenPayment } from '../../support/chains/solana-node/hands.ts';
import { memo, system } from '../../support/chains/solana-node/instructions.ts';
import {
  associatedAddress,
  programs,
  type SolanaKey,
  seededAddress,
  wrappedSol,
} from '../../support/chains/solana-node/keys.ts';
import type { SolanaTransaction } from '../../support/chains/solana-node/transaction.ts';
import { type SolanaChain, type SolanaNode, startSolana } from '../../support/chains/solana-node.ts';

describeWithVm('payments of a simulated network of Solana', () => {
  let chain: SolanaChain;
  let node: SolanaNode;
  let bob: string;
  let alice: SolanaKey;

  beforeEach(async () => {
    chain = startSolana();
    node = await chain.node();
    bob = chain.newKey().address;
    alice = chain.newAccount(10_000_000_000n);
  });
  afterEach(() => chain.stop());

  const transferTo = (to: string, lamports: bigint) => ({
    instructions: [system.transfer(alice.address, to, lamports)],
  });
  const found = async (id: string, owner = bob) => {
    const { transactions } = await askHead(node, chain);
    const shown = transactions.find(({ transaction }) => transaction.signatures[0] === id);
    if (!shown) throw new Error('the block does not hold it');
    return { ...broughtTo(shown, owner), err: shown.meta.err, fee: shown.meta.fee };
  };

  describe('in coins', () => {
    it('are executed by the virtual machine, and take their fee', async () => {
      const tx = chain.sign(alice, transferTo(bob, 5_000_000n));
      expect(await send(node, tx)).toBe(tx.signatures[0]);
      expect(chain.balance(bob)).toBe(0n);
      chain.mine();
      expect(await found(tx.signatures[0] ?? '')).toEqual({ coins: 5_000_000n, tokens: {}, err: null, fee: 5_000 });
      expect([chain.balance(bob), chain.balance(alice.address)]).toEqual([5_000_000n, 9_994_995_000n]);
    });

    const kinds = ['inner-call', 'with-seed', 'closed-account', 'lookup', 'version-1', 'memo', 'priority'] as const;
    it.each(kinds)('arrive %s, in a block that names the receiver', async (kind) => {
      const id = chain.creditCoins(kind, bob, 7_000_000n);
      chain.mine();
      expect(await found(id)).toMatchObject({ coins: 7_000_000n, tokens: {}, err: null });
      expect(chain.balance(bob)).toBe(7_000_000n);
      const { transactions } = await askHead(node, chain);
      const sources = transactions[0]?.transaction.accountKeys.map(({ source }) => source);
      expect(sources?.includes('lookupTable')).toBe(kind === 'lookup');
      expect(transactions[0]?.version).toBe(kind === 'version-1' ? 1 : kind === 'lookup' ? 0 : 'legacy');
    });

    it('by inner calls are in no instruction of the transaction itself', async () => {
      const id = chain.creditCoins('inner-call', bob, 7_000_000n);
      chain.mine();
      const { outcome } = chain.find(id)?.applied ?? {};
      const depths = outcome?.inner.map((calls) => calls.map(({ stackHeight }) => stackHeight));
      expect(depths).toEqual([[], [2]]);
      expect(outcome?.logs).toContain(`Program ${programs.system} invoke [2]`);
      const form = { maxSupportedTransactionVersion: 0 };
      const { meta } = await ask<{ meta: { innerInstructions: unknown } }>(node, 'getTransaction', id, form);
      expect(meta.innerInstructions).toMatchObject([
        { index: 1, instructions: [{ programIdIndex: expect.any(Number) }] },
      ]);
    });

    it('of several receivers stand in one transaction', async () => {
      const carol = chain.newKey().address;
      const usdc = chain.mint('USDC');
      const id = chain.payInMany([
        { to: bob, amount: 1_000_000n },
        { to: carol, amount: 2_000_000n },
        { to: bob, amount: 3_000_000n },
        { to: bob, amount: 4n, mint: usdc },
      ]);
      chain.mine();
      expect(await found(id)).toMatchObject({ coins: 4_000_000n, tokens: { [usdc.address]: 4n } });
      expect(await found(id, carol)).toMatchObject({ coins: 2_000_000n, tokens: {} });
    });

    it('below the rent of a new account are refused, and paid when the rent has fallen', async () => {
      const tx = chain.sign(alice, transferTo(bob, 650_239n));
      const text =
        'Transaction simulation failed: Transaction results in an account (1) with insufficient funds for rent';
      expect(await refusedSending(node, tx)).toEqual([-32_002, text]);
      chain.vm.rentPerByte = 696n;
      await send(node, tx);
      chain.mine();
      expect(chain.balance(bob)).toBe(650_239n);
    });

    it('that the sender does not have are refused, and with the fee alone taken in a block', async () => {
      const tx = chain.sign(alice, transferTo(bob, 10_000_000_000n));
      expect(await refusedSending(node, tx)).toEqual([
        -32_002,
        'Transaction simulation failed: Error processing Instruction 1: custom program error: 0x1',
      ]);
      await send(node, tx, { skipPreflight: true });
      chain.mine();
      const failure = { InstructionError: [1, { Custom: 1 }] };
      expect(await found(tx.signatures[0] ?? '')).toEqual({ coins: 0n, tokens: {}, err: failure, fee: 5_000 });
      expect(await statusOf(node, tx.signatures[0] ?? '')).toMatchObject({ err: failure, status: { Err: failure } });
      expect(chain.balance(alice.address)).toBe(9_999_995_000n);
    });

    it('of a sender that cannot pay the fee wait until they can, or expire', async () => {
      const poor = chain.newAccount(650_240n);
      const draft = { instructions: [memo('x')] };
      const [first, second] = [chain.sign(poor, draft), chain.sign(poor, draft)];
      expect(await refusedSending(node, first)).toEqual([-32_002, expect.stringContaining('insufficient funds')]);
      for (const tx of [first, second]) await send(node, tx, { skipPreflight: true });
      chain.mine();
      expect(chain.pool.waiting).toHaveLength(2);
      chain.fund(poor.address, 5_000n);
      expect(chain.mine().transactions).toHaveLength(1);
      chain.expire(first.blockhash);
      chain.mine();
      chain.fund(poor.address, 1_000_000n);
      expect(chain.mine().transactions).toEqual([]);
    });
  });

  describe('in tokens', () => {
    it('bring the rent of a new token account to that account, not to its owner', async () => {
      const usdc = chain.mint('USDC');
      const id = chain.pay(chain.bank, bob, 5n, { mint: usdc });
      chain.mine();
      expect(await found(id)).toMatchObject({ coins: 0n, tokens: { [usdc.address]: 5n }, err: null });
      expect(chain.balance(bob)).toBe(0n);
      expect(chain.balance(associatedAddress(bob, usdc.address, programs.token))).toBe(1_488_440n);
    });

    it.each(['token', 'token2022'] as const)('count in all accounts of their owner (%s)', async (program) => {
      const mint = chain.mint('ABC', { program });
      const ids = [
        chain.pay(chain.bank, bob, 2n ** 60n, { mint }),
        chain.creditTokens('other-account', bob, mint, 20n),
        chain.creditTokens('reopened-account', bob, mint, 300n),
        chain.creditTokens('inner-call', bob, mint, 4_000n),
      ];
      chain.mine();
      const brought = await Promise.all(ids.map(async (id) => (await found(id)).tokens));
      expect(brought).toEqual([2n ** 60n, 20n, 300n, 4_000n].map((amount) => ({ [mint.address]: amount })));
      expect(chain.tokens(bob, mint)).toBe(2n ** 60n + 4_320n);
    });

    it('of a mint with fees arrive without the fee', async () => {
      const mint = chain.mint('FEE', { program: 'token2022', transferFee: { basisPoints: 100, most: 50n } });
      const ids = [1_000n, 100_000n].map((amount) => chain.pay(chain.bank, bob, amount, { mint }));
      ids.push(chain.creditTokens('other-account', bob, mint, 200n));
      chain.mine();
      const brought = await Promise.all(ids.map(async (id) => (await found(id)).tokens[mint.address]));
      expect(brought).toEqual([990n, 99_950n, 198n]);
    });

    it('of a mint with a hook or a permanent delegate arrive', async () => {
      const hooked = chain.mint('HOOK', { program: 'token2022', hasHook: true });
      const delegated = chain.mint('TAKE', { program: 'token2022', permanentDelegate: alice.address });
      const ids = [hooked, delegated].map((mint) => chain.pay(chain.bank, bob, 9n, { mint }));
      chain.mine();
      for (const id of ids) expect((await found(id)).err).toBeNull();
      expect([chain.tokens(bob, hooked), chain.tokens(bob, delegated)]).toEqual([9n, 9n]);
    });

    it('of wrapped SOL are a mint like others', async () => {
      const id = chain.creditTokens('wrapped', bob, chain.mint('USDC'), 44n);
      chain.mine();
      expect(await found(id)).toMatchObject({ coins: 0n, tokens: { [wrappedSol]: 44n } });
    });

    it('that fail move nothing', async () => {
      const usdc = chain.mint('USDC');
      const id = chain.pay(chain.bank, bob, 5n, { mint: usdc, isFailing: true });
      chain.mine();
      expect(await found(id)).toMatchObject({ coins: 0n, tokens: {}, fee: 5_000 });
      expect((await found(id)).err).toEqual({ InstructionError: [3, 'InvalidInstructionData'] });
      expect(chain.tokens(bob, usdc)).toBe(0n);
    });

    it('without a memo are refused by a receiver that asks for memos', async () => {
      const mint = chain.mint('MEMO', { program: 'token2022' });
      chain.requireMemos(bob, mint);
      const instructions = tokenPayment(chain.bank.address, bob, mint, 5n);
      const tx = chain.sign(chain.bank, { instructions });
      const trial = await askValue(node, 'simulateTransaction', inBase64(tx), { encoding: 'base64' });
      expect(trial.err).toEqual({ InstructionError: [2, { Custom: 36 }] });
      expect(trial.logs).toContainEqual(expect.stringContaining('No memo in previous instruction'));
      expect(await refusedSending(node, tx)).toEqual([-32_002, expect.stringContaining('0x24')]);
      chain.submit(chain.bank, {
        instructions: [instructions[0], memo('order 7'), instructions[1]].filter((one) => one !== undefined),
      });
      chain.mine();
      expect(chain.tokens(bob, mint)).toBe(5n);
    });
  });

  describe('with a marker, which an account from a seed is', () => {
    const seed = 'payment 1';
    let marker: string;
    const attempt = (lamports: bigint, blocks = 0): SolanaTransaction => {
      const made = { base: alice.address, seed, lamports: chain.vm.minimum(0), owner: programs.system };
      const first = system.createAccountWithSeed(alice.address, marker, made);
      return signOld(chain, alice, { instructions: [first, system.transfer(alice.address, bob, lamports)] }, blocks);
    };
    beforeEach(() => {
      marker = seededAddress(alice.address, seed, programs.system);
      chain.mine();
    });
    const rent = 650_240n;

    it('succeed once: another attempt fails at the marker and moves nothing', async () => {
      const [first, second] = [attempt(5_000_000n, 1), attempt(5_000_000n)];
      expect(first.blockhash).not.toBe(second.blockhash);
      await send(node, first);
      await send(node, second);
      const { transactions } = chain.mine();
      expect(transactions.map(({ outcome }) => outcome.error)).toEqual([
        null,
        { InstructionError: [1, { Custom: 0 }] },
      ]);
      expect(chain.balance(bob)).toBe(5_000_000n);
      expect(chain.balance(alice.address)).toBe(10_000_000_000n - 5_000_000n - rent - 10_000n);
      expect(await refusedSending(node, attempt(5_000_000n))).toEqual([-32_002, expect.stringContaining('0x0')]);
    });

    it('fail at a marker that a stranger has paid into before', async () => {
      chain.pay(chain.bank, marker, rent);
      chain.mine();
      expect(await refusedSending(node, attempt(5_000_000n))).toEqual([-32_002, expect.stringContaining('0x0')]);
      expect(chain.balance(bob)).toBe(0n);
    });

    it('make no marker when they fail after it', async () => {
      const poor = attempt(20_000_000_000n);
      await send(node, poor, { skipPreflight: true });
      chain.mine();
      expect([chain.balance(marker), chain.balance(bob)]).toEqual([0n, 0n]);
      expect((await statusOf(node, poor.signatures[0] ?? ''))?.err).toEqual({ InstructionError: [2, { Custom: 1 }] });
    });

    it('have a rival that takes the marker first', () => {
      const tx = attempt(5_000_000n);
      const rival = chain.rivalOf(tx.wire, alice, chain.bank.address, 700_000n);
      chain.pool.add(tx);
      chain.plant(rival.wire);
      const errors = chain.mine().transactions.map(({ outcome }) => outcome.error);
      expect(errors).toEqual([null, { InstructionError: [1, { Custom: 0 }] }]);
      expect([chain.balance(marker), chain.balance(bob)]).toEqual([rent, 0n]);
    });
  });

  describe('on a blockhash', () => {
    it('are taken in a block up to 151 above it, and in none above that', async () => {
      const { height, hash } = chain.head;
      const [last, late] = [
        chain.sign(alice, transferTo(bob, 1_000_000n), hash),
        chain.sign(alice, transferTo(bob, 2_000_000n), hash),
      ];
      while (chain.head.height < height + 150) chain.mine();
      expect(await askValue(node, 'isBlockhashValid', hash)).toBe(true);
      await send(node, last);
      expect(chain.mine()).toMatchObject({ height: height + 151, transactions: [{ tx: last }] });
      expect(await askValue(node, 'isBlockhashValid', hash)).toBe(false);
      const text = 'Transaction simulation failed: Blockhash not found';
      expect(await refusedSending(node, late)).toEqual([-32_002, text]);
      await send(node, late, { skipPreflight: true });
      expect(chain.mine().transactions).toEqual([]);
      expect(chain.pool.waiting).toEqual([]);
      expect(chain.balance(bob)).toBe(1_000_000n);
    });

    it('do not age with slots that have no block', async () => {
      const tx = chain.sign(alice, transferTo(bob, 1_000_000n));
      for (let block = 0; block < 100; block += 1) {
        chain.skip(5);
        chain.mine();
      }
      await send(node, tx);
      expect(chain.mine().transactions).toHaveLength(1);
    });

    it('of no block are refused', async () => {
      const tx = chain.sign(alice, transferTo(bob, 1_000_000n), chain.newKey().address);
      expect(await refusedSending(node, tx)).toEqual([-32_002, expect.stringContaining('Blockhash not found')]);
    });
  });

  describe('that were sent', () => {
    it('are paid once, however often they are sent', async () => {
      const tx = chain.sign(alice, transferTo(bob, 1_000_000n));
      for (let times = 0; times < 3; times += 1) expect(await send(node, tx)).toBe(tx.signatures[0]);
      expect(chain.mine().transactions).toHaveLength(1);
      const text = 'Transaction simulation failed: This transaction has already been processed';
      expect(await refusedSending(node, tx)).toEqual([-32_002, text]);
      await send(node, tx, { skipPreflight: true });
      chain.plant(tx.wire);
      expect(chain.mine().transactions).toEqual([]);
      expect(chain.balance(bob)).toBe(1_000_000n);
    });

    it('and come to a leader in another way too are in one block once', async () => {
      const tx = chain.sign(alice, transferTo(bob, 1_000_000n));
      await send(node, tx);
      chain.plant(tx.wire);
      expect(chain.mine().transactions).toHaveLength(1);
      expect(chain.balance(bob)).toBe(1_000_000n);
    });

    it('are unknown while they are held, dropped or delayed', async () => {
      const txs = [1n, 2n, 3n].map((part) => chain.sign(alice, transferTo(bob, part * 1_000_000n)));
      const ids = txs.map(({ signatures }) => signatures[0] ?? '');
      for (const tx of txs) await send(node, tx);
      chain.hold(ids[0] ?? '');
      chain.drop(ids[1] ?? '');
      chain.pool.delay(ids[2] ?? '', 1);
      expect(chain.mine().transactions).toEqual([]);
      for (const id of ids) expect(await statusOf(node, id)).toBeNull();
      expect(chain.mine().transactions).toHaveLength(1);
      chain.release(ids[0] ?? '');
      expect(chain.mine().transactions).toHaveLength(1);
      expect(chain.balance(bob)).toBe(4_000_000n);
    });

    it('with a wrong signature are refused, and never executed', async () => {
      const tx = chain.sign(alice, transferTo(bob, 1_000_000n));
      const wire = tx.wire.slice();
      wire[5] = (wire[5] ?? 0) ^ 1;
      const forged = { ...tx, wire };
      expect(await refusedSending(node, forged)).toEqual([-32_003, 'Transaction signature verification failure']);
      await send(node, forged, { skipPreflight: true });
      expect(chain.mine().transactions).toEqual([]);
    });
  });

  it('never make or lose coins, but for fees', async () => {
    const usdc = chain.mint('USDC');
    for (const kind of ['with-seed', 'closed-account', 'lookup', 'memo'] as const)
      chain.creditCoins(kind, bob, 3_000_000n);
    chain.creditTokens('reopened-account', bob, usdc, 5n);
    chain.pay(alice, bob, 1n, { isFailing: true });
    chain.mine();
    const { transactions }: ShownBlock = await askHead(node, chain);
    expect(transactions).toHaveLength(6);
    for (const { outcome } of chain.head.transactions) {
      const sums = [outcome.preBalances, outcome.postBalances].map((all) => all.reduce((sum, one) => sum + one, 0n));
      expect((sums[0] ?? 0n) - (sums[1] ?? 0n)).toBe(outcome.fee);
      expect(outcome.fee % 5_000n).toBe(0n);
    }
  });
});
