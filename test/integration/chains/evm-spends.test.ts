import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { transferTopic } from '../../../src/chains/evm/erc20.ts';
import type { EvmTx } from '../../../src/chains/evm/evm-tx.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { call, describeWithAnvil, quantity, randomAddress } from '../../support/chains/anvil.ts';
import { evmByHand } from '../../support/chains/by-hand.ts';
import { address, again, anvil, gwei, intent, liar, open, withAnvil } from '../../support/chains/evm-adapter-setup.ts';
import { type EvmHarness, ether, payFrom } from '../../support/chains/evm-harness.ts';

// What a person sends who holds the seed of the hot wallet.

describeWithAnvil('what a transaction took from a hot wallet of the EVM', () => {
  withAnvil();

  /** Signs a transaction of the hot wallet without the gateway, and sends it. */
  function byHand({ hot, wallet, network }: EvmHarness, changes: Partial<EvmTx>): Promise<{ txid: string; tx: EvmTx }> {
    return evmByHand(anvil, { hot, keys: wallet.keys, chain: network.chain }, { to: randomAddress(), ...changes });
  }

  /** Coins of the hot wallet, before a transaction and after its block. */
  async function lost(chain: EvmHarness, work: () => Promise<string>): Promise<{ txid: string; coins: bigint }> {
    const before = await anvil.balance(chain.hot);
    const txid = await work();
    await anvil.mine();
    return { txid, coins: before - (await anvil.balance(chain.hot)) };
  }

  it('is the sum of each token that it sends, and the fee', async () => {
    const chain = await open();
    const data = call('transferTwice', randomAddress(), randomAddress(), 50n);
    const { txid, coins } = await lost(chain, async () => {
      const sent = await byHand(chain, { to: chain.token, data });
      // Only a block tells what a contract does.
      expect(await chain.adapter.spent(sent.txid)).toBeNull();
      return sent.txid;
    });
    const { height } = await chain.adapter.head();
    const amounts = [{ contract: chain.token, amount: 101n }];
    expect(await chain.adapter.spent(txid)).toEqual({ amounts, fee: coins, height, final: false });
  });

  it('is the order and the most that it pays for gas while it waits', async () => {
    const chain = await open();
    const coins = await byHand(chain, { value: 3n * ether });
    const tokens = await byHand(chain, { to: chain.token, data: call('transfer', randomAddress(), 70n) });
    const told = { fee: 200_000n * 100n * gwei, height: null, final: false };
    const spent = (txid: string) => chain.adapter.spent(txid);
    expect(await spent(coins.txid)).toEqual({ ...told, amounts: [{ contract: null, amount: 3n * ether }] });
    expect(await spent(tokens.txid)).toEqual({ ...told, amounts: [{ contract: chain.token, amount: 70n }] });
    await anvil.mine();
    expect((await spent(coins.txid))?.fee).toBeLessThan(told.fee);
  });

  it('is only the fee for what goes to the wallet itself, and for tokens of no currency', async () => {
    const chain = await open();
    const other = await anvil.deployToken();
    await anvil.mint(other, chain.hot, 100n);
    const changes = [
      { to: chain.hot.toLowerCase(), value: ether },
      { to: chain.token, data: call('transfer', chain.hot, 5n) },
      { to: other, data: call('transfer', randomAddress(), 5n) },
    ];
    for (const one of changes) {
      const { txid, tx } = await byHand(chain, one);
      expect(await chain.adapter.spent(txid)).toMatchObject({ amounts: [], fee: tx.gas * tx.maxFeePerGas });
      await anvil.mine();
      const receipt = await anvil.rpc<{ status: string; gasUsed: string; effectiveGasPrice: string }>(
        'eth_getTransactionReceipt',
        txid,
      );
      expect(receipt.status).toBe('0x1');
      const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
      expect(await chain.adapter.spent(txid)).toMatchObject({ amounts: [], fee });
    }
  });

  it('has no coins or tokens that the chain undid', async () => {
    const chain = await open();
    const refuser = await anvil.deploy('Refuser');
    const tooMuch = call('transfer', randomAddress(), 10n ** 30n);
    for (const one of [
      { to: refuser, value: ether },
      { to: chain.token, data: tooMuch },
    ]) {
      const { txid, coins } = await lost(chain, async () => (await byHand(chain, one)).txid);
      expect(await chain.adapter.spent(txid)).toMatchObject({ amounts: [], fee: coins });
    }
  });

  it('has the coins that a new contract gets', async () => {
    const chain = await open();
    await anvil.rpc('anvil_impersonateAccount', chain.hot);
    // STOP: a contract without code.
    const made = { from: chain.hot, data: '0x00', value: quantity(ether), gas: quantity(100_000) };
    const { txid, coins } = await lost(chain, () => anvil.rpc<string>('eth_sendTransaction', made));
    const spent = await chain.adapter.spent(txid);
    expect(spent?.amounts).toEqual([{ contract: null, amount: ether }]);
    expect(coins).toBe(ether + (spent?.fee ?? 0n));
  });

  it('is the tokens alone when another account moves them by an allowance', async () => {
    const contract = address();
    const chain = await open({ tokens: new Map([['USDT', contract]]) });
    const word = (text: string): string => text.replace('0x', '').toLowerCase().padStart(64, '0');
    // Writes the log of a transfer of 42 out of the hot wallet: MSTORE, LOG3, STOP.
    const log = [randomAddress(), chain.hot, transferTopic].map((topic) => `7f${word(topic)}`).join('');
    await anvil.rpc('anvil_setCode', contract, `0x7f${word(quantity(42))}600052${log}60206000a300`);
    const txid = await anvil.send(contract, 0n, { data: '0x23b872dd' });
    expect(await chain.adapter.spent(txid)).toBeNull();
    const { coins } = await lost(chain, async () => txid);
    const amounts = [{ contract, amount: 42n }];
    expect(await chain.adapter.spent(txid)).toMatchObject({ amounts, fee: 0n });
    expect(coins).toBe(0n);
  });

  it('is nothing where tokens arrive or pass by', async () => {
    const chain = await open();
    const txids = [
      await anvil.sendToken(chain.token, chain.hot, 5n),
      await anvil.sendToken(chain.token, randomAddress(), 5n),
    ];
    await anvil.mine();
    for (const txid of txids) expect(await chain.adapter.spent(txid)).toBeNull();
  });

  it('is final when the chain says so', async () => {
    const chain = await open({ finality: 'finalized' });
    const tx = await payFrom(chain, intent());
    await anvil.mine();
    const seen = new Set<boolean>();
    for (let turn = 0; turn < 12; turn += 1) {
      const status = await chain.adapter.status(tx);
      const spent = await chain.adapter.spent(tx.txid);
      if (status.state !== 'mined' || spent === null) throw new Error('not mined');
      expect(spent.final).toBe(status.final);
      seen.add(spent.final);
      await anvil.mine();
    }
    expect(seen).toEqual(new Set([false, true]));
  });

  it('includes the fee of the first layer', async () => {
    const chain = await open({}, [liar.node]);
    const tx = await payFrom(chain, intent());
    await anvil.mine();
    const plain = await chain.adapter.spent(tx.txid);
    liar.lie = (method, result) =>
      method === 'eth_getTransactionReceipt' ? { ...(result as object), l1Fee: quantity(77n) } : result;
    expect((await chain.adapter.spent(tx.txid))?.fee).toBe((plain?.fee ?? 0n) + 77n);
  });

  it('is asked of the next node when one is away, and no node means no answer', async () => {
    const chain = await open();
    const nowhere = { ...anvil.node, url: 'http://127.0.0.1:9' };
    const tx = await payFrom(chain, intent());
    await anvil.mine();
    const expected = await chain.adapter.spent(tx.txid);
    expect(expected?.amounts).toHaveLength(1);
    expect(await again(chain, { nodes: [nowhere, anvil.node] }).spent(tx.txid)).toEqual(expected);
    await expect(again(chain, { nodes: [nowhere] }).spent(tx.txid)).rejects.toThrow(ChainError);
  });

  it('asks again when a block takes the transaction meanwhile, and believes no contradiction', async () => {
    const chain = await open({}, [liar.node]);
    const tx = await payFrom(chain, intent());
    await anvil.mine();
    const honest = await chain.adapter.spent(tx.txid);
    let receipts = 0;
    liar.lie = (method, result) => {
      receipts += method === 'eth_getTransactionReceipt' ? 1 : 0;
      return method === 'eth_getTransactionReceipt' && receipts === 1 ? null : result;
    };
    expect(await chain.adapter.spent(tx.txid)).toEqual(honest);

    const receipt = (changes: object): void => {
      liar.lie = (method, result) =>
        method === 'eth_getTransactionReceipt' ? { ...(result as object), ...changes } : result;
    };
    receipt({ blockHash: `0x${'9'.repeat(64)}` });
    await expect(chain.adapter.spent(tx.txid)).rejects.toMatchObject({ code: 'unsettled_answer' });
    for (const changes of [
      { from: randomAddress() },
      { to: toChecksumAddress(randomAddress().slice(2)) },
      { effectiveGasPrice: undefined },
      { transactionHash: `0x${'9'.repeat(64)}` },
    ]) {
      receipt(changes);
      await expect(chain.adapter.spent(tx.txid)).rejects.toMatchObject({ code: 'unsound_answer' });
    }
    liar.lie = (method, result) => (method === 'eth_getTransactionByHash' ? null : result);
    await expect(chain.adapter.spent(tx.txid)).rejects.toMatchObject({ code: 'unsettled_answer' });
  });
});
