import { randomUUID } from 'node:crypto';
import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import { decodePayload } from '../../../src/chains/evm/evm-tx.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { type Anvil, call, describeWithAnvil, startAnvil, type TokenName } from '../../support/chains/anvil.ts';
import { type EvmHarness, ether, evmHarness, payFrom } from '../../support/chains/evm-harness.ts';
import { EvmLiar } from '../../support/chains/evm-liar.ts';
import { Refusal } from '../../support/http/refusal.ts';

// What recipients and tokens do against us: the tokens and recipients are contracts of
// test/support/contracts.

describeWithAnvil('payments of the EVM to contracts and in tokens of others', () => {
  let anvil: Anvil;
  let liar: EvmLiar;
  let chain: EvmHarness;
  beforeAll(async () => {
    anvil = await startAnvil();
    liar = await new EvmLiar(anvil.url).start();
    chain = await evmHarness(anvil, {}, [liar.node]);
  });
  afterAll(async () => {
    await liar?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    liar.lie = (_method, result) => result;
    liar.calls.length = 0;
  });

  const intent = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
    id: randomUUID(),
    attempt: 1,
    from: null,
    contract: null,
    to: chain.address(),
    tag: null,
    amount: 1_000n,
    ...changes,
  });
  const prepare = (changes: Partial<PaymentIntent>): Promise<PreparedTx> =>
    chain.adapter.prepare(intent(changes), new Map());
  const gasOf = ({ payload }: PreparedTx): bigint => decodePayload(payload).tx.gas;
  const deploy = async (name: Parameters<Anvil['deploy']>[0]): Promise<string> =>
    toChecksumAddress((await anvil.deploy(name)).slice(2));
  /** A token of which the wallet that pays has 10^24. */
  const token = async (name: TokenName): Promise<string> => {
    const contract = await deploy(name);
    await anvil.mint(contract, chain.hot, 10n ** 24n);
    return contract;
  };
  const tell = async (contract: string, order: string, ...args: readonly unknown[]): Promise<void> => {
    await anvil.send(contract, 0n, { data: call(order, ...args) });
    await anvil.mine();
  };
  /**
   * A payment of a token that changes its mood once the transaction is built; what its chain says
   * of it.
   */
  const paidIn = async (mood: bigint): Promise<{ tx: SignedTx; status: unknown; arrived: bigint }> => {
    const contract = await token('MoodyToken');
    // What it keeps goes to itself; the first time would take more gas than the transaction has.
    await anvil.mint(contract, contract, 1n);
    const payment = intent({ contract });
    const prepared = await chain.adapter.prepare(payment, new Map());
    await tell(contract, 'setMood', mood);
    const tx = await chain.sign(payment, prepared);
    await chain.adapter.broadcast(tx);
    await anvil.mine();
    return { tx, status: await chain.adapter.status(tx), arrived: await anvil.balance(payment.to, contract) };
  };

  describe('a recipient that is a contract', () => {
    it('receives coins when it accepts them as a wallet does', async () => {
      const to = await deploy('Burner');
      for (const appetite of [0n, 20_000n]) {
        await tell(to, 'setAppetite', appetite);
        const tx = await payFrom(chain, intent({ to }));
        await anvil.mine();
        expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      }
    });

    it('that burns gas of ours is not paid, and no node is blamed for it', async () => {
      const to = await deploy('Burner');
      // The last is more than a block has: nodes refuse to estimate it at all.
      for (const appetite of [60_000n, 1_500_000n, 10n ** 12n]) {
        await tell(to, 'setAppetite', appetite);
        const refused = { code: 'gas_above_maximum', isOfChain: true };
        await expect(prepare({ to })).rejects.toMatchObject(refused);
      }
      liar.calls.length = 0;
      await prepare({});
      // A node that rested would have to prove itself again.
      expect(liar.calls).not.toContain('eth_chainId');
    });

    it('is bounded by the setting of its network, and by the signer', async () => {
      const to = await deploy('Burner');
      await tell(to, 'setAppetite', 200_000n);
      const network = { ...chain.network, maxPaymentGas: 400_000n };
      const adapter = new EvmAdapter({ network, hotWallet: chain.hot, addresses: chain.wallet });
      const payment = intent({ to });
      const prepared = await adapter.prepare(payment, new Map());
      expect(gasOf(prepared)).toBeGreaterThan(200_000n);
      await expect(chain.sign(payment, prepared)).rejects.toThrow(/gas/);
    });

    it('that refuses coins is told apart from a node that cannot estimate', async () => {
      const to = await deploy('Refuser');
      await expect(prepare({ to })).rejects.toMatchObject({ code: 'would_fail', isOfChain: true });
      liar.lie = (method, result) => (method === 'eth_estimateGas' ? new Refusal(-32_601) : result);
      await expect(prepare({ to })).rejects.toMatchObject({ code: 'not_estimated', isOfChain: false });
    });
  });

  describe('a token', () => {
    it.each([
      ['says no', 'FalseToken', 'would_fail'],
      ['keeps a part of what is sent', 'FeeToken', 'token_refused'],
    ] as const)('that %s is not sent at all', async (_what, name, code) => {
      const contract = await token(name);
      await expect(prepare({ contract })).rejects.toMatchObject({ code, isOfChain: true });
    });

    it('that takes a part from the sender besides is not sent at all', async () => {
      const contract = await token('MoodyToken');
      await prepare({ contract });
      await tell(contract, 'setMood', 3n);
      await expect(prepare({ contract })).rejects.toMatchObject({ code: 'token_refused', isOfChain: true });
    });

    it('that counts in shares is sent only where the whole amount arrives', async () => {
      const contract = await token('RebasingToken');
      await prepare({ contract });
      await tell(contract, 'rebase', 1_500_000_000_000_000_007n);
      await expect(prepare({ contract })).rejects.toMatchObject({ code: 'token_refused', isOfChain: true });
    });

    it('that refuses a recipient is not sent to it, and is sent to others', async () => {
      const contract = await token('BlocklistToken');
      const to = chain.address();
      await tell(contract, 'setBlocked', to, true);
      await expect(prepare({ contract, to })).rejects.toMatchObject({ code: 'would_fail', isOfChain: true });
      await prepare({ contract });
    });

    it('that returns nothing is sent, and confirmed by its log', async () => {
      const contract = await token('SilentToken');
      const payment = intent({ contract });
      const tx = await payFrom(chain, payment);
      await anvil.mine();
      expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      expect(await anvil.balance(payment.to, contract)).toBe(1_000n);
    });

    it('is tried by its answer alone on a node that lends no code to a call', async () => {
      const trial = (params: readonly unknown[]): boolean => params.length > 2;
      const [no, silent] = [await token('FalseToken'), await token('SilentToken')];
      for (const says of [new Refusal(-32_602), '0x']) {
        liar.lie = (method, result, params) => (method === 'eth_call' && trial(params) ? says : result);
        await expect(prepare({ contract: no })).rejects.toMatchObject({ code: 'would_fail', isOfChain: true });
        await prepare({ contract: silent });
      }
    });

    it('is not swept either when it keeps a part', async () => {
      const contract = await deploy('FeeToken');
      const from = await chain.wallet.deposit(7);
      await anvil.mint(contract, from, 1_000n);
      const sweep = intent({ from: [from], contract, to: chain.hot });
      await expect(chain.adapter.sweepCost(sweep)).rejects.toMatchObject({ code: 'token_refused' });
    });
  });

  describe('a token transfer in a block', () => {
    it('that returned false counts as moving nothing, although its status is success', async () => {
      const { tx, status, arrived } = await paidIn(1n);
      expect(await anvil.rpc('eth_getTransactionReceipt', tx.txid)).toMatchObject({ status: '0x1' });
      expect(arrived).toBe(0n);
      expect(status).toMatchObject({ state: 'mined', success: false, problem: 'not_transferred' });
    });

    it.each([
      ['less than was sent', 2n, false, 'short_transfer'],
      ['all of it and more from the sender', 3n, true, undefined],
      ['coins without a log', 4n, false, 'not_transferred'],
    ] as const)('that moved %s is told by its logs', async (_what, mood, success, problem) => {
      const { status } = await paidIn(mood);
      expect(status).toMatchObject({ state: 'mined', success });
      expect((status as { problem?: string }).problem).toBe(problem);
    });

    it('that was reverted is reported as mined without success', async () => {
      const { status } = await paidIn(5n);
      expect(status).toMatchObject({ state: 'mined', success: false });
      expect(status).not.toHaveProperty('problem');
    });

    it('is not proved by a log of another contract, sender, recipient or amount', async () => {
      const { tx, status } = await paidIn(0n);
      expect(status).toMatchObject({ state: 'mined', success: true });
      const other = `0x${'0'.repeat(24)}${'12'.repeat(20)}`;
      type Log = { address: string; topics: string[]; data: string };
      const changes: ((log: Log) => object)[] = [
        () => ({ address: `0x${'12'.repeat(20)}` }),
        ({ topics }) => ({ topics: [topics[0], other, topics[2]] }),
        ({ topics }) => ({ topics: [topics[0], topics[1], other] }),
        ({ topics }) => ({ topics: [...topics, other] }),
        ({ data }) => ({ data: `0x${(BigInt(data) + 1n).toString(16).padStart(64, '0')}` }),
      ];
      for (const change of changes) {
        liar.lie = (method, result) => {
          if (method !== 'eth_getTransactionReceipt') return result;
          const receipt = result as { logs: Log[] };
          return { ...receipt, logs: receipt.logs.map((log) => ({ ...log, ...change(log) })) };
        };
        expect(await chain.adapter.status(tx)).toMatchObject({ state: 'mined', success: false });
      }
    });
  });

  it('asks a node few times for each payment', async () => {
    await prepare({});
    liar.requests = 0;
    await prepare({});
    expect(liar.requests).toBeLessThanOrEqual(5);
    expect(await anvil.balance(chain.hot)).toBeGreaterThan(ether);
  });
});
