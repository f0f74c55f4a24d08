import { Address, beginCell, Cell, contractAddress, loadMessage } from '@ton/core';
import {
  ask,
  historyOf,
  type Json,
  order,
  refused,
  type ShownTransaction,
  send,
} from '../../support/chains/ton-calls.ts';
import { highloadCell, highloadInit, keyOf, opcodes } from '../../support/chains/ton-contracts.ts';
import { normalHash, rawOf } from '../../support/chains/ton-node/names.ts';
import { startTonNode, type TonChain, type TonNode } from '../../support/chains/ton-node.ts';

const ton = 1_000_000_000n;
const startTime = 1_800_000_000_000;

interface Blocks {
  readonly blocks: readonly Json[];
}

describe('a server of the simulated TON', () => {
  let chain: TonChain;
  let node: TonNode;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ chain, node, close } = await startTonNode({ name: 'server', startTime, firstSeqno: 70_000_000 }));
  });

  afterEach(() => close());

  it('tells the first and the newest block of the masterchain', async () => {
    await chain.block(3);
    const { first, last } = await ask<{ first: Json; last: Json }>(node, 'masterchainInfo');
    const common = { workchain: -1, shard: '8000000000000000', global_id: -239 };
    expect(first).toMatchObject({ ...common, seqno: 70_000_000, gen_utime: '1800000000' });
    expect(last).toMatchObject({ ...common, seqno: 70_000_003, gen_utime: '1800000001', tx_count: 0 });
    expect(last.root_hash).toBe(chain.head.rootHash);
    expect(Buffer.from(String(last.file_hash), 'base64')).toHaveLength(32);
  });

  it('finds blocks by number and time, newest first unless told', async () => {
    await chain.block(1, 10_000);
    await chain.block(2);
    const seqnos = async (query: string): Promise<unknown[]> =>
      (await ask<Blocks>(node, `blocks?workchain=-1&${query}`)).blocks.map(({ seqno }) => Number(seqno) - 70_000_000);
    expect(await seqnos('seqno=70000002')).toEqual([2]);
    expect(await seqnos('seqno=70000009')).toEqual([]);
    expect(await seqnos('limit=2')).toEqual([3, 2]);
    expect(await seqnos('sort=asc&limit=2&offset=1')).toEqual([1, 2]);
    expect(await seqnos('start_utime=1800000001&sort=asc&limit=1')).toEqual([1]);
    expect(await seqnos('end_utime=1800000009&sort=desc')).toEqual([0]);
    expect((await ask<Blocks>(node, 'blocks?workchain=0')).blocks).toEqual([]);
  });

  it('keeps a clock that only the test moves, and gives it to contracts', async () => {
    expect(() => chain.setTime(startTime - 1)).toThrow('time does not go back');
    const user = chain.user();
    chain.setTime(startTime + 86_400_500);
    await chain.block();
    const [transaction] = await historyOf(node, user.raw);
    expect(transaction).toMatchObject({ now: 1_800_086_400, mc_block_seqno: 70_000_001 });
  });

  it('makes blocks by itself when told, with the time of a clock', async () => {
    const user = chain.user();
    const now = new Date(startTime + 5_000);
    chain.auto(1, { now: () => now });
    while (chain.head.seqno < 70_000_003) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(chain.at(70_000_001)?.timeMs).toBe(now.getTime());
    expect(await historyOf(node, user.raw)).toMatchObject([{ mc_block_seqno: 70_000_001 }]);
  });

  it('lists the transactions of an account between logical times, in either order, in parts', async () => {
    const user = chain.newUser();
    for (const amount of [1n, 2n, 3n, 4n]) {
      chain.pay(user.address, amount * ton);
      await chain.block();
    }
    const all = await historyOf(node, user.raw);
    const [, second, third] = all;
    const values = async (query: string, spelling = user.raw): Promise<bigint[]> => {
      const path = `transactions?account=${encodeURIComponent(spelling)}&${query}`;
      const { transactions } = await ask<{ transactions: ShownTransaction[] }>(node, path);
      return transactions.map(({ in_msg }) => BigInt(in_msg.value ?? 0) / ton);
    };
    expect(await values('')).toEqual([4n, 3n, 2n, 1n]);
    expect(await values(`sort=asc&start_lt=${second?.lt}`)).toEqual([2n, 3n, 4n]);
    expect(await values(`sort=asc&start_lt=${second?.lt}&end_lt=${third?.lt}`)).toEqual([2n, 3n]);
    expect(await values(`start_lt=${BigInt(second?.lt ?? 0) + 1n}&limit=1`)).toEqual([4n]);
    expect(await values('sort=asc&limit=2&offset=1')).toEqual([2n, 3n]);
    expect(await values(`start_utime=${third?.now}&sort=asc`)).toEqual([3n, 4n]);
    expect(await values('limit=1', user.address.toString())).toEqual([4n]);
    expect(await values(`hash=${encodeURIComponent(third?.hash ?? '')}`)).toEqual([3n]);
    expect(await values(`lt=${third?.lt}`)).toEqual([3n]);
  });

  it('finds a transaction by either hash of its external message, in three spellings', async () => {
    const key = keyOf('a highload wallet');
    const address = contractAddress(0, highloadInit({ key }));
    chain.pay(address, 10n * ton);
    await chain.block();
    const message = { to: chain.bank.address, value: ton };
    const cell = highloadCell({ key }, { queryId: 0, createdAt: chain.now, message, deploys: true });
    const { message_hash, message_hash_norm } = await send(node, cell.toBoc());
    expect(message_hash).toBe(cell.hash().toString('base64'));
    expect(message_hash_norm).toBe(normalHash(loadMessage(cell.beginParse())));
    expect(message_hash_norm).not.toBe(message_hash);
    await chain.block();
    const hex = Buffer.from(message_hash_norm, 'base64').toString('hex');
    const base64url = Buffer.from(message_hash_norm, 'base64').toString('base64url');
    for (const hash of [message_hash, message_hash_norm, hex, base64url]) {
      const path = `transactionsByMessage?direction=in&msg_hash=${encodeURIComponent(hash)}`;
      const { transactions } = await ask<{ transactions: ShownTransaction[] }>(node, path);
      expect(transactions.map(({ account }) => account)).toEqual([rawOf(address)]);
      expect(transactions[0]).toMatchObject({ orig_status: 'uninit', end_status: 'active', in_msg: { value: null } });
    }
    const [paid] = (await historyOf(node, rawOf(address))).at(-1)?.out_msgs ?? [];
    const path = `transactionsByMessage?msg_hash=${encodeURIComponent(paid?.hash ?? '')}`;
    expect((await ask<{ transactions: Json[] }>(node, path)).transactions).toHaveLength(2);
    expect((await ask<{ transactions: Json[] }>(node, `${path}&direction=out`)).transactions).toHaveLength(1);
  });

  it('tells accounts with and without their cells, and leaves out absent ones', async () => {
    const [user, none] = [chain.user(5n * ton), chain.newUser()];
    await chain.block();
    const path = `accountStates?address=${user.raw}&address=${none.raw}&address=${chain.bank.raw}`;
    const { accounts } = await ask<{ accounts: Json[] }>(node, path);
    expect(accounts.map(({ address, status }) => [address, status])).toEqual([
      [user.raw, 'uninit'],
      [chain.bank.raw, 'active'],
    ]);
    const [transaction] = await historyOf(node, user.raw);
    expect(accounts[0]).toMatchObject({
      balance: String(5n * ton),
      account_state_hash: transaction?.account_state_after.hash,
      last_transaction_hash: transaction?.hash,
      last_transaction_lt: transaction?.lt,
    });
    const { code_boc, code_hash } = accounts[1] ?? {};
    expect(Cell.fromBase64(String(code_boc)).hash().toString('base64')).toBe(code_hash);
    const [bare] = (await ask<{ accounts: Json[] }>(node, `accountStates?address=${chain.bank.raw}&include_boc=false`))
      .accounts;
    expect(bare?.code_boc).toBeUndefined();
    expect(await ask(node, `addressInformation?address=${none.raw}`)).toMatchObject({ balance: '0', status: 'uninit' });
    expect(await ask(node, `addressInformation?address=${chain.bank.raw}`)).toMatchObject({
      status: 'active',
      code: code_boc,
    });
  });

  it('calls methods of contracts', async () => {
    const jetton = await chain.jetton('USDT');
    const owner = chain.newUser().address;
    const slice = beginCell().storeAddress(owner).endCell().toBoc().toString('base64');
    const call = { address: jetton.raw, method: 'get_wallet_address', stack: [{ type: 'slice', value: slice }] };
    const { exit_code, stack } = await order<{ exit_code: number; stack: Json[] }>(node, 'runGetMethod', call);
    expect([exit_code, stack[0]?.type]).toEqual([0, 'slice']);
    const told = Cell.fromBase64(String(stack[0]?.value)).beginParse().loadAddress();
    expect(rawOf(told)).toBe(rawOf(jetton.walletOf(owner)));
    const data = { address: jetton.raw, method: 'get_jetton_data', stack: [] };
    const { stack: supply } = await order<{ stack: Json[] }>(node, 'runGetMethod', data);
    expect(supply[0]).toEqual({ type: 'num', value: `0x${(2n * 10n ** 18n).toString(16)}` });
    expect(await order(node, 'runGetMethod', { ...call, address: rawOf(owner) })).toMatchObject({ exit_code: -13 });
    expect(await order(node, 'runGetMethod', { ...call, method: 'no_such_method' })).toMatchObject({ exit_code: 11 });
  });

  it('refuses what it cannot read, as the index does', async () => {
    expect(await refused(node, 'transactions?account=unknown')).toEqual([
      422,
      expect.stringContaining('invalid address'),
    ]);
    expect(await refused(node, 'transactions?limit=1001')).toEqual([422, 'limit is not allowed: 1001 > 1000']);
    expect(await refused(node, 'transactions?mc_seqno=1')).toEqual([404, 'masterchain block 1 not found']);
    expect(await refused(node, 'transactionsByMessage?msg_hash=xyz')).toEqual([422, expect.any(String)]);
    expect(await refused(node, 'transactionsByMessage?msg_hash=&direction=up')).toEqual([422, expect.any(String)]);
    expect(await refused(node, 'blocks?seqno=one')).toEqual([422, expect.any(String)]);
    expect(await refused(node, 'nothing')).toEqual([500, expect.stringContaining('nothing')]);
    expect(await refused(node, 'message', {})).toEqual([401, 'boc is required']);
    expect(await refused(node, 'message', { boc: 'te6c' })).toEqual([422, expect.any(String)]);
    const internal = beginCell().storeUint(0, 64).endCell().toBoc().toString('base64');
    expect(await refused(node, 'message', { boc: internal })).toEqual([500, expect.stringContaining('(Message Any)')]);
  });

  it('does not take a message for an account without contract', async () => {
    const key = keyOf('no wallet');
    const message = { to: chain.bank.address, value: ton };
    const cell = highloadCell({ key }, { queryId: 0, createdAt: chain.now, message });
    const [status, error] = await refused(node, 'message', { boc: cell.toBoc().toString('base64') });
    expect(status).toBe(500);
    expect(error).toMatch(/rejected by account [0-9A-F]{64} before smart-contract execution$/);
  });

  it('shows a transaction as JSON of the index: hashes in base64, accounts in capitals, numbers as text', async () => {
    chain.pay(Address.parse(chain.newUser().address.toString()), ton, { comment: 'hello' });
    await chain.block();
    const { executed } = chain.head;
    const [, receipt] = await Promise.all(executed.map(({ account }) => historyOf(node, account)));
    expect(receipt?.[0]).toMatchObject({
      account: expect.stringMatching(/^0:[0-9A-F]{64}$/),
      hash: expect.stringMatching(/^[\w+/]{43}=$/),
      lt: expect.stringMatching(/^\d{14}$/),
      total_fees: '0',
      description: { type: 'ord', aborted: true, credit_first: true, compute_ph: { skipped: true } },
      in_msg: { opcode: `0x${opcodes.comment.toString(16).padStart(8, '0')}`, source: chain.bank.raw, bounce: false },
      account_state_before: { balance: null, account_status: 'nonexist' },
      account_state_after: { balance: String(ton), account_status: 'uninit' },
      out_msgs: [],
    });
  });
});
