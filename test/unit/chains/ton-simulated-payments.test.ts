import { type Address, Cell, contractAddress } from '@ton/core';
import { historyOf, type ShownTransaction, send, traceOf } from '../../support/chains/ton-calls.ts';
import {
  type Highload,
  highloadCell,
  highloadInit,
  keyOf,
  locks,
  opcodes,
  type relaxed,
  transferBody,
} from '../../support/chains/ton-contracts.ts';
import type { Jetton } from '../../support/chains/ton-node/jettons.ts';
import { type Raw, rawOf } from '../../support/chains/ton-node/names.ts';
import { startTonNode, type TonChain, type TonNode } from '../../support/chains/ton-node.ts';

const ton = 1_000_000_000n;
const opcode = (code: number): string => `0x${code.toString(16).padStart(8, '0')}`;

let chain: TonChain;
let node: TonNode;
let wallet: Highload;
let ours: Address;
let raw: Raw;
let queryId: number;
let network = 0;

beforeEach(async () => {
  network += 1;
  queryId = 0;
  ({ chain, node } = await startTonNode({ name: `payments ${network}` }));
  wallet = { key: keyOf(`highload of ${chain.name}`) };
  ours = contractAddress(0, highloadInit(wallet));
  raw = rawOf(ours);
});

afterEach(() => chain.stop());

/** Pays from the highload wallet and returns all transactions that followed. */
async function payout(message: Parameters<typeof relaxed>[0]): Promise<ShownTransaction[]> {
  const deploys = chain.row(raw).account.account?.storage.state.type !== 'active';
  const cell = highloadCell(wallet, { queryId, createdAt: chain.now - 5, message, deploys });
  queryId += 1;
  const { message_hash_norm } = await send(node, cell.toBoc());
  await chain.settle();
  return traceOf(node, message_hash_norm);
}

async function last(account = raw): Promise<ShownTransaction> {
  return (await historyOf(node, account)).at(-1) as ShownTransaction;
}

describe('coins on the simulated TON', () => {
  it('arrive at a wallet that is not deployed, though the transaction says aborted', async () => {
    chain.pay(ours, 10n * ton, { comment: '4711' });
    await chain.settle();
    const { description, in_msg, orig_status, end_status, account_state_after } = await last();
    expect(description).toMatchObject({ aborted: true, compute_ph: { skipped: true, reason: 'no_state' } });
    expect([orig_status, end_status]).toEqual(['nonexist', 'uninit']);
    expect(in_msg).toMatchObject({ value: String(10n * ton), bounced: false, opcode: '0x00000000' });
    expect(in_msg.message_content.decoded).toMatchObject({ comment: '4711' });
    expect(account_state_after.balance).toBe(String(10n * ton));
    expect(chain.balance(ours)).toBe(10n * ton);
  });

  it('cost the receiver fees when its wallet is deployed: of 10 TON, 9.99977 remain', async () => {
    chain.pay(ours, ton);
    await chain.settle();
    await payout({ to: chain.bank.address, value: 1n });
    const before = chain.balance(ours);
    chain.pay(ours, 10n * ton, { comment: '4711' });
    await chain.settle();
    const kept = chain.balance(ours) - before;
    expect(Number(kept) / 1e9).toBeCloseTo(9.99977, 5);
    const { total_fees } = await last();
    expect(10n * ton - kept).toBe(BigInt(total_fees));
  });

  it('come with text, long text, bytes, a secret, or nothing', async () => {
    const user = chain.user(100n * ton, 'v3r2');
    await chain.settle();
    const long = 'ü'.repeat(200);
    const comments = ['4711', long, null, { binary: Buffer.from([0xff, 0xfe]) }, { encrypted: Buffer.alloc(70, 7) }];
    for (const comment of comments) {
      user.pay(ours, ton, { comment });
      await chain.settle();
    }
    const shown = (await historyOf(node, raw)).map(({ in_msg }) => in_msg);
    expect(shown.map((one) => one.opcode)).toEqual([
      opcode(0),
      opcode(0),
      null,
      opcode(0),
      opcode(opcodes.encryptedComment),
    ]);
    expect(shown.slice(0, 2).map((one) => one.message_content.decoded?.comment)).toEqual(['4711', long]);
    for (const { message_content } of shown) {
      expect(Cell.fromBase64(message_content.body).hash().toString('base64')).toBe(message_content.hash);
    }
  });

  it('are returned by an account without contract when the message may bounce', async () => {
    chain.pay(ours, 10n * ton);
    await chain.settle();
    const [sent, refusal, returned] = await payout({ to: chain.newUser().address, value: ton, bounce: true });
    expect(sent?.out_msgs.map(({ value }) => value)).toEqual([String(ton)]);
    expect(refusal?.description).toMatchObject({ aborted: true, bounce: { type: 'ok' } });
    expect(returned).toMatchObject({ account: raw, in_msg: { bounced: true }, out_msgs: [] });
  });

  it('do not leave a wallet that has too few of them, though the query id is used', async () => {
    chain.pay(ours, 96n * ton);
    await chain.settle();
    const [transaction, ...others] = await payout({ to: chain.bank.address, value: 500n * ton });
    expect(transaction).toMatchObject({ account: raw, out_msgs: [] });
    expect(others).toEqual([]);
    expect(chain.balance(ours)).toBeGreaterThan(95n * ton);
  });

  it('may be as few as one nanoton', async () => {
    chain.pay(ours, 1n, { comment: 'dust' });
    await chain.settle();
    expect((await last()).in_msg.value).toBe('1');
  });

  it('name the previous transaction, and the state that it left', async () => {
    for (const amount of [3n, 2n, 1n]) {
      chain.pay(ours, amount * ton);
      await chain.settle();
    }
    const [first, second, third] = await historyOf(node, raw);
    expect(first).toMatchObject({ prev_trans_lt: '0' });
    expect([second?.prev_trans_hash, second?.prev_trans_lt]).toEqual([first?.hash, first?.lt]);
    expect([third?.prev_trans_hash, third?.prev_trans_lt]).toEqual([second?.hash, second?.lt]);
    expect(third?.account_state_before.hash).toBe(second?.account_state_after.hash);
  });
});

