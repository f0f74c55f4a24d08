import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { decodePayload } from '../../../src/chains/evm/evm-tx.ts';
import type { ChainError, Held, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { describeWithAnvil, quantity, startAnvil } from '../../support/chains/anvil.ts';
import {
  address,
  again,
  anvil,
  gwei,
  intent,
  liar,
  open,
  raiseMarket,
  withAnvil,
} from '../../support/chains/evm-adapter-setup.ts';
import { type EvmHarness, ether, evmHarness, payFrom } from '../../support/chains/evm-harness.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';
import { holding } from '../../support/gateway/holding.ts';
import { Refusal } from '../../support/http/refusal.ts';

describeWithAnvil('EvmAdapter', () => {
  withAnvil();

  describe('sweeping', () => {
    const sweep = ({ hot }: EvmHarness, from: string, changes: Partial<PaymentIntent> = {}): PaymentIntent =>
      intent({ from: [from], to: hot, ...changes });

    it('leaves exactly nothing of the own coin behind', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(7);
      await anvil.send(from, ether);
      await anvil.mine();
      const before = await anvil.balance(chain.hot);
      const { fee: most, lacking } = await chain.adapter.sweepCost(sweep(chain, from));
      const tx = await payFrom(chain, sweep(chain, from));
      expect(tx.reserves).toEqual([`nonce:${from}:0`]);
      await anvil.mine(3);
      const status = await chain.adapter.status(tx);
      expect(status).toMatchObject({ state: 'mined', success: true, final: true });
      const fee = status.state === 'mined' ? status.fee : -1n;
      expect([most, lacking]).toEqual([fee, 0n]);
      expect(await anvil.balance(from)).toBe(0n);
      expect(await anvil.balance(chain.hot)).toBe(before + ether - fee);
      expect((await chain.adapter.finalBalances([from], null)).amounts).toEqual([0n]);
    });

    it('sweeps tokens once the address has coins for the fee', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(8);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      const wanted = sweep(chain, from, { contract: chain.token, amount: 500n });
      await expect(chain.adapter.prepare(wanted, new Map())).rejects.toMatchObject({ code: 'no_gas', isOfChain: true });
      const { lacking: missing } = await chain.adapter.sweepCost(wanted);
      await payFrom(chain, intent({ to: from, amount: missing }));
      await anvil.mine();
      expect(await chain.adapter.sweepCost(wanted)).toMatchObject({ lacking: 0n });
      const before = await anvil.balance(chain.hot, chain.token);
      const tx = await payFrom(chain, wanted);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      expect(await anvil.balance(from, chain.token)).toBe(0n);
      expect(await anvil.balance(chain.hot, chain.token)).toBe(before + 500n);
    });

    it('makes do with the gas that it was given when the market has risen a little since', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(9);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      const wanted = sweep(chain, from, { contract: chain.token, amount: 500n });
      await anvil.fund(from, (await chain.adapter.sweepCost(wanted)).lacking);
      const { baseFeePerGas } = await anvil.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false);
      await anvil.setBaseFee((BigInt(baseFeePerGas) * 115n) / 100n);
      await anvil.mine();
      const tx = await payFrom(chain, wanted);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('refuses sweeps that bring nothing, of foreign addresses, or to another recipient', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(10);
      await anvil.send(from, 1_000n);
      await anvil.mine();
      const prepare = (changes: Partial<PaymentIntent>) =>
        chain.adapter.prepare(sweep(chain, from, { amount: 1_000n, ...changes }), new Map());
      await expect(prepare({})).rejects.toMatchObject({ code: 'below_fee', retryable: false });
      await expect(prepare({ amount: 1_001n })).rejects.toMatchObject({ code: 'insufficient_funds' });
      await expect(prepare({ from: [address()] })).rejects.toMatchObject({ code: 'unknown_address', retryable: false });
      await expect(prepare({ from: [] })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ from: [from, from] })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ to: address() })).rejects.toMatchObject({ code: 'bad_sweep' });
      await expect(prepare({ tag: '7' })).rejects.toMatchObject({ code: 'no_tags' });
    });
  });

  describe('a payout of a token', () => {
    it('to a holder whose tokens leave between its preparation and its block is paid', async () => {
      const chain = await open();
      const holder = address();
      await anvil.sendToken(chain.token, holder, 500n);
      await anvil.fund(holder, ether);
      await anvil.mine();
      const payment = intent({ contract: chain.token, to: holder, amount: 7n });
      const prepared = await chain.adapter.prepare(payment, new Map());
      await anvil.rpc('anvil_impersonateAccount', holder);
      await anvil.sendToken(chain.token, address(), 500n, { from: holder });
      await anvil.mine();
      const tx = await chain.sign(payment, prepared);
      await chain.adapter.broadcast(tx);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      expect(await anvil.balance(holder, chain.token)).toBe(7n);
    });
  });

  describe('replacing', () => {
    it('takes the place of a payment that waits, and only one of the two is paid', async () => {
      const chain = await open();
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      const oldTx = await chain.sign(payment, old);
      await chain.adapter.broadcast(oldTx);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();

      await raiseMarket(anvil, 40n * gwei);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      expect(await chain.adapter.replace(payment, old, new Map())).toEqual(next);
      const [a, b] = [decodePayload(old.payload).tx, decodePayload(next.payload).tx];
      expect({ ...b, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }).toEqual({
        ...a,
        maxFeePerGas: 0n,
        maxPriorityFeePerGas: 0n,
      });
      expect(b.maxFeePerGas * 8n).toBeGreaterThanOrEqual(a.maxFeePerGas * 9n);
      expect(b.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(a.maxPriorityFeePerGas * 9n);
      expect(next.reserves).toEqual(old.reserves);
      const tx = await chain.sign(payment, next);
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      await anvil.mine(3);
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
      expect(await chain.adapter.status(oldTx)).toEqual({ state: 'dead', why: 'conflict', final: true });
      expect(await anvil.balance(payment.to)).toBe(payment.amount);
    });

    it('goes no higher than the settings allow', async () => {
      const chain = await open();
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      const { maxFeePerGas } = decodePayload(old.payload).tx;
      await raiseMarket(anvil, 40n * gwei);
      const bounded = again(chain, { maxFeePerGas: (maxFeePerGas * 9n) / 8n });
      expect(await bounded.replace(payment, old, new Map())).toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map())).not.toBeNull();
    });

    it('asks no more of an address whose tokens are swept than it was given for gas', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(12);
      await anvil.sendToken(chain.token, from, 500n);
      await anvil.mine();
      await raiseMarket(anvil, gwei);
      const payment = intent({ from: [from], to: chain.hot, contract: chain.token, amount: 500n });
      const { lacking: given } = await chain.adapter.sweepCost(payment);
      await anvil.fund(from, given);
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 40n * gwei);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();

      const { gas, maxFeePerGas } = decodePayload(old.payload).tx;
      // Enough for the market, and not for what a payment offers where it has plenty.
      const most = 45n * gwei;
      await anvil.fund(from, gas * most + 1n);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      expect(decodePayload(next.payload).tx.maxFeePerGas).toBe(most);
      expect(most).toBeGreaterThan(maxFeePerGas);
      const tx = await chain.sign(payment, next);
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'accepted', code: null });
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('asks no more of the wallet that pays than it has', async () => {
      const chain = await open();
      await raiseMarket(anvil, gwei);
      const payment = intent();
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 40n * gwei);
      await anvil.fund(chain.hot, payment.amount + old.fee);
      expect(await chain.adapter.replace(payment, old, new Map())).toBeNull();
      await anvil.fund(chain.hot, 100n * ether);
      const most = { contract: null, amount: 100n * ether - payment.amount - old.fee, fee: 0n };
      const own = [old.reserves[0] ?? '', { contract: null, amount: payment.amount, fee: old.fee }] as const;
      const held: Held = new Map([own, [`nonce:${chain.hot}:1`, most]]);
      expect(await chain.adapter.replace(payment, old, held)).toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map([own]))).not.toBeNull();
      expect(await chain.adapter.replace(payment, old, new Map())).not.toBeNull();
    });

    it('leaves nothing behind of a sweep either', async () => {
      const chain = await open();
      const from = await chain.wallet.deposit(11);
      await anvil.send(from, ether);
      await anvil.mine();
      const payment = intent({ from: [from], to: chain.hot });
      const old = await chain.adapter.prepare(payment, new Map());
      await raiseMarket(anvil, 60n * gwei);
      const next = await chain.adapter.replace(payment, old, new Map());
      if (!next) throw new Error('nothing to replace it with');
      await chain.adapter.broadcast(await chain.sign(payment, next));
      await anvil.mine();
      expect(await anvil.balance(from)).toBe(0n);
    });
  });

  describe('preparing', () => {
    const prepare = ({ adapter }: EvmHarness, changes: Partial<PaymentIntent> = {}): Promise<PreparedTx> =>
      adapter.prepare(intent(changes), new Map());

    it('takes the first free nonce', async () => {
      const chain = await open();
      const of = (n: number) => `nonce:${chain.hot}:${n}`;
      const reserves = async (...held: number[]) =>
        (await chain.adapter.prepare(intent(), holding(...held.map(of)))).reserves;
      expect(await reserves()).toEqual([of(0)]);
      expect(await reserves(0, 1, 3)).toEqual([of(2)]);
      expect(await reserves(1)).toEqual([of(0)]);
    });

    it('states a fee that the payment never goes above, and waits while gas is dearer than allowed', async () => {
      const chain = await open();
      const { fee, payload } = await prepare(chain);
      const { gas, maxFeePerGas } = decodePayload(payload).tx;
      expect([gas, fee]).toEqual([21_000n, gas * maxFeePerGas]);
      await raiseMarket(anvil, 600n * gwei);
      await expect(prepare(chain)).rejects.toMatchObject({
        code: 'fee_above_maximum',
        retryable: true,
        isOfChain: true,
      });
      expect((await chain.adapter.check())[0]?.problems).toEqual([expect.stringContaining('maxFeePerGas')]);
      await raiseMarket(anvil, 10n * gwei);
      await prepare(chain);
    });

    it('leaves room in the gas limit for contracts that receive coins', async () => {
      const chain = await open();
      const forwarder = toChecksumAddress((await anvil.deploy('Forwarder')).slice(2));
      const payment = intent({ to: forwarder });
      const prepared = await chain.adapter.prepare(payment, new Map());
      expect(decodePayload(prepared.payload).tx.gas).toBeGreaterThan(21_000n);
      const tx = await chain.sign(payment, prepared);
      await chain.adapter.broadcast(tx);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    });

    it('says why not', async () => {
      const chain = await open();
      const refuser = toChecksumAddress((await anvil.deploy('Refuser')).slice(2));
      await expect(prepare(chain, { to: refuser })).rejects.toMatchObject({ code: 'would_fail', isOfChain: true });
      await expect(prepare(chain, { amount: 10n ** 30n })).rejects.toMatchObject({ code: 'insufficient_funds' });
      const all = await anvil.balance(chain.hot);
      await expect(prepare(chain, { amount: all })).rejects.toMatchObject({ code: 'insufficient_funds' });
      const tokens = { contract: chain.token, amount: 10n ** 30n };
      await expect(prepare(chain, tokens)).rejects.toMatchObject({ code: 'insufficient_funds' });
      await anvil.fund(chain.hot, 5n);
      await expect(prepare(chain, { contract: chain.token, amount: 5n })).rejects.toMatchObject({ code: 'no_gas' });
    });

    it('reserves nothing twice, and releases nothing that is in a block', async () => {
      const chain = await open();
      const { adapter, token, hot } = chain;
      await anvil.fund(hot, 10n * ether);
      const has = await anvil.balance(hot, token);
      const takes = (n: number, contract: string | null, amount: bigint, fee = 0n): Held =>
        new Map([[`nonce:${hot}:${n}`, { contract, amount, fee }]]);
      const outcome = (held: Held, changes: Partial<PaymentIntent>): Promise<string> =>
        adapter.prepare(intent(changes), held).then(
          () => 'prepared',
          ({ code }: ChainError) => code,
        );
      const coins = { amount: 8n * ether };
      const tokens = { contract: token, amount: (has * 8n) / 10n };
      for (const payment of [coins, tokens]) {
        const { contract, amount } = { contract: null, ...payment };
        expect(await outcome(takes(0, contract, amount), payment)).toBe('insufficient_funds');
        expect(await outcome(takes(0, contract, amount / 10n), payment)).toBe('prepared');
        expect(await outcome(takes(0, address(), amount), payment)).toBe('prepared');
      }
      expect(await outcome(takes(0, null, coins.amount), tokens)).toBe('prepared');
      expect(await outcome(takes(0, token, 0n, 2n * ether), coins)).toBe('insufficient_funds');
      expect(await outcome(takes(0, null, 0n, 10n * ether), tokens)).toBe('no_gas');

      await payFrom(chain, intent({ amount: ether }));
      await anvil.mine();
      expect(await outcome(takes(0, null, ether), coins)).toBe('prepared');
      expect(await outcome(takes(1, null, ether), coins)).toBe('insufficient_funds');
    });

    it('counts the first-layer fee of a rollup', async () => {
      const rollup = await startAnvil({ chainId: 10 });
      const proxy = await new EvmLiar(rollup.url).start();
      try {
        const l1Fee = 5_000_000_000_000n;
        const chain = await evmHarness(rollup, { chain: 'optimism', chainId: 10 }, [proxy.node]);
        const code = `0x7f${l1Fee.toString(16).padStart(64, '0')}60005260206000f3`;
        await rollup.rpc('anvil_setCode', '0x420000000000000000000000000000000000000F', code);
        const { fee, payload } = await prepare(chain);
        const { gas, maxFeePerGas } = decodePayload(payload).tx;
        expect(fee).toBe(gas * maxFeePerGas + 2n * l1Fee);
        const from = await chain.wallet.deposit(1);
        await rollup.send(from, ether);
        await rollup.mine();
        const tx = await payFrom(chain, intent({ from: [from], to: chain.hot }));
        await rollup.mine();
        expect(await rollup.balance(from)).toBe(2n * l1Fee);
        const plain = await chain.adapter.status(tx);
        proxy.lie = (method, result) =>
          method === 'eth_getTransactionReceipt' ? { ...(result as object), l1Fee: quantity(l1Fee) } : result;
        const dearer = await chain.adapter.status(tx);
        if (plain.state !== 'mined' || dearer.state !== 'mined') throw new Error('not mined');
        expect(dearer.fee).toBe(plain.fee + l1Fee);
      } finally {
        await proxy.stop();
        await rollup.stop();
      }
    });
  });

  describe('the state of a payment', () => {
    it('never calls a payment dead that a node without an index does not find', async () => {
      const chain = await open({}, [liar.node]);
      const tx = await payFrom(chain, intent());
      await anvil.mine(10);
      const silent = ['eth_getTransactionReceipt', 'eth_getTransactionByHash'];
      liar.lie = (method, result) => (silent.includes(method) ? null : result);
      await expect(chain.adapter.status(tx)).rejects.toMatchObject({ code: 'no_index' });
      liar.lie = (_method, result) => result;
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
    });

    it('calls a payment dead for good only when it sees the replacement, however old', async () => {
      const chain = await open({}, [liar.node]);
      const payment = intent();
      const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
      await chain.conflict(tx);
      await anvil.mine(45);
      expect(await chain.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
    });

    describe('on a node that keeps few states', () => {
      const hasNoIndex = new Set(['eth_getTransactionReceipt', 'eth_getTransactionByHash']);
      /**
       * It keeps the states of the newest 20 blocks, and finds the transactions that the test says.
       */
      const keepFewStates = async (chain: EvmHarness, finds: (txid: unknown) => boolean = () => true) => {
        const { height } = await chain.adapter.head();
        liar.lie = (method, result, params) => {
          if (hasNoIndex.has(method)) return finds(params[0]) ? result : null;
          const isOld = method === 'eth_getTransactionCount' && Number(params[1]) < height - 20;
          return isOld ? new Refusal(-32000, 'missing trie node') : result;
        };
      };
      const firstTx = async (): Promise<string> => {
        for (let height = 1; ; height += 1) {
          const block = await anvil.rpc<{ transactions: string[] }>('eth_getBlockByNumber', quantity(height), false);
          if (block.transactions[0] !== undefined) return block.transactions[0];
        }
      };

      it('calls a death final when it finds all transactions but that one', async () => {
        const chain = await open({}, [liar.node]);
        const payment = intent();
        const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
        await chain.conflict(tx);
        await anvil.mine(45);
        await anvil.send(address(), 1n);
        await anvil.mine(3);
        const dead = { state: 'dead', why: 'conflict' };
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: true });
        const first = await firstTx();
        await keepFewStates(chain, (txid) => txid !== first);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: false });
        await keepFewStates(chain, (txid) => txid === first);
        expect(await chain.adapter.status(tx)).toEqual({ ...dead, final: false });
      });

      it('never calls a payment dead for good that it does not find, with no index or a part of one', async () => {
        const chain = await open({}, [liar.node]);
        const tx = await payFrom(chain, intent());
        await anvil.mine(45);
        await anvil.send(address(), 1n);
        await anvil.mine(3);
        const first = await firstTx();
        for (const finds of [() => false, (txid: unknown) => txid === first]) {
          await keepFewStates(chain, finds);
          expect(await chain.adapter.status(tx)).toMatchObject({ final: false });
        }
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
      });

      it('calls no death final whose nonce is not used in a final block', async () => {
        const chain = await open({ finality: 10 }, [liar.node]);
        const payment = intent();
        await anvil.mine(30);
        const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
        await chain.conflict(tx);
        await anvil.mine(9);
        await keepFewStates(chain);
        expect(await chain.adapter.status(tx)).toEqual({ state: 'dead', why: 'conflict', final: false });
      });
    });

    it('looks again at what comes into a block between two questions', async () => {
      const chain = await open({}, [liar.node]);
      const tx = await payFrom(chain, intent());
      await anvil.mine(5);
      let receipts = 0;
      liar.lie = (method, result) => {
        receipts += method === 'eth_getTransactionReceipt' ? 1 : 0;
        if (method === 'eth_getTransactionReceipt' && receipts === 1) return null;
        return method === 'eth_getTransactionByHash' && receipts === 1 ? null : result;
      };
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined' });
      liar.lie = (method, result) =>
        method === 'eth_getTransactionReceipt' ? { ...(result as object), blockHash: `0x${'9'.repeat(64)}` } : result;
      await expect(chain.adapter.status(tx)).rejects.toMatchObject({ code: 'unsettled_answer' });
    });

    it('never throws at a broadcast, and looks itself whether a refused transaction is known', async () => {
      const chain = await open({}, [liar.node]);
      const payment = intent();
      const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
      const refuse = (message: string) => {
        liar.lie = (method, result) => (method === 'eth_sendRawTransaction' ? new Refusal(-32000, message) : result);
      };
      const never = await again(chain, { nodes: [{ ...anvil.node, url: 'http://127.0.0.1:9' }] }).broadcast(tx);
      expect(never).toEqual({ outcome: 'uncertain', code: 'unreachable' });
      // The node took it before it refused it, which is what an answer after a lost one looks like.
      refuse('nonce too low');
      expect(await chain.adapter.broadcast(tx)).toEqual({ outcome: 'known', code: null });
      const other = await chain.sign(payment, await chain.adapter.prepare(payment, holding(tx.reserves[0] ?? '')));
      liar.lie = (method, result) => {
        if (method === 'eth_sendRawTransaction') return new Refusal(-32000, 'transaction underpriced');
        return method === 'eth_getTransactionByHash' ? null : result;
      };
      expect(await chain.adapter.broadcast(other)).toEqual({ outcome: 'rejected', code: 'underpriced' });
    });
  });
});
