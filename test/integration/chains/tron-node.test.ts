import { hexToBytes } from '@noble/hashes/utils.js';
import { call, describeWithAnvil } from '../../support/chains/anvil.ts';
import { keyOf, toBase58, toHexAddress } from '../../support/chains/tron-node/crypto.ts';
import { makeDeposits } from '../../support/chains/tron-node/deposits.ts';
import { blockId, type Header, merkleRoot } from '../../support/chains/tron-node/header.ts';
import { encodeMined, encodeRaw, signRaw } from '../../support/chains/tron-node/transaction.ts';
import { toEvm } from '../../support/chains/tron-node/vm.ts';
import { startTron, type TronChain, type TronNode } from '../../support/chains/tron-node.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a node, whose members the tests check.
type Answer = any;

async function ask(node: TronNode, path: string, body: object = {}): Promise<Answer> {
  const response = await fetch(`${node.config.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}

const trx = 1_000_000n;
const payer = keyOf('a payer');
const payerAddress = toBase58(payer.address);

describe('a simulated Tron chain', () => {
  let chain: TronChain;
  let node: TronNode;

  beforeEach(async () => {
    chain = startTron({ solidLag: 3 });
    node = await chain.node();
    await chain.fund(payerAddress, 100n * trx);
  });
  afterEach(() => chain.stop());

  const infoOf = (txid: string): Promise<Answer> => ask(node, '/wallet/gettransactioninfobyid', { value: txid });

  /** Bytes of a transfer by the payer, as a wallet would broadcast them. */
  function transfer(terms: { reference?: string; expiration?: number; feeLimit?: bigint } = {}, amount = 5n): string {
    const { id, header } = chain.head;
    const to = toHexAddress(chain.address());
    const raw = encodeRaw(
      { type: 'TransferContract', owner: payer.address, to, amount, data: new Uint8Array() },
      { reference: id, expiration: header.timestamp + 60_000, timestamp: header.timestamp, ...terms },
    );
    return Buffer.from(signRaw(raw, payer)).toString('hex');
  }

  const broadcast = (transaction: string): Promise<Answer> => ask(node, '/wallet/broadcasthex', { transaction });

  it('serves blocks that prove themselves', async () => {
    for (let count = 0; count < 5; count += 1) await chain.pay(chain.address(), null, 5n);
    await chain.mine();
    const block = await ask(node, '/wallet/getblock', { id_or_num: '2', detail: true });
    expect(block.transactions).toHaveLength(5);
    const { witness_address: witness, ...rest } = block.block_header.raw_data;
    expect(blockId({ ...rest, witness } as Header)).toBe(block.blockID);
    const mined = block.transactions.map(({ raw_data_hex, signature, ret }: Answer) =>
      encodeMined({ raw: hexToBytes(raw_data_hex), signatures: signature.map(hexToBytes) }, ret[0].contractRet),
    );
    expect(merkleRoot(mined)).toBe(rest.txTrieRoot);
    expect(rest.parentHash).toBe((await ask(node, '/wallet/getblockbynum', { num: 1 })).blockID);
    expect(await ask(node, '/wallet/getblock', { id_or_num: block.blockID })).toEqual({
      ...{ blockID: block.blockID, block_header: block.block_header },
    });
    const infos = await ask(node, '/wallet/gettransactioninfobyblocknum', { num: 2 });
    expect(infos.map(({ id }: Answer) => id)).toEqual(block.transactions.map(({ txID }: Answer) => txID));
  });

  it('answers what is not there as java-tron does', async () => {
    const id = 'ab'.repeat(32);
    expect(await ask(node, '/wallet/getblock', { id_or_num: '99' })).toEqual({});
    expect(await ask(node, '/wallet/getblock', { id_or_num: 'ab' })).toEqual({ Error: 'id must be legal block hash.' });
    expect(await ask(node, '/wallet/gettransactioninfobyblocknum', { num: 0 })).toEqual({});
    expect(await ask(node, '/wallet/gettransactioninfobyblocknum', { num: 1 })).toEqual([]);
    expect(await ask(node, '/wallet/gettransactioninfobyid', { value: id })).toEqual({});
    expect(await ask(node, '/walletsolidity/gettransactionbyid', { value: id })).toEqual({});
    expect(await ask(node, '/wallet/getaccount', { address: toHexAddress(chain.address()) })).toEqual({});
    expect(await ask(node, '/wallet/getaccount', { address: 'xyz' })).toHaveProperty('Error');
  });

  it('takes fees: free bandwidth first, then coins; more for a new account and for a memo', async () => {
    const known = payerAddress;
    const first = await chain.pay(chain.address(), null, 5n, { from: payer });
    const other = chain.address();
    await chain.fund(other, 1n);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await chain.pay(other, null, 5n, { from: payer }));
    const memo = await chain.pay(other, null, 5n, { from: payer, memo: 'hello' });
    await chain.mine();
    const size = (await infoOf(ids[0] ?? '')).receipt.net_usage;
    expect(size).toBeGreaterThan(260);
    expect(await infoOf(first)).toMatchObject({ fee: 1_100_000, receipt: { net_fee: 100_000 } });
    expect(await infoOf(ids[0] ?? '')).not.toHaveProperty('fee');
    expect(await infoOf(ids[2] ?? '')).toMatchObject({ fee: size * 1_000, receipt: { net_fee: size * 1_000 } });
    const withMemo = await infoOf(memo);
    expect(withMemo.fee).toBe(1_000_000 + withMemo.receipt.net_fee);
    const fees = 1_100_000 + size * 1_000 + withMemo.fee;
    expect(await chain.balance(known)).toBe(100n * trx - 5n * 5n - BigInt(fees));
    const { freeNetUsed, freeNetLimit } = await ask(node, '/wallet/getaccountresource', { address: payer.address });
    expect([freeNetUsed, freeNetLimit]).toEqual([2 * size, 600]);
    chain.setTime(chain.head.header.timestamp + 86_400_000);
    await chain.mine();
    expect(await ask(node, '/wallet/getaccountresource', { address: payer.address })).not.toHaveProperty('freeNetUsed');
  });

  it('refuses what a block could not hold', async () => {
    const { id, header } = chain.head;
    const forged = `${transfer().slice(0, -2)}07`;
    const cases: [string, string][] = [
      [forged, 'SIGERROR'],
      [transfer({ reference: id.slice(0, 16) + 'ab'.repeat(24) }), 'TAPOS_ERROR'],
      [transfer({ reference: `${'0'.repeat(12)}ffff${id.slice(16)}` }), 'TAPOS_ERROR'],
      [transfer({ expiration: header.timestamp }), 'TRANSACTION_EXPIRATION_ERROR'],
      [transfer({ expiration: header.timestamp + 86_400_001 }), 'TRANSACTION_EXPIRATION_ERROR'],
      [transfer({}, 100n * trx), 'CONTRACT_VALIDATE_ERROR'],
      [transfer({}, 0n), 'CONTRACT_VALIDATE_ERROR'],
      [transfer({ expiration: header.timestamp + 86_400_000 }), 'SUCCESS'],
    ];
    for (const [bytes, code] of cases)
      expect(await broadcast(bytes)).toMatchObject({ code, result: code === 'SUCCESS' });
    const twice = transfer();
    expect(await broadcast(twice)).toMatchObject({ code: 'SUCCESS' });
    expect(await broadcast(twice)).toMatchObject({ code: 'DUP_TRANSACTION_ERROR' });
    expect(await broadcast('zz')).toHaveProperty('Error');
    expect(chain.pool.size).toBe(2);
  });

  it('counts what waits against a balance', async () => {
    expect(await broadcast(transfer({}, 60n * trx))).toMatchObject({ code: 'SUCCESS' });
    expect(await broadcast(transfer({}, 60n * trx))).toMatchObject({ code: 'CONTRACT_VALIDATE_ERROR' });
  });

  it('takes a transaction into a block that is later than its expiration, but not into the one after', async () => {
    const expiration = chain.head.header.timestamp + 1;
    const { txid } = await broadcast(transfer({ expiration }));
    const late = await broadcast(transfer({ expiration }, 6n));
    chain.held.add(late.txid);
    await chain.mine();
    expect(chain.head.header.timestamp).toBeGreaterThan(expiration);
    expect(chain.blockOf(txid)).toBe(chain.head);
    chain.held.clear();
    await chain.mine();
    expect(chain.blockOf(late.txid)).toBeNull();
    expect(chain.pool.size).toBe(0);
  });

  it('lets a transaction die whose reference block is orphaned', async () => {
    await chain.mine();
    const { txid } = await broadcast(transfer());
    await chain.reorg(1);
    expect(chain.pool.has(txid)).toBe(true);
    await chain.mine();
    expect(chain.blockOf(txid)).toBeNull();
    expect(chain.pool.size).toBe(0);
  });

  it('replaces blocks, whose transactions wait again or are forgotten', async () => {
    const bytes = transfer();
    const { txid } = await broadcast(bytes);
    await chain.mine(2);
    const [before, replaced] = [chain.blocks[1]?.id, chain.blocks[2]?.id];
    const paid = await chain.balance(payerAddress);
    await chain.reorg(2);
    expect([chain.blocks[1]?.id, chain.blocks.length]).toEqual([before, 4]);
    expect(chain.blocks[2]?.id).not.toBe(replaced);
    expect(await chain.balance(payerAddress)).toBe(100n * trx);
    await chain.mine();
    expect(chain.blockOf(txid)).toBe(chain.head);
    expect(await chain.balance(payerAddress)).toBe(paid);
    await chain.reorg(1, 1, { forgets: true });
    expect(chain.pool.size).toBe(0);
    expect(await broadcast(bytes)).toMatchObject({ code: 'SUCCESS' });
    await chain.mine(4);
    await expect(async () => chain.reorg(5)).rejects.toThrow('is final');
    await chain.reorg(5, 1, { breaksFinality: true });
    expect(chain.blocks).toHaveLength(5);
  });

  it('shows the final head, and the state there, in the second tree', async () => {
    const to = chain.address();
    const txid = await chain.pay(to, null, 7n);
    await chain.mine();
    const states = async (): Promise<unknown[]> => [
      (await ask(node, '/walletsolidity/getnowblock')).block_header.raw_data.number,
      (await ask(node, '/walletsolidity/gettransactioninfobyid', { value: txid })).blockNumber,
      (await ask(node, '/walletsolidity/getaccount', { address: toHexAddress(to) })).balance,
      (await ask(node, '/walletsolidity/getblockbynum', { num: 2 })).blockID,
    ];
    expect(await states()).toEqual([undefined, undefined, undefined, undefined]);
    await chain.mine(3);
    expect(await states()).toEqual([2, 2, 7, chain.blocks[2]?.id]);
    await chain.reorg(2, 1);
    expect(await states()).toEqual([2, 2, 7, chain.blocks[2]?.id]);
  });

  it('writes numbers of 64 bits as they are', async () => {
    const response = await fetch(`${node.config.url}/wallet/getaccount`, {
      method: 'POST',
      body: JSON.stringify({ address: chain.bank.address }),
    });
    expect(await response.text()).toContain('"balance":90000000000000000,');
  });

  it('ignores TRC-10 tokens', async () => {
    const to = chain.address();
    await chain.fund(to, 1n);
    const txid = await chain.payTrc10(to, '1002000', 5n);
    await chain.mine();
    expect(await infoOf(txid)).toMatchObject({ blockNumber: 3 });
    expect(await chain.balance(to)).toBe(1n);
  });

  it('puts transactions of any kind into a block, where they have no effect', async () => {
    // A stake of the documentation of java-tron.
    const raw =
      '0a02283b220851bf0b88daaaea3740b8a9d8c0dd335a5b083612570a34747970652e676f6f676c65617069732e636f6d2f70726f' +
      '746f636f6c2e467265657a6542616c616e63655632436f6e7472616374121f0a1541dd791d6b49e190062d650e6a23c575510d35' +
      'f2f9108094ebdc03180170d8e7d4c0dd33';
    const bytes = signRaw(hexToBytes(raw), payer);
    expect(await broadcast(Buffer.from(bytes).toString('hex'))).toMatchObject({ result: false });
    chain.plant(bytes);
    await chain.mine();
    const { transactions } = await ask(node, '/wallet/getnowblock');
    expect(transactions).toMatchObject([
      {
        txID: '081256264131fbc9f3d4686aab15ae69c0e77b39d276367c11a7ab13e39747ec',
        raw_data: { contract: [{ type: 'FreezeBalanceV2Contract' }] },
        raw_data_hex: raw,
      },
    ]);
  });

  it('is signed for by the key of the owner permission', async () => {
    const other = keyOf('another key');
    await chain.setOwner(payerAddress, toBase58(other.address));
    expect(await broadcast(transfer())).toMatchObject({ code: 'SIGERROR' });
    const { owner_permission } = await ask(node, '/wallet/getaccount', { address: payer.address });
    expect(owner_permission.keys).toEqual([{ address: other.address, weight: 1 }]);
  });
});

describeWithAnvil('contracts on a simulated Tron chain', () => {
  let chain: TronChain;
  let node: TronNode;
  let usdt: string;

  beforeAll(async () => {
    chain = startTron({ solidLag: 3 });
    node = await chain.node();
    usdt = await chain.deployToken();
    await chain.pay(payerAddress, null, 1_000n * trx);
    await chain.pay(payerAddress, usdt, 1_000n);
    await chain.mine();
  });
  afterAll(() => chain.stop());

  const evm = (address: string): `0x${string}` => toEvm(toHexAddress(address));
  const word = (value: string | bigint): string => {
    return (typeof value === 'bigint' ? value.toString(16) : toHexAddress(value).slice(2)).padStart(64, '0');
  };

  async function mined(sent: Promise<string>): Promise<Answer> {
    const value = await sent;
    await chain.mine();
    return ask(node, '/wallet/gettransactioninfobyid', { value });
  }

  const trial = (from: string, contract: string, selector: string, parameter: string): Promise<Answer> => {
    const [owner_address, contract_address] = [from, contract].map(toHexAddress);
    const body = { owner_address, contract_address, function_selector: selector, parameter, visible: false };
    return ask(node, '/wallet/triggerconstantcontract', body);
  };

  it('moves tokens with the log and the energy of USDT, and with twice as much to a new holder', async () => {
    const to = chain.address();
    const first = await mined(chain.pay(to, usdt, 7n));
    const second = await mined(chain.pay(to, usdt, 8n));
    expect(first.receipt).toMatchObject({ result: 'SUCCESS' });
    expect(Math.round(first.receipt.energy_usage_total / 5_000)).toBe(26);
    expect(Math.round(second.receipt.energy_usage_total / 5_000)).toBe(13);
    expect(second.receipt.energy_fee).toBe(second.receipt.energy_usage_total * 100);
    expect(second.log).toEqual([
      {
        address: toHexAddress(usdt).slice(2),
        topics: [
          'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          word(toBase58(chain.bank.address)),
          word(to),
        ],
        data: word(8n),
      },
    ]);
    expect(second.contractResult).toEqual([word(1n)]);
    expect(await chain.balance(to, usdt)).toBe(15n);
    expect(await chain.balance(to, usdt, chain.head.header.number - 1)).toBe(7n);
  });

  it('tries a call at the head, and at the final head', async () => {
    const to = chain.address();
    await mined(chain.pay(to, usdt, 7n));
    const balance = await trial(to, usdt, 'balanceOf(address)', word(to));
    expect(balance).toMatchObject({ result: { result: true }, constant_result: [word(7n)] });
    expect(balance.transaction).toMatchObject({ ret: [{}], visible: false });
    const body = {
      ...{ owner_address: toHexAddress(to), contract_address: toHexAddress(usdt) },
      data: call('balanceOf', evm(to)).slice(2),
    };
    expect(await ask(node, '/walletsolidity/triggerconstantcontract', body)).toMatchObject({
      constant_result: [word(0n)],
    });
    const failing = await trial(to, usdt, 'transfer(address,uint256)', word(payerAddress) + word(8n));
    expect(failing.result).toEqual({ result: true, message: Buffer.from('REVERT opcode executed').toString('hex') });
    expect(failing.transaction.ret).toEqual([{ ret: 'FAILED' }]);
    const missing = await trial(to, chain.address(), 'balanceOf(address)', word(to));
    expect(missing).toEqual({
      result: {
        code: 'CONTRACT_VALIDATE_ERROR',
        message: Buffer.from('Smart contract is not exist.').toString('hex'),
      },
    });
    const going = await trial(payerAddress, usdt, 'transfer(address,uint256)', word(to) + word(1n));
    const { receipt } = await mined(chain.pay(to, usdt, 1n, { from: payer }));
    expect(receipt.energy_usage_total).toBe(going.energy_used);
  });

  it('ends a call without enough energy, which costs all that it may', async () => {
    const before = await chain.balance(payerAddress);
    const info = await mined(chain.pay(chain.address(), usdt, 7n, { from: payer, feeLimit: 4_000_000n }));
    expect(info).toMatchObject({ result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY', energy_fee: 4_000_000 } });
    expect(info).not.toHaveProperty('log');
    expect(await chain.balance(payerAddress)).toBe(before - BigInt(info.fee));
    const to = chain.address();
    chain.failing.set(toHexAddress(to), 'OUT_OF_TIME');
    expect((await trial(payerAddress, usdt, 'transfer(address,uint256)', word(to) + word(1n))).result).toEqual({
      result: true,
    });
    const exhausted = await mined(chain.pay(to, usdt, 1n, { from: payer, feeLimit: 20_000_000n }));
    expect(exhausted.receipt).toMatchObject({ result: 'OUT_OF_TIME', energy_usage_total: 200_000 });
  });

  it('uses staked energy before coins', async () => {
    await chain.stake(payerAddress, { energy: 100_000n, bandwidth: 5_000n });
    const info = await mined(chain.pay(payerAddress, usdt, 7n, { from: payer }));
    expect(info).not.toHaveProperty('fee');
    expect(info.receipt).toMatchObject({ net_usage: expect.any(Number), energy_usage: expect.any(Number) });
    await chain.stake(payerAddress, {});
  });

  it('has a token with all the oddities of USDT', async () => {
    const odd = await chain.deployToken();
    const set = async (name: string, ...args: unknown[]): Promise<void> => {
      await mined(chain.call(odd, call(name, ...args)));
    };
    const to = chain.address();
    const amounts = async (): Promise<[string, bigint[]]> => {
      const { receipt, log = [] } = await mined(chain.pay(to, odd, 1_000n));
      return [receipt.result, log.map(({ data }: Answer) => BigInt(`0x${data}`))];
    };
    expect(await amounts()).toEqual(['SUCCESS', [1_000n]]);
    await set('setFee', 100n);
    expect(await amounts()).toEqual(['SUCCESS', [10n, 990n]]);
    await set('setFee', 0n);
    await set('setMood', 1n);
    const falsy = await mined(chain.pay(to, odd, 1_000n));
    expect([falsy.contractResult, falsy.log.length]).toEqual([[word(0n)], 1]);
    await set('setMood', 2n);
    expect(await amounts()).toEqual(['SUCCESS', []]);
    await set('setMood', 3n);
    expect(await amounts()).toEqual(['REVERT', []]);
    await set('setMood', 4n);
    expect(await amounts()).toEqual(['OUT_OF_ENERGY', []]);
    await set('setMood', 5n);
    expect(await amounts()).toEqual(['SUCCESS', [500n, 500n]]);
    await set('setMood', 0n);
    await set('setPaused', true);
    expect(await amounts()).toEqual(['REVERT', []]);
    await set('setPaused', false);
    await set('setBlocked', evm(to), true);
    expect(await amounts()).toEqual(['REVERT', []]);
    const approved = await mined(chain.call(odd, call('approve', evm(to), 5n)));
    expect(approved.log[0].topics[0]).not.toMatch(/^ddf252ad/);
    const poison = await mined(chain.call(odd, call('transferFrom', evm(payerAddress), evm(payerAddress), 0n)));
    expect(poison.log[0].data).toBe(word(0n));
  });

  it('moves coins between contracts, unless the inner call was undone', async () => {
    const forwarder = await chain.deploy('Forwarder');
    const to = chain.address();
    const value = { value: 100n };
    const sent = await mined(chain.call(forwarder, call('forward', evm(to)), value));
    expect(sent.internal_transactions).toEqual([
      {
        hash: expect.any(String),
        caller_address: toHexAddress(forwarder),
        transferTo_address: toHexAddress(to),
        callValueInfo: [{ callValue: 100 }],
        note: '63616c6c',
      },
    ]);
    expect(await chain.balance(to)).toBe(100n);
    const undone = await mined(chain.call(forwarder, call('forwardAndRepent', evm(to)), value));
    expect(undone.receipt.result).toBe('SUCCESS');
    expect(undone.internal_transactions.map(({ rejected }: Answer) => rejected)).toEqual([true, true]);
    const failed = await mined(chain.call(forwarder, call('forwardAndFail', evm(to)), value));
    expect([failed.receipt.result, failed.internal_transactions[0].rejected]).toEqual(['REVERT', true]);
    const token = { id: 1_002_000n, amount: 9n };
    const withToken = await mined(chain.call(forwarder, call('forward', evm(to)), { token }));
    expect(withToken.internal_transactions[0].callValueInfo).toEqual([{}, { callValue: 9, tokenId: '1002000' }]);
    expect([await chain.balance(to), await chain.balance(forwarder)]).toEqual([100n, 100n]);
  });

  it('refuses coins to a contract, and a call of an address without one', async () => {
    await expect(chain.pay(usdt, null, 5n)).rejects.toThrow('Cannot transfer TRX to a smartContract.');
    await expect(chain.pay(payerAddress, chain.address(), 5n)).rejects.toThrow('not a valid smart contract');
    await expect(chain.pay(payerAddress, usdt, 5n, { feeLimit: 15_000_000_001n })).rejects.toThrow('feeLimit');
  });

  it('makes true and false deposits, which bring what they are said to bring', async () => {
    const to = chain.address();
    await chain.fund(to, 1n);
    const token = await chain.deployToken();
    const made = await makeDeposits(chain, token, to);
    expect(made).toHaveLength(21);
    for (const { name, txid, credits } of made) {
      const number = chain.blockOf(txid)?.header.number ?? -1;
      for (const contract of [null, token]) {
        const moved = (await chain.balance(to, contract, number)) - (await chain.balance(to, contract, number - 1));
        const sum = credits.reduce((all, one) => (one.contract === contract ? all + one.amount : all), 0n);
        expect({ name, contract, moved }).toEqual({ name, contract, moved: sum });
      }
    }
  });

  it('undoes calls with the blocks that held them', async () => {
    const to = chain.address();
    await mined(chain.pay(to, usdt, 7n));
    await chain.mine();
    await chain.reorg(2);
    expect(await chain.balance(to, usdt)).toBe(0n);
    await chain.mine();
    expect(await chain.balance(to, usdt)).toBe(7n);
  });
});
