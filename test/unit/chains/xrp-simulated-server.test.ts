import type { XrpFaults } from '../../support/chains/xrp-node/faults.ts';
import { transactionsRoot } from '../../support/chains/xrp-node/ledgers.ts';
import { startXrp, type XrpChain, type XrpNode } from '../../support/chains/xrp-node.ts';

type Json = Record<string, unknown>;

let chain: XrpChain;
let node: XrpNode;

beforeEach(async () => {
  chain = startXrp();
  node = await chain.node();
});

afterEach(() => chain.stop());

async function post(body: string, to = node): Promise<Response> {
  return fetch(to.config.url, { method: 'POST', body });
}

/** The result of a call. */
async function ask(method: string, params: Json = {}, to = node): Promise<Json> {
  const response = await post(JSON.stringify({ method, params: [{ api_version: 2, ...params }] }), to);
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: Json }).result;
}

const askLedger = (index: number | string = 'validated', to = node): Promise<Json> =>
  ask('ledger', { ledger_index: index, transactions: true, expand: true }, to);

describe('a simulated server of the XRP Ledger', () => {
  it('tells its network, its ledgers and its reserves', async () => {
    chain.closeEmpty(4);
    const { hash, header } = chain.head;
    const complete = `${chain.firstIndex}-${header.ledger_index}`;
    const { state } = (await ask('server_state')) as { state: Json };
    expect(state).toMatchObject({ complete_ledgers: complete, network_id: 0, server_state: 'full' });
    expect(state.validated_ledger).toEqual({
      ...{ base_fee: 10, reserve_base: 1_000_000, reserve_inc: 200_000 },
      ...{ close_time: header.close_time, hash, seq: header.ledger_index },
    });
    expect(state).not.toHaveProperty('amendment_blocked');
    const { info } = (await ask('server_info')) as { info: Json };
    const shown = { age: 1, base_fee_xrp: 1e-5, hash, reserve_base_xrp: 1, reserve_inc_xrp: 0.2 };
    expect(info.validated_ledger).toEqual({ ...shown, seq: header.ledger_index });
    const text = await (await post('{"method":"server_info","params":[{"api_version":2}]}')).text();
    expect(text).toContain('"base_fee_xrp":1e-05,');
  });

  it('answers a ledger with its transactions, from which header and root can be computed', async () => {
    const alice = chain.newAccount();
    const txid = chain.pay(chain.bank, alice.address, 5n, { tag: 3 });
    const { hash, header, transactions } = chain.close();
    const answer = await askLedger(header.ledger_index);
    expect(answer).toMatchObject({
      ledger_hash: hash,
      ledger_index: header.ledger_index,
      validated: true,
      status: 'success',
    });
    const { transactions: listed, ...shown } = answer.ledger as { transactions: Json[] };
    const { total_coins, ...numbers } = header;
    expect(shown).toMatchObject({ ...numbers, total_coins: String(total_coins), ledger_hash: hash, closed: true });
    expect(transactionsRoot(transactions)).toBe(header.transaction_hash);
    expect(listed).toEqual([
      {
        close_time_iso: (shown as Json).close_time_iso,
        ...{ hash: txid, ledger_hash: hash, ledger_index: header.ledger_index, validated: true },
        meta: transactions[0]?.meta,
        tx_json: expect.objectContaining({ DeliverMax: '5', DestinationTag: 3, Destination: alice.address }),
      },
    ]);
    expect(listed[0]?.tx_json).not.toHaveProperty('Amount');
    expect(await ask('ledger', { ledger_hash: hash })).toMatchObject({ ledger_index: header.ledger_index });
    const ids = await ask('ledger', { ledger_index: 'validated', transactions: true });
    expect((ids.ledger as Json).transactions).toEqual([txid]);
    expect(await ask('ledger', { ledger_index: 'current' })).toMatchObject({
      ledger: { closed: false },
      validated: false,
    });
  });

  it('answers accounts of a ledger, and of the open one', async () => {
    const alice = chain.newAccount(7_000_000n);
    chain.pay(alice, chain.bank.address, 1n);
    const asked = { account: alice.address };
    const validated = await ask('account_info', { ...asked, ledger_index: 'validated' });
    expect(validated).toMatchObject({ validated: true, ledger_index: chain.head.header.ledger_index });
    expect(validated.account_data).toMatchObject({ Balance: '7000000', Flags: 0, OwnerCount: 0 });
    const open = await ask('account_info', asked);
    expect(open).toMatchObject({ validated: false, ledger_current_index: chain.openIndex });
    expect(open.account_data).toMatchObject({ Balance: '6999989' });
    const { header } = chain.head;
    const unknown = await ask('account_info', { account: chain.newKey().address, ledger_index: header.ledger_index });
    expect(unknown).toMatchObject({ status: 'error', error: 'actNotFound', error_code: 19, validated: true });
    expect(await ask('account_info', { account: 'rWrong' })).toMatchObject({ error: 'actMalformed', error_code: 35 });
    expect(await ask('account_info', { ...asked, ledger_index: 5 })).toMatchObject({
      error: 'lgrNotFound',
      error_code: 21,
    });
  });

  it('lists tickets by pages', async () => {
    const alice = chain.newAccount();
    const tickets = chain.makeTickets(alice.address, 25);
    const asked = { account: alice.address, type: 'ticket', ledger_index: 'validated', limit: 10 };
    const found: unknown[] = [];
    const sizes: number[] = [];
    for (let marker: unknown, isMore = true; isMore; isMore = marker !== undefined) {
      const page = (await ask('account_objects', marker === undefined ? asked : { ...asked, marker })) as {
        account_objects: Json[];
        marker?: unknown;
      };
      found.push(...page.account_objects.map(({ TicketSequence }) => TicketSequence));
      sizes.push(page.account_objects.length);
      ({ marker } = page);
    }
    expect(sizes).toEqual([10, 10, 5]);
    expect(found).not.toEqual(tickets);
    expect(found.toSorted()).toEqual(tickets);
    expect(await ask('account_objects', { ...asked, marker: 'x' })).toMatchObject({ error: 'invalidParams' });
    expect(await ask('account_objects', { ...asked, type: 'check' })).toMatchObject({ account_objects: [] });
  });

  it('tells who may pay, and what it costs', async () => {
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    const asked = { source_account: alice.address, destination_account: bob.address, ledger_index: 'validated' };
    expect(await ask('deposit_authorized', asked)).toMatchObject({ deposit_authorized: true, validated: true });
    chain.setAccount(bob.address, { flags: 0x01000000 });
    expect(await ask('deposit_authorized', asked)).toMatchObject({ deposit_authorized: false });
    const missing = { ...asked, destination_account: chain.newKey().address };
    expect(await ask('deposit_authorized', missing)).toMatchObject({ error: 'dstActNotFound' });
    chain.openFee = 5_120n;
    expect(await ask('fee')).toMatchObject({ drops: { base_fee: '10', open_ledger_fee: '5120', minimum_fee: '10' } });
  });

  it('takes a transaction, and shows it before and after a ledger holds it', async () => {
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    const members = { TransactionType: 'Payment', Destination: bob.address, Amount: '5' };
    const { blob, txid } = chain.sign(alice, members);
    const sent = await ask('submit', { tx_blob: blob, fail_hard: true });
    expect(sent).toMatchObject({ engine_result: 'tesSUCCESS', engine_result_code: 0, accepted: true, applied: true });
    expect(sent).toMatchObject({ tx_blob: blob, tx_json: { hash: txid, DeliverMax: '5' }, queued: false });
    const waiting = await ask('tx', { transaction: txid });
    expect(waiting).toMatchObject({ hash: txid, validated: false });
    expect(waiting).not.toHaveProperty('meta');
    const { header, hash } = chain.close();
    const found = await ask('tx', { transaction: txid.toLowerCase() });
    expect(found).toMatchObject({ validated: true, ledger_index: header.ledger_index, ledger_hash: hash });
    expect(found).toMatchObject({ meta: { TransactionResult: 'tesSUCCESS', delivered_amount: '5' } });
    const again = await ask('submit', { tx_blob: blob, fail_hard: true });
    expect(again).toMatchObject({ engine_result: 'tefPAST_SEQ', engine_result_code: -190, accepted: false });
    const broken = await ask('submit', { tx_blob: blob.replace(/.$/, (last) => (last === '0' ? '1' : '0')) });
    expect(broken).toMatchObject({ status: 'error', error: 'invalidTransaction' });
    expect(await ask('submit', { tx_blob: 'xyz' })).toMatchObject({ error: 'invalidParams', error_code: 31 });
  });

  it('says whether it searched a range of ledgers', async () => {
    chain.closeEmpty(20);
    const { firstIndex: first } = chain;
    const search = (min_ledger: number, max_ledger: number): Promise<Json> =>
      ask('tx', { transaction: 'AB'.repeat(32), min_ledger, max_ledger });
    expect(await search(first, first + 20)).toMatchObject({ error: 'txnNotFound', error_code: 29, searched_all: true });
    expect(await search(first, first + 21)).toMatchObject({ searched_all: false });
    node.faults = { gap: [first + 5, first + 6] };
    expect(await search(first, first + 4)).toMatchObject({ searched_all: true });
    expect(await search(first + 6, first + 8)).toMatchObject({ searched_all: false });
    expect(await search(first + 8, first)).toMatchObject({ error: 'invalidLgrRange' });
    expect(await search(first, first + 1_001)).toMatchObject({ error: 'excessiveLgrRange' });
    expect(await ask('tx', { transaction: 'AB'.repeat(32) })).not.toHaveProperty('searched_all');
  });

  it('refuses what is no call', async () => {
    expect((await post('{')).status).toBe(400);
    expect((await post('{"params":[{}]}')).status).toBe(400);
    expect((await fetch(node.config.url)).status).toBe(405);
    expect(await ask('sign')).toMatchObject({ error: 'unknownCmd', error_code: 32 });
    expect(await ask('fee', { api_version: 1 })).toMatchObject({ error: 'invalid_API_version' });
  });
});