describe.each([
  { kind: 'standard', library: false },
  { kind: 'standard', library: true },
  { kind: 'governed', library: true },
] as const)('tokens on the simulated TON, $kind, with their code in a library: $library', ({ kind, library }) => {
  /** Of a balance that is too low, and of too few coins. */
  const exits = kind === 'governed' ? [47, 48] : [706, 709];

  let jetton: Jetton;
  let jettonRaw: Raw;

  beforeEach(async () => {
    jetton = await chain.jetton('USDT', { library, kind });
    jettonRaw = rawOf(jetton.walletOf(ours));
    chain.pay(ours, 10n * ton);
    await chain.settle();
    await payout({ to: chain.bank.address, value: 1n });
  });

  /** Has our highload wallet send tokens. */
  function payTokens(to: Address, amount: bigint, value = 50_000_000n, forward = 1n): Promise<ShownTransaction[]> {
    const order = { to, amount, response: ours };
    const body = transferBody(order, { amount: forward, comment: 'payout' });
    return payout({ to: jetton.walletOf(ours), value, bounce: true, body });
  }

  it('come to our jetton wallet, which tells our wallet with the comment', async () => {
    const user = chain.user();
    await chain.settle();
    chain.payTokens(jetton, user.address, 5_000_000n);
    await chain.settle();
    user.payTokens(jetton, ours, 2_000_000n, { comment: '4711' });
    await chain.settle();
    expect(jetton.balance(ours)).toBe(2_000_000n);
    expect(jetton.balance(user.address)).toBe(3_000_000n);
    expect(await last(jettonRaw)).toMatchObject({
      description: { aborted: false },
      in_msg: { opcode: opcode(opcodes.internalTransfer), source: rawOf(jetton.walletOf(user.address)) },
    });
    expect(await last()).toMatchObject({
      in_msg: { opcode: opcode(opcodes.notification), source: jettonRaw, value: '1' },
    });
  });

  it('come without a notification when no coins are passed on', async () => {
    const before = (await historyOf(node, raw)).length;
    chain.payTokens(jetton, ours, 2_000_000n, { forward: 0n, comment: '4711' });
    await chain.settle();
    expect(jetton.balance(ours)).toBe(2_000_000n);
    expect((await historyOf(node, raw)).length).toBe(before);
  });

  it('are made by the master for anyone', async () => {
    chain.mint(jetton, ours, 7n);
    await chain.settle();
    expect(jetton.balance(ours)).toBe(7n);
    expect((await last(jettonRaw)).in_msg.source).toBe(jetton.raw);
  });

  it('did not come when a stranger says so', async () => {
    chain.forgeNotification(ours, 1_000_000n, '4711');
    await chain.settle();
    expect(await last()).toMatchObject({
      in_msg: { opcode: opcode(opcodes.notification), source: chain.bank.raw },
    });
    expect(jetton.balance(ours)).toBe(0n);
  });

  it('make the jetton wallet of a receiver that has none, and the rest of the coins returns', async () => {
    chain.payTokens(jetton, ours, 10_000_000n);
    await chain.settle();
    const { address } = chain.newUser();
    const trace = await payTokens(address, 4_000_000n);
    expect(jetton.balance(address)).toBe(4_000_000n);
    expect(trace.every(({ account, description }) => !description.aborted || account === rawOf(address))).toBe(true);
    expect(trace.map(({ in_msg }) => in_msg.opcode)).toContain(opcode(opcodes.excesses));
  });

  it('stay when the amount is above the balance: exit code 706 or 47 in our jetton wallet', async () => {
    chain.payTokens(jetton, ours, 10n);
    await chain.settle();
    const trace = await payTokens(chain.bank.address, 11n);
    expect(trace.find(({ account }) => account === jettonRaw)?.description).toMatchObject({
      aborted: true,
      compute_ph: { exit_code: exits[0] },
    });
    expect(jetton.balance(ours)).toBe(10n);
  });

  it('stay when too few coins go with them: exit code 709 or 48 in our jetton wallet', async () => {
    chain.payTokens(jetton, ours, 10n);
    await chain.settle();
    const trace = await payTokens(chain.bank.address, 5n, 10_000_000n);
    expect(trace.find(({ account }) => account === jettonRaw)?.description).toMatchObject({
      compute_ph: { exit_code: exits[1] },
    });
    expect(jetton.balance(ours)).toBe(10n);
  });

  it('come back when the jetton wallet of the receiver refuses them', async () => {
    chain.payTokens(jetton, ours, 10n);
    await chain.settle();
    const { address } = chain.newUser();
    jetton.refuse(address);
    const trace = await payTokens(address, 4n);
    const accounts = trace.map(({ account }) => account);
    expect(accounts.filter((one) => one === jettonRaw)).toHaveLength(2);
    expect(trace.find(({ account }) => account === rawOf(jetton.walletOf(address)))?.description).toMatchObject({
      aborted: true,
      compute_ph: { exit_code: 45 },
      bounce: { type: 'ok' },
    });
    expect(trace.findLast(({ account }) => account === jettonRaw)?.in_msg.bounced).toBe(true);
    expect(jetton.balance(ours)).toBe(10n);
  });

  it('take one block for each message when blocks are small', async () => {
    chain.hops = 'next';
    chain.payTokens(jetton, ours, 10n);
    await chain.settle();
    const [{ in_msg, mc_block_seqno: height }] = [await last()];
    expect(in_msg.source).toBe(jettonRaw);
    expect((await last(jettonRaw)).mc_block_seqno).toBe(height - 1);
  });
});

