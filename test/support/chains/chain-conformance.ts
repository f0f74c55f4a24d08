import { randomUUID } from 'node:crypto';
import {
  type ChainAdapter,
  type Cursor,
  type HotSpend,
  type PaymentIntent,
  type Pending,
  type PreparedTx,
  type Promised,
  ReorgTooDeep,
  type Reservation,
  type ScanResult,
  type SignedTx,
  type Transfer,
  type TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';

/** A chain of one's own for one test, and the hands to make things happen on it. */
export interface ChainHarness {
  /**
   * Its hot wallet has enough of the chain's own coin, and of the token, for every payment of the
   * suite.
   */
  readonly adapter: ChainAdapter;
  /** A token contract, or null on a chain without tokens. */
  readonly token: string | null;
  /** A tag, or null on a chain without tags. */
  readonly tag: string | null;
  /** An unused address. */
  address(): string;
  /** Sends coins from outside. Returns the txid. */
  pay(to: string, tag: string | null, contract: string | null, amount: bigint): Promise<string>;
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the newest blocks by `blocks` empty ones (as many, unless told); what they held waits
   * again.
   */
  reorg(depth: number, blocks?: number): Promise<void>;
  sign(intent: PaymentIntent, prepared: PreparedTx): Promise<SignedTx>;
  /** Makes the node forget a transaction that waits for a block. */
  drop(txid: string): Promise<void>;
  /**
   * Broadcasts another transaction that spends what this one reserves, so that the other one is
   * mined.
   */
  conflict(tx: SignedTx): Promise<SignedTx>;
  /**
   * Makes executions of payments to the address fail; null where a mined payment always succeeds.
   */
  readonly refuse: ((address: string) => Promise<void>) | null;
  /** Gives out an address of ours, which can be swept; absent where nothing is swept. */
  readonly depositAddress?: () => Promise<string>;
  /**
   * Makes others pay so much that a payment which waits is worth replacing; absent where nothing is
   * replaced.
   */
  readonly raiseFees?: () => Promise<void>;
  stop(): Promise<void>;
}

const unit = 100_000n;

/** The suite that every chain adapter passes. */
export function describeChainAdapter(name: string, makeHarness: () => Promise<ChainHarness>): void {
  describe(`${name} as a chain adapter`, () => {
    let chain: ChainHarness;
    let adapter: ChainAdapter;
    /** What live payments hold. */
    let held: Map<Reservation, Promised>;

    beforeEach(async () => {
      chain = await makeHarness();
      adapter = chain.adapter;
      held = new Map();
    });
    afterEach(() => chain.stop());

    const startHere = async (): Promise<Cursor> => adapter.start((await adapter.head()).height);

    const intent = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
      id: randomUUID(),
      attempt: 1,
      from: null,
      contract: null,
      to: chain.address(),
      tag: null,
      amount: unit,
      ...changes,
    });

    /** A signed payment, which is not broadcast. */
    async function signed(payment: PaymentIntent): Promise<SignedTx> {
      const prepared = await adapter.prepare(payment, held);
      for (const one of prepared.reserves) {
        expect(held.has(one)).toBe(false);
        held.set(one, { contract: payment.contract, amount: payment.amount, fee: prepared.fee });
      }
      const tx = await chain.sign(payment, prepared);
      expect([...tx.reserves].sort()).toEqual([...prepared.reserves].sort());
      return tx;
    }

    const balance = async (address: string, contract: string | null = null): Promise<bigint> => {
      const [amount] = await adapter.balances([{ address, tag: null }], contract);
      return amount ?? -1n;
    };
    const hotBalance = async (contract: string | null = null): Promise<bigint> => {
      return balance((await adapter.hotWallet()).address, contract);
    };

    const waiting = async (known: readonly string[]): Promise<Pending> => {
      if (!adapter.pending) throw new Error(`${adapter.chain} shows nothing that waits`);
      return adapter.pending(known);
    };
    const pendingTo = async (to: string): Promise<Transfer[]> => {
      const { transfers } = await waiting([]);
      return transfers.filter(({ address }) => address === to);
    };

    function expectMined(status: TxStatus): Extract<TxStatus, { state: 'mined' }> {
      if (status.state !== 'mined') throw new Error(`expected a mined transaction, got ${JSON.stringify(status)}`);
      return status;
    }

    describe('scanning', () => {
      it('begins above its start and finds each block once, in order', async () => {
        const before = await chain.pay(chain.address(), null, null, unit);
        await chain.mine(2);
        const cursor = await startHere();
        const start = cursor.window.at(-1);
        const txid = await chain.pay(chain.address(), null, null, unit);
        await chain.mine(3);

        const first = await adapter.scan(cursor, 2);
        const second = await adapter.scan(first.cursor, 2);
        const third = await adapter.scan(second.cursor, 2);
        expect([first, second, third].map(({ blocks }) => blocks.length)).toEqual([2, 1, 0]);
        expect([first, second, third].flatMap(({ orphaned }) => orphaned)).toEqual([]);

        const refs = [...first.blocks, ...second.blocks].map(({ ref }) => ref);
        expect(refs.map(({ parent }) => parent)).toEqual([start, ...refs.slice(0, -1)].map((ref) => ref?.hash));
        expect(refs.at(-1)).toEqual(await adapter.head());
        for (const [index, { timeMs = 0 }] of refs.entries()) {
          expect(timeMs).toBeGreaterThanOrEqual(refs[index - 1]?.timeMs ?? start?.timeMs ?? 0);
          expect(timeMs).toBeGreaterThan(Date.UTC(2009, 0, 3));
          expect(timeMs).toBeLessThanOrEqual(Date.now() + adapter.blockToleranceSec * 1_000);
        }
        expect(first.head).toBe((await adapter.head()).height);
        const txids = transfersOf(first, second).map((transfer) => transfer.txid);
        expect(txids).toContain(txid);
        expect(txids).not.toContain(before);
      });

      it('finds every transfer of a block, with tag and token', async () => {
        const cursor = await startHere();
        const to = chain.address();
        const wanted = [
          { tag: null, contract: null, amount: 1n * unit },
          { tag: null, contract: null, amount: 2n * unit },
          ...(chain.tag === null ? [] : [{ tag: chain.tag, contract: null, amount: 3n * unit }]),
          ...(chain.token === null ? [] : [{ tag: null, contract: chain.token, amount: 4n * unit }]),
        ];
        const txids: string[] = [];
        for (const { tag, contract, amount } of wanted) txids.push(await chain.pay(to, tag, contract, amount));
        await chain.mine(1);

        const found = transfersOf(await adapter.scan(cursor, 10)).filter(({ address }) => address === to);
        expect(found.map(({ tag, contract, amount }) => ({ tag, contract, amount })).sort(byAmount)).toEqual(wanted);
        expect(found.map(({ txid }) => txid).sort()).toEqual([...txids].sort());
        expect(new Set(found.map(({ key }) => key)).size).toBe(wanted.length);
      });

      it('keeps no more of the chain than its window', async () => {
        const cursor = await startHere();
        await chain.mine(adapter.reorgWindow + 3);
        const { cursor: next, blocks } = await adapter.scan(cursor, adapter.reorgWindow + 3);
        expect(next.window).toEqual(blocks.slice(-adapter.reorgWindow).map(({ ref }) => ref));
      });

      it.each([1, 4])('follows a reorganisation of %d blocks and finds the same transfer again', async (depth) => {
        const cursor = await startHere();
        await chain.mine(1);
        const to = chain.address();
        await chain.pay(to, null, null, unit);
        await chain.mine(depth);
        const before = await adapter.scan(cursor, 20);
        const [found] = transfersOf(before).filter(({ address }) => address === to);
        expect(found).toBeDefined();

        await chain.reorg(depth);
        const after = await adapter.scan(before.cursor, 20);
        expect(after.orphaned).toEqual(before.cursor.window.slice(-depth).reverse());
        expect(after.blocks).toHaveLength(depth);
        expect(transfersOf(after).filter(({ address }) => address === to)).toEqual([]);
        expect(await pendingTo(to)).toEqual([found]);

        await chain.mine(1);
        const again = await adapter.scan(after.cursor, 20);
        expect(again.orphaned).toEqual([]);
        expect(transfersOf(again).filter(({ address }) => address === to)).toEqual([found]);
      });

      it('unwinds when the chain has become shorter', async () => {
        const cursor = await startHere();
        await chain.mine(4);
        const before = await adapter.scan(cursor, 20);
        await chain.reorg(3, 1);
        const after = await adapter.scan(before.cursor, 20);
        expect(after.orphaned).toEqual(before.cursor.window.slice(-3).reverse());
        expect(after.blocks).toHaveLength(1);
        expect(after.head).toBe((before.cursor.window.at(-1)?.height ?? 0) - 2);
        await chain.mine(5);
        const later = await adapter.scan(after.cursor, 20);
        expect(later.orphaned).toEqual([]);
        expect(later.blocks).toHaveLength(5);
      });

      it('does not go on when nothing of its window is left', async () => {
        await chain.mine(2);
        const onlyStart = await startHere();
        await chain.reorg(1);
        await expect(adapter.scan(onlyStart, 10)).rejects.toThrow(ReorgTooDeep);

        const cursor = await startHere();
        await chain.mine(3);
        const { cursor: next } = await adapter.scan(cursor, 10);
        await chain.reorg(4);
        await expect(adapter.scan(next, 10)).rejects.toThrow(ReorgTooDeep);
      });

      it('shows a transfer as pending until it is in a block', async () => {
        const cursor = await startHere();
        const to = chain.address();
        const txid = await chain.pay(to, null, null, unit);
        const pending = await pendingTo(to);
        expect(pending).toHaveLength(1);
        expect((await waiting([txid])).left).toEqual(new Set());
        expect(transfersOf(await adapter.scan(cursor, 10))).toEqual([]);
        expect(await balance(to)).toBe(0n);
        await chain.mine(1);
        expect(await pendingTo(to)).toEqual([]);
        expect((await waiting([txid])).left).toEqual(new Set([txid]));
        expect(transfersOf(await adapter.scan(cursor, 10)).filter(({ address }) => address === to)).toEqual(pending);
        expect(await balance(to)).toBe(unit);
      });
    });

    describe('paying', () => {
      it('takes a payment from its preparation to its end', async () => {
        const cursor = await startHere();
        const payment = intent({ tag: chain.tag });
        const hot = await hotBalance();
        const tx = await signed(payment);
        expect(await adapter.status(tx)).toEqual({ state: 'unknown' });
        expect(await adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
        expect(await adapter.status(tx)).toEqual({ state: 'mempool' });

        await chain.mine(1);
        const first = expectMined(await adapter.status(tx));
        const { height } = await adapter.head();
        expect(first).toMatchObject({ height, confirmations: 1, success: true, final: adapter.finalityDepth <= 1 });
        await chain.mine(adapter.finalityDepth - 1);
        const last = expectMined(await adapter.status(tx));
        expect(last).toMatchObject({ height, confirmations: adapter.finalityDepth, success: true, final: true });

        expect(await balance(payment.to)).toBe(payment.amount);
        expect(await hotBalance()).toBe(hot - payment.amount - last.fee);
        const found = transfersOf(await adapter.scan(cursor, 20)).filter(({ address }) => address === payment.to);
        expect(found).toEqual([expect.objectContaining({ txid: tx.txid, tag: chain.tag, amount: payment.amount })]);
      });

      it('pays in tokens and takes the fee in the own coin', async () => {
        const contract = chain.token;
        if (contract === null) return;
        const payment = intent({ contract });
        const [hot, hotToken] = [await hotBalance(), await hotBalance(contract)];
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.mine(1);
        const { fee } = expectMined(await adapter.status(tx));
        expect(await balance(payment.to, contract)).toBe(payment.amount);
        expect(await balance(payment.to)).toBe(0n);
        expect(await hotBalance(contract)).toBe(hotToken - payment.amount);
        expect(await hotBalance()).toBe(hot - fee);
      });

      it('pays once, however often the same bytes are broadcast', async () => {
        const payment = intent();
        const tx = await signed(payment);
        const outcomes = [await adapter.broadcast(tx), await adapter.broadcast(tx)];
        await chain.mine(1);
        outcomes.push(await adapter.broadcast(tx));
        await chain.mine(adapter.finalityDepth);
        outcomes.push(await adapter.broadcast(tx));
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(['accepted', 'known', 'known', 'known']);
        expect(expectMined(await adapter.status(tx)).final).toBe(true);
        expect(await balance(payment.to)).toBe(payment.amount);
      });

      it('makes payments that share no inputs, and mines them in any order', async () => {
        const to = chain.address();
        const first = await signed(intent({ to }));
        const second = await signed(intent({ to }));
        const third = await signed(intent({ to }));
        expect(new Set([first, second, third].flatMap(({ reserves }) => reserves)).size).toBe(held.size);
        expect(new Set([first, second, third].map(({ txid }) => txid)).size).toBe(3);

        for (const tx of [third, second]) expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
        await chain.mine(1);
        expect((await adapter.status(third)).state).not.toBe('dead');
        expect((await adapter.broadcast(first)).outcome).toBe('accepted');
        await chain.mine(1);
        for (const tx of [first, second, third]) expectMined(await adapter.status(tx));
        expect(await balance(to)).toBe(3n * unit);
      });

      it('prepares the same transaction again while nothing of it is held', async () => {
        const payment = intent();
        const first = await adapter.prepare(payment, held);
        expect((await adapter.prepare(payment, held)).reserves).toEqual(first.reserves);
      });

      it('brings a dropped payment back with the same bytes', async () => {
        const payment = intent();
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.drop(tx.txid);
        expect(await adapter.status(tx)).toEqual({ state: 'unknown' });
        await chain.mine(1);
        expect(await adapter.status(tx)).toEqual({ state: 'unknown' });
        expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
        await chain.mine(adapter.finalityDepth);
        expect(expectMined(await adapter.status(tx)).final).toBe(true);
        expect(await balance(payment.to)).toBe(payment.amount);
      });

      it('calls a payment dead when another one spent what it reserves, for good only after the depth', async () => {
        const payment = intent();
        const tx = await signed(payment);
        const other = await chain.conflict(tx);
        expect(await adapter.status(tx)).toEqual({ state: 'unknown' });
        await chain.mine(1);
        expectMined(await adapter.status(other));
        expect(await adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: adapter.finalityDepth <= 1 });
        expect((await adapter.broadcast(tx)).outcome).toBe('rejected');
        await chain.mine(adapter.finalityDepth - 1);
        expect(await adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
        expect(await balance(payment.to)).toBe(0n);
      });

      it('takes a payment that was replaced for alive until the other one is mined', async () => {
        const tx = await signed(intent());
        await adapter.broadcast(tx);
        const other = await chain.conflict(tx);
        expect((await adapter.status(tx)).state).not.toBe('dead');
        await chain.mine(1);
        expect((await adapter.status(tx)).state).toBe('dead');
        await chain.reorg(1);
        await chain.drop(other.txid);
        expect((await adapter.status(tx)).state).not.toBe('dead');
        expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
        await chain.mine(adapter.finalityDepth);
        expect(expectMined(await adapter.status(tx)).final).toBe(true);
        expect(await adapter.status(other)).toEqual({ state: 'dead', why: 'conflict', final: true });
      });

      it('follows a payment that is mined, reorganised away and mined again', async () => {
        const payment = intent();
        const hot = await hotBalance();
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.mine(1);
        const first = expectMined(await adapter.status(tx));
        await chain.reorg(1);
        expect(await adapter.status(tx)).toEqual({ state: 'mempool' });
        expect([await balance(payment.to), await hotBalance()]).toEqual([0n, hot]);
        await chain.mine(adapter.finalityDepth);
        const second = expectMined(await adapter.status(tx));
        expect(second).toMatchObject({ height: first.height + 1, success: true, final: true });
        expect(await balance(payment.to)).toBe(payment.amount);
      });

      it('tells of a payment that was mined and moved nothing', async () => {
        if (chain.refuse === null) return;
        const payment = intent();
        const hot = await hotBalance();
        await chain.refuse(payment.to);
        const cursor = await startHere();
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.mine(adapter.finalityDepth);
        const status = expectMined(await adapter.status(tx));
        expect(status).toMatchObject({ success: false, final: true });
        expect(transfersOf(await adapter.scan(cursor, 20))).toEqual([]);
        expect([await balance(payment.to), await hotBalance()]).toEqual([0n, hot - status.fee]);
        // What it reserved is spent all the same: the next payment takes something else.
        held.clear();
        const next = await adapter.prepare(intent(), held);
        expect(next.reserves.some((one) => tx.reserves.includes(one))).toBe(false);
      });
    });

    describe('what a transaction took from the wallet that pays', () => {
      const spent = (txid: string): Promise<HotSpend | null> => {
        if (!adapter.spent) throw new Error('the adapter cannot tell');
        return adapter.spent(txid);
      };

      it('is told from the mempool on until it is final, by each form of the txid', async () => {
        const payment = intent({ tag: chain.tag });
        const tx = await signed(payment);
        expect(await spent(tx.txid)).toBeNull();
        await adapter.broadcast(tx);
        const amounts = [{ contract: null, amount: payment.amount }];
        const waiting = await spent(tx.txid);
        expect(waiting).toEqual({ amounts, fee: expect.any(BigInt), height: null, final: false });
        expect(waiting?.fee).toBeGreaterThan(0n);

        await chain.mine(1);
        const mined = expectMined(await adapter.status(tx));
        const told = { amounts, fee: mined.fee, height: mined.height };
        expect(await spent(tx.txid)).toEqual({ ...told, final: adapter.finalityDepth <= 1 });
        await chain.mine(adapter.finalityDepth - 1);
        const digits = tx.txid.replace(/^0x/, '');
        for (const form of [tx.txid, digits, digits.toUpperCase(), `0x${digits}`]) {
          expect(await spent(form)).toEqual({ ...told, final: true });
        }
      });

      it('is a token, and the fee in the own coin', async () => {
        const contract = chain.token;
        if (contract === null) return;
        const payment = intent({ contract });
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        const amounts = [{ contract, amount: payment.amount }];
        expect(await spent(tx.txid)).toMatchObject({ amounts, height: null });
        await chain.mine(1);
        expect(await spent(tx.txid)).toMatchObject({ amounts, fee: expectMined(await adapter.status(tx)).fee });
      });

      it('is only the fee when the chain undid it', async () => {
        if (chain.refuse === null) return;
        const payment = intent();
        await chain.refuse(payment.to);
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.mine(1);
        const { fee, height, success } = expectMined(await adapter.status(tx));
        expect(success).toBe(false);
        expect(await spent(tx.txid)).toMatchObject({ amounts: [], fee, height });
      });

      it('is nothing for coins that arrive, an unknown txid and a text that is none', async () => {
        const { address } = await adapter.hotWallet();
        const txid = await chain.pay(address, null, null, unit);
        expect(await spent(txid)).toBeNull();
        await chain.mine(1);
        expect(await spent(txid)).toBeNull();
        const digits = txid.replace(/^0x/, '');
        const malformed = ['', '0x', digits.slice(1), `${digits}0`, `${txid}:0`, `x${digits.slice(1)}`, `${txid}\n`];
        for (const text of ['ab'.repeat(32), ...malformed]) expect(await spent(text)).toBeNull();
      });

      it('follows a reorganisation, and is nothing once the transaction is dropped', async () => {
        const payment = intent();
        const tx = await signed(payment);
        await adapter.broadcast(tx);
        await chain.mine(1);
        const first = await spent(tx.txid);
        await chain.reorg(1);
        const amounts = [{ contract: null, amount: payment.amount }];
        expect(await spent(tx.txid)).toMatchObject({ amounts, height: null, final: false });
        await chain.mine(1);
        expect(await spent(tx.txid)).toMatchObject({ amounts, height: (first?.height ?? 0) + 1 });
        await chain.reorg(2);
        await chain.drop(tx.txid);
        expect(await spent(tx.txid)).toBeNull();
      });

      it('is nothing for a transaction that another one replaced', async () => {
        const tx = await signed(intent());
        await adapter.broadcast(tx);
        const other = await chain.conflict(tx);
        await chain.mine(1);
        expect(await spent(tx.txid)).toBeNull();
        expect(await spent(other.txid)).toMatchObject({
          amounts: [{ contract: null }],
          fee: expectMined(await adapter.status(other)).fee,
        });
      });
    });

    it('sweeps all that a deposit brought to the wallet that pays, less the fee', async () => {
      if (!chain.depositAddress) return;
      const cursor = await startHere();
      const address = await chain.depositAddress();
      const amount = 1_000_000_000n * unit;
      await chain.pay(address, null, null, amount);
      await chain.mine(adapter.finalityDepth);
      const [deposit] = transfersOf(await adapter.scan(cursor, 20)).filter((found) => found.address === address);
      if (!deposit) throw new Error('the deposit was not found');
      const [before, { address: to }] = [await hotBalance(), await adapter.hotWallet()];
      const from = [adapter.traits.ledger === 'accounts' ? address : deposit.key];
      const tx = await signed(intent({ from, to, amount }));
      expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
      await chain.mine(adapter.finalityDepth);
      const { fee, final, success } = expectMined(await adapter.status(tx));
      expect([final, success]).toEqual([true, true]);
      expect(await balance(address)).toBe(0n);
      expect(await hotBalance()).toBe(before + amount - fee);
    });

    it('replaces a payment that waits, and pays once', async () => {
      const { raiseFees } = chain;
      if (!raiseFees || !adapter.replace) return;
      const payment = intent();
      const old = await adapter.prepare(payment, held);
      const oldTx = await chain.sign(payment, old);
      await adapter.broadcast(oldTx);
      expect(await adapter.replace(payment, old, held)).toBeNull();
      await raiseFees();
      const next = await adapter.replace(payment, old, held);
      if (!next) throw new Error('nothing takes its place');
      expect(await adapter.replace(payment, old, held)).toEqual(next);
      expect(next.fee).toBeGreaterThan(old.fee);
      for (const one of old.reserves) expect(next.reserves).toContain(one);
      const tx = await chain.sign(payment, next);
      expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
      await chain.mine(adapter.finalityDepth);
      expect(expectMined(await adapter.status(tx)).final).toBe(true);
      expect(await adapter.status(oldTx)).toEqual({ state: 'dead', why: 'conflict', final: true });
      expect(await balance(payment.to)).toBe(payment.amount);
    });

    it('tells balances of a final block only', async () => {
      if (!adapter.finalBalances || adapter.finalityDepth < 2) return;
      const to = chain.address();
      await chain.pay(to, null, null, unit);
      await chain.mine(adapter.finalityDepth - 1);
      expect((await adapter.finalBalances([to], null)).amounts).toEqual([0n]);
      await chain.mine(1);
      const { block, amounts } = await adapter.finalBalances([chain.address(), to], null);
      expect(amounts).toEqual([0n, unit]);
      expect((await adapter.start(block.height)).window).toEqual([block]);
    });

    it('tells balances in the order asked, of whole addresses and of tags', async () => {
      const [rich, poor] = [chain.address(), chain.address()];
      await chain.pay(rich, null, null, 2n * unit);
      await chain.pay(rich, null, null, 3n * unit);
      if (chain.tag !== null) await chain.pay(rich, chain.tag, null, 7n * unit);
      if (chain.token !== null) await chain.pay(rich, null, chain.token, 11n * unit);
      await chain.mine(1);
      const tagged = chain.tag === null ? 0n : 7n * unit;
      const holdings = [
        { address: poor, tag: null },
        { address: rich, tag: null },
        ...(chain.tag === null ? [] : [{ address: rich, tag: chain.tag }]),
      ];
      const expected = [0n, 5n * unit + tagged, ...(chain.tag === null ? [] : [tagged])];
      expect(await adapter.balances(holdings, null)).toEqual(expected);
      expect(await adapter.balances([], null)).toEqual([]);
      if (chain.token !== null) {
        expect(await adapter.balances(holdings.slice(0, 2), chain.token)).toEqual([0n, 11n * unit]);
      }
    });
  });
}

function transfersOf(...results: readonly ScanResult[]): Transfer[] {
  return results.flatMap(({ blocks }) => blocks.flatMap(({ transfers }) => transfers));
}

function byAmount(a: { amount: bigint }, b: { amount: bigint }): number {
  return a.amount < b.amount ? -1 : 1;
}