describe('a simulated server with a fault', () => {
  let txid: string;

  beforeEach(() => {
    const alice = chain.newAccount();
    chain.pay(chain.bank, alice.address, 1n);
    chain.close();
    txid = chain.pay(chain.bank, alice.address, 5n);
    chain.pay(chain.bank, alice.address, 6n);
    chain.close();
  });

  const listed = (answer: Json): Json[] => (answer.ledger as { transactions: Json[] }).transactions;

  it('differs from another one over the same ledgers', async () => {
    chain.closeEmpty(2);
    const other = await chain.node({ networkId: 1, lag: 2, prunesBelow: chain.firstIndex + 1 });
    const { state } = (await ask('server_state', {}, other)) as { state: Json };
    const last = chain.head.header.ledger_index - 2;
    expect(state).toMatchObject({ network_id: 1, complete_ledgers: `${chain.firstIndex + 1}-${last}` });
    expect(await askLedger(chain.firstIndex, other)).toMatchObject({ error: 'lgrNotFound' });
    expect(await askLedger(last + 1, other)).toMatchObject({ error: 'lgrNotFound' });
    expect(await askLedger(last + 1)).toMatchObject({ status: 'success' });
    expect(await ask('tx', { transaction: txid }, other)).toMatchObject({ validated: true });
    other.faults = { lag: 3 };
    expect(await ask('tx', { transaction: txid }, other)).toMatchObject({ error: 'txnNotFound' });
    other.faults = { networkId: null, stuckAt: last, gap: [last - 1, last - 1] };
    chain.closeEmpty(10);
    const stuck = ((await ask('server_info', {}, other)) as { info: Json }).info;
    expect(stuck).not.toHaveProperty('network_id');
    expect(stuck).toMatchObject({
      complete_ledgers: `${chain.firstIndex}-${last - 2},${last}`,
      validated_ledger: { age: 49, seq: last },
    });
    other.faults = { chain: startXrp({ seed: 'another' }) };
    expect((await askLedger('validated', other)).ledger_hash).not.toBe(chain.head.hash);
  });

  it.each<[XrpFaults['ledger'], (ledger: Json) => unknown, unknown]>([
    ['hash', ({ ledger_hash }) => ledger_hash !== chain.head.hash, true],
    ['parent', ({ parent_hash }) => parent_hash !== chain.head.header.parent_hash, true],
    ['root', ({ transaction_hash }) => transaction_hash !== chain.head.header.transaction_hash, true],
    ['time', ({ close_time }) => close_time, 1],
    [
      'fork',
      ({ ledger_hash, parent_hash }) => ledger_hash !== chain.head.hash && parent_hash !== chain.head.hash,
      true,
    ],
    ['lack', ({ transactions }) => (transactions as []).length, 1],
    ['repeat', ({ transactions }) => (transactions as []).length, 3],
    ['foreign', ({ transactions }) => new Set((transactions as Json[]).map(({ hash }) => hash)).size, 3],
    ['txid', ({ transactions }) => (transactions as Json[])[0]?.hash !== txid, true],
  ])('tells another %s of a ledger', async (fault, part, expected) => {
    node.faults = { ...(fault ? { ledger: fault } : {}) };
    const told = part((await askLedger()).ledger as Json);
    expect(fault === 'time' ? Number(told) - chain.head.header.close_time : told).toBe(expected);
  });

  it.each<[NonNullable<XrpFaults['delivered']>, unknown]>([
    ['missing', undefined],
    ['unavailable', 'unavailable'],
    ['more', '5000000'],
    ['tokens', { currency: 'USD', issuer: 'rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B', value: '5' }],
    ['number', 5],
    ['negative', '-5'],
  ])('tells %s of what was delivered', async (delivered, expected) => {
    node.faults = { delivered };
    const [first] = listed(await askLedger());
    expect((first?.meta as Json).delivered_amount).toEqual(expected);
    expect(((await ask('tx', { transaction: txid })).meta as Json).delivered_amount).toEqual(expected);
  });

  it('forgets, pretends, and calls nothing validated', async () => {
    node.faults = { forgets: [txid], searchedAll: true };
    const range = { min_ledger: 1, max_ledger: 2 };
    expect(await ask('tx', { transaction: txid, ...range })).toMatchObject({
      error: 'txnNotFound',
      searched_all: true,
    });
    const waiting = chain.pay(chain.bank, chain.newKey().address, 1_000_000n);
    node.faults = { pool: 'as-validated' };
    expect(await ask('tx', { transaction: waiting })).toMatchObject({
      validated: true,
      ledger_index: expect.anything(),
    });
    node.faults = { pool: 'hidden' };
    expect(await ask('tx', { transaction: waiting })).toMatchObject({ error: 'txnNotFound' });
    node.faults = { validated: false };
    expect(await askLedger()).toMatchObject({ validated: false, ledger: { transactions: [{ validated: false }, {}] } });
    node.faults = { validated: 'missing' };
    expect(await ask('tx', { transaction: txid })).not.toHaveProperty('validated');
  });

  it('swallows a transaction, or refuses one that it takes', async () => {
    const members = { TransactionType: 'Payment', Destination: chain.newKey().address, Amount: '1000000' };
    const { blob, txid: sent } = chain.sign(chain.bank, members);
    node.faults = { submit: { reaches: false } };
    expect(await ask('submit', { tx_blob: blob })).toMatchObject({ engine_result: 'tesSUCCESS', applied: true });
    expect(chain.pool.has(sent)).toBe(false);
    node.faults = { submit: { result: 'tefFAILURE' } };
    expect(await ask('submit', { tx_blob: blob })).toMatchObject({
      engine_result: 'tefFAILURE',
      engine_result_code: -199,
    });
    expect(chain.pool.has(sent)).toBe(true);
    node.faults = { amendmentBlocked: true };
    expect(await ask('submit', { tx_blob: blob })).toMatchObject({ error: 'amendmentBlocked', error_code: 14 });
    expect(await ask('server_state')).toMatchObject({ state: { amendment_blocked: true } });
  });

  it('is busy, or cuts its answers off', async () => {
    node.faults = { error: 'tooBusy', methods: /^ledger$/ };
    expect(await askLedger()).toMatchObject({ status: 'error', error: 'tooBusy', error_code: 9 });
    expect(await ask('fee')).toMatchObject({ status: 'success' });
    const call = '{"method":"ledger","params":[{"api_version":2,"ledger_index":"validated"}]}';
    node.faults = { transport: 503 };
    expect((await post(call)).status).toBe(503);
    for (const transport of ['half', 'empty', 'html'] as const) {
      node.faults = { transport };
      const text = await (await post(call)).text();
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
  });

  it('has huge numbers, hostile texts and other answers', async () => {
    node.faults = { huge: true };
    const text = await (await post('{"method":"server_state","params":[{"api_version":2}]}')).text();
    expect(text).toContain('"base_fee":9223372036854775807,');
    node.faults = { texts: 'odd' };
    expect((await ask('tx', { transaction: 'AB'.repeat(32) })).error_message).toContain('</script>');
    node.faults = { texts: 'long' };
    expect(((await ask('server_state')).state as Json).build_version).toHaveLength(1_000_000);
    node.faults = { rewrite: (method) => ({ method }) };
    expect(await ask('fee')).toEqual({ method: 'fee' });
    node.faults = { before: () => chain.closeEmpty() };
    const { ledger_index: first } = await askLedger();
    expect((await askLedger()).ledger_index).toBe(Number(first) + 1);
    expect(node.asked).toContain('server_state');
  });
});