describe('tokens on the simulated TON whose issuer locks wallets', () => {
  it('come back from a receiver that may not receive, and do not leave a sender that may not send', async () => {
    const jetton = await chain.jetton('USDT', { kind: 'governed', library: true });
    const [sender, receiver] = [chain.user(), chain.newUser()];
    await chain.settle();
    chain.payTokens(jetton, sender.address, 10n);
    chain.lock(jetton, receiver.address, locks.receiving);
    await chain.settle();
    sender.payTokens(jetton, receiver.address, 4n);
    await chain.settle();
    expect([jetton.balance(sender.address), jetton.balance(receiver.address)]).toEqual([10n, 0n]);
    const [locked, refusal] = await historyOf(node, rawOf(jetton.walletOf(receiver.address)));
    expect(locked?.description.aborted).toBe(false);
    expect(refusal?.description).toMatchObject({ compute_ph: { exit_code: 45 }, bounce: { type: 'ok' } });

    chain.lock(jetton, receiver.address, locks.nothing);
    chain.lock(jetton, sender.address, locks.sending);
    await chain.settle();
    sender.payTokens(jetton, receiver.address, 4n);
    await chain.settle();
    expect((await last(rawOf(jetton.walletOf(sender.address)))).description).toMatchObject({
      compute_ph: { exit_code: 45 },
    });
    chain.lock(jetton, sender.address, locks.nothing);
    await chain.settle();
    sender.payTokens(jetton, receiver.address, 4n);
    await chain.settle();
    expect([jetton.balance(sender.address), jetton.balance(receiver.address)]).toEqual([6n, 4n]);
  });
});
