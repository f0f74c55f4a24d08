import { xdr } from '@stellar/stellar-base';
import * as calls from '../../support/chains/stellar-calls.ts';
import { parsed } from '../../support/chains/stellar-node/assets.ts';
import { keyXdr } from '../../support/chains/stellar-node/entries.ts';
import { accountAddress } from '../../support/chains/stellar-node/events.ts';
import { operations } from '../../support/chains/stellar-node/operations.ts';
import { type StellarChain, type StellarNode, startStellar } from '../../support/chains/stellar-node.ts';

type Json = Record<string, unknown>;

let chain: StellarChain;
let node: StellarNode;

beforeEach(async () => {
  chain = startStellar();
  node = await chain.node();
});

afterEach(() => chain.stop());

const ask = (method: string, params: Json = {}): Promise<Json> => calls.ask(node, method, params);
const refused = (method: string, params: Json = {}): Promise<[unknown, unknown]> => calls.refused(node, method, params);
const askLedger = (seq = chain.head.seq): Promise<calls.Listed> => calls.askLedger(node, seq);

describe('a simulated server of Stellar', () => {
  it('tells its network, its health, its newest ledger and its fees', async () => {
    chain.closeEmpty(4);
    const { seq, hash, closeTime } = chain.head;
    expect(await ask('getNetwork')).toEqual({ passphrase: chain.passphrase, protocolVersion: 23 });
    expect(await ask('getHealth')).toMatchObject({
      status: 'healthy',
      latestLedger: seq,
      oldestLedger: chain.firstSeq,
    });
    const latest = await ask('getLatestLedger');
    expect(latest).toMatchObject({ id: hash, sequence: seq, protocolVersion: 23, closeTime: String(closeTime) });
    const stats = await ask('getFeeStats');
    expect(stats).toMatchObject({ inclusionFee: { ledgerCount: 10 }, latestLedger: seq });
    expect(node.asked).toEqual(['getNetwork', 'getHealth', 'getLatestLedger', 'getFeeStats']);
  });

  it('answers ledgers by pages, from which all hashes can be computed', async () => {
    const alice = chain.newAccount();
    const ids = [chain.pay(chain.bank, alice.address, 5n), chain.credit('contract', alice.address, 6n)];
    chain.close();
    chain.closeEmpty(3);
    let parent = '0'.repeat(64);
    let page: Json = { startLedger: chain.firstSeq, pagination: { limit: 2 } };
    const seen: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const answer = await ask('getLedgers', page);
      const ledgers = answer.ledgers as calls.LedgerJson[];
      for (const { sequence } of ledgers) {
        const listed = await askLedger(sequence);
        expect(calls.faultsOf(listed, parent, chain.passphrase)).toEqual([]);
        expect(listed.ledger).toEqual(ledgers.find((one) => one.sequence === sequence));
        if (sequence === chain.firstSeq + 2) expect(calls.idsInResults(listed)).toEqual(ids);
        parent = listed.ledger.hash;
        seen.push(sequence);
      }
      expect(answer).toMatchObject({ latestLedger: chain.head.seq, oldestLedger: chain.firstSeq });
      page = { pagination: { limit: 2, cursor: answer.cursor } };
    }
    expect(seen).toEqual([...Array(6).keys()].map((i) => chain.firstSeq + i));
    const [code, message] = await refused('getLedgers', page);
    expect([code, message]).toEqual([-32_602, expect.stringContaining(`cursor ('${chain.head.seq}') must be between`)]);
  });

  it('answers transactions by pages and by both ids of a fee bump', async () => {
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    const inner = chain.sign(alice, { operations: [operations.payment(bob.address, 5n)] });
    const ids = [chain.feeBump(inner.base64, bob), chain.pay(bob, alice.address, 2n ** 60n)];
    ids.push(chain.pay(chain.bank, alice.address, 1n));
    const { seq, closeTime } = chain.close();
    const first = await ask('getTransactions', { startLedger: seq, pagination: { limit: 2 } });
    const listed = first.transactions as Json[];
    expect(listed.map(({ txHash }) => txHash)).toEqual(ids.slice(0, 2));
    expect(listed.map(({ status }) => status)).toEqual(['SUCCESS', 'FAILED']);
    expect(listed.map(({ feeBump, applicationOrder }) => [feeBump, applicationOrder])).toEqual([
      [true, 1],
      [false, 2],
    ]);
    expect(listed[0]?.createdAt).toBe(closeTime);
    const rest = await ask('getTransactions', { pagination: { cursor: first.cursor } });
    expect((rest.transactions as Json[]).map(({ txHash }) => txHash)).toEqual(ids.slice(2));
    expect(rest.cursor).toBe(String((BigInt(seq) << 32n) + (3n << 12n) + 1n));
    const [outer, within] = [
      await ask('getTransaction', { hash: ids[0] }),
      await ask('getTransaction', { hash: inner.txid }),
    ];
    expect({ ...within, txHash: ids[0] }).toEqual(outer);
    expect(outer).toMatchObject({
      ...listed[0],
      createdAt: String(closeTime),
      latestLedgerCloseTime: String(closeTime),
    });
    const unknown = await ask('getTransaction', { hash: 'ab'.repeat(32) });
    expect(unknown).toMatchObject({ status: 'NOT_FOUND', latestLedger: seq, oldestLedger: chain.firstSeq });
    expect(unknown).not.toHaveProperty('resultXdr');
  });

  it('answers events by pages, by contract and by topics', async () => {
    const [alice, usd] = [chain.newAccount(), chain.asset('USD')];
    chain.trust(alice.address, usd);
    const coins = chain.payInMany([
      { to: alice.address, amount: 5n },
      { to: alice.address, amount: 6n },
    ]);
    const tokens = chain.pay(chain.bank, alice.address, 7n, { asset: usd });
    const failed = chain.pay(alice, chain.bank.address, 2n ** 60n);
    const startLedger = chain.close().seq;
    const all = await ask('getEvents', { startLedger });
    const events = all.events as Json[];
    expect(events.map(({ txHash }) => txHash)).toEqual([coins, tokens, failed, coins, coins, tokens]);
    const successes = events.map(({ inSuccessfulContractCall }) => inSuccessfulContractCall);
    expect(successes).toEqual([true, true, false, true, true, true]);
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted());
    const pages: Json[] = [];
    let page: Json = { startLedger, pagination: { limit: 4 } };
    for (let i = 0; i < 2; i += 1) {
      const answer = await ask('getEvents', page);
      pages.push(...(answer.events as Json[]));
      page = { pagination: { limit: 4, cursor: answer.cursor } };
    }
    expect(pages).toEqual(events);
    const contractId = parsed(usd).contractId(chain.passphrase);
    const to = xdr.ScVal.scvAddress(accountAddress(alice.address)).toXDR('base64');
    const ofUsd = await ask('getEvents', { startLedger, filters: [{ type: 'contract', contractIds: [contractId] }] });
    expect((ofUsd.events as Json[]).map(({ txHash }) => txHash)).toEqual([tokens]);
    const filters = [{ topics: [['*', '*', to, '**']] }, { topics: [['*', '*']] }];
    const toAlice = await Promise.all(filters.map((one) => ask('getEvents', { startLedger, filters: [one] })));
    expect(toAlice.map((one) => (one.events as Json[]).length)).toEqual([3, 3]);
    expect((await refused('getEvents', { startLedger: startLedger + 1 }))[1]).toContain('within the ledger range');
  });

  it('answers entries that it has, in the order of the keys', async () => {
    const alice = chain.newAccount(7_000_000n);
    const usd = chain.asset('USD');
    chain.trust(alice.address, usd, { balance: 5n });
    chain.setData(alice.address, 'config.memo_required', Buffer.from('1'));
    const all = chain.head.state.all().filter(({ address }) => address === alice.address);
    const keys = all.map((entry) => keyXdr(entry).toXDR('base64'));
    const missing = keyXdr({ ...chain.account(alice.address), address: chain.newKey().address }).toXDR('base64');
    const answer = await ask('getLedgerEntries', { keys: [missing, ...keys] });
    const entries = answer.entries as { key: string; xdr: string; lastModifiedLedgerSeq: number }[];
    expect(entries.map(({ key }) => key)).toEqual(keys);
    const [account, trust, data] = entries.map((entry) => xdr.LedgerEntryData.fromXDR(entry.xdr, 'base64'));
    expect(account?.account().balance().toString()).toBe('7000000');
    expect(account?.account().numSubEntries()).toBe(2);
    expect(trust?.trustLine().balance().toString()).toBe('5');
    expect(data?.data().dataValue().toString()).toBe('1');
    expect(answer.latestLedger).toBe(chain.head.seq);
  });

  it('takes a transaction once, and refuses what the rules refuse', async () => {
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    const one = [operations.payment(bob.address, 1n)];
    const tx = chain.sign(alice, { operations: one });
    const send = (transaction: string): Promise<Json> => ask('sendTransaction', { transaction });
    expect(await send(tx.base64)).toMatchObject({ status: 'PENDING', hash: tx.txid, latestLedger: chain.head.seq });
    expect(await send(tx.base64)).toMatchObject({ status: 'DUPLICATE' });
    expect(await send(chain.sign(alice, { operations: one }).base64)).toMatchObject({ status: 'TRY_AGAIN_LATER' });
    chain.close();
    const late = await send(tx.base64);
    expect(late).toMatchObject({ status: 'ERROR', hash: tx.txid });
    const result = xdr.TransactionResult.fromXDR(String(late.errorResultXdr), 'base64');
    expect([result.result().switch().name, result.feeCharged().toString()]).toEqual(['txBadSeq', '100']);
    expect(await ask('getTransaction', { hash: tx.txid })).toMatchObject({ status: 'SUCCESS', ledger: chain.head.seq });
  });

  it('refuses calls as a real one does', async () => {
    const { head, firstSeq } = chain;
    const outside = `start ledger must be between the oldest ledger: ${firstSeq} and the latest ledger: ${head.seq}`;
    const range = [-32_600, `${outside} for this rpc instance`];
    expect(await refused('getLedgers', { startLedger: head.seq + 1 })).toEqual(range);
    expect(await refused('getTransactions', {})).toEqual(range);
    const tooMany = { startLedger: head.seq, pagination: { limit: 201 } };
    expect(await refused('getLedgers', tooMany)).toEqual([-32_600, 'limit must not exceed 200']);
    const both = { startLedger: head.seq, pagination: { cursor: '5' } };
    expect(await refused('getLedgers', both)).toEqual([-32_600, 'startLedger and cursor cannot both be set']);
    expect(await refused('getTransaction', { hash: 'ab' })).toEqual([-32_602, 'unexpected hash length (2)']);
    expect(await refused('sendTransaction', { transaction: 'AAAA' })).toEqual([-32_602, 'invalid_xdr']);
    const keys = Array.from({ length: 201 }, () => 'AAAA');
    expect(await refused('getLedgerEntries', { keys })).toEqual([-32_602, expect.stringContaining('key count (201)')]);
    expect((await refused('getLedgerEntries', { keys: ['AAAA'] }))[0]).toBe(-32_602);
    expect((await refused('simulateTransaction'))[0]).toBe(-32_601);
    expect((await fetch(node.config.url)).status).toBe(405);
    expect((await calls.post(node, '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect(await (await calls.post(node, '{')).json()).toMatchObject({ error: { code: -32_700 } });
    expect(await (await calls.post(node, '{"id":1}')).json()).toMatchObject({ error: { code: -32_600 } });
  });
});
