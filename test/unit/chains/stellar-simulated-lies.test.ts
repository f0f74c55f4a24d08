import { xdr } from '@stellar/stellar-base';
import * as calls from '../../support/chains/stellar-calls.ts';
import { accountFromXdr, keyXdr } from '../../support/chains/stellar-node/entries.ts';
import type { LedgerFault, StellarFaults } from '../../support/chains/stellar-node/faults.ts';
import type { StellarKey } from '../../support/chains/stellar-node/keys.ts';
import { operations } from '../../support/chains/stellar-node/operations.ts';
import { decodeTransaction, signedBy } from '../../support/chains/stellar-node/transaction.ts';
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

describe('a simulated server of Stellar that lies', () => {
  let alice: StellarKey;
  let txid: string;

  beforeEach(() => {
    alice = chain.newAccount();
    chain.pay(chain.bank, alice.address, 4n);
    chain.close();
    chain.pay(alice, chain.bank.address, 3n);
    txid = chain.pay(chain.bank, alice.address, 5n);
    chain.close();
  });

  it.each<[LedgerFault, string[]]>([
    ['hash', ['hash']],
    ['parent', ['hash', 'parent']],
    ['time', ['hash']],
    ['fork', ['parent']],
    ['lack', ['set', 'results']],
    ['repeat', ['set', 'results']],
    ['foreign', ['set', 'results']],
    ['unlisted', ['results', 'ids']],
    ['envelope', ['set', 'ids']],
    ['result', ['results']],
    ['meta', []],
  ])('shows a ledger whose %s is wrong', async (ledger, faults) => {
    const parent = chain.at(chain.head.seq - 1)?.hash ?? '';
    const honest = await askLedger();
    node.faults = { ledger };
    const listed = await askLedger();
    expect(calls.faultsOf(listed, parent, chain.passphrase)).toEqual(faults);
    expect(listed.ledger.metadataXdr).not.toBe(honest.ledger.metadataXdr);
    const counts = { lack: 1, unlisted: 1, repeat: 3, foreign: 3 } as Partial<Record<LedgerFault, number>>;
    expect(calls.idsInResults(listed)).toHaveLength(counts[ledger] ?? 2);
    node.faults = {};
    expect((await askLedger()).ledger).toEqual(honest.ledger);
  });

  it('changes a transaction also where it is asked for by its id', async () => {
    const honest = await ask('getTransaction', { hash: txid });
    node.faults = { ledger: 'meta' };
    const meta = await ask('getTransaction', { hash: txid });
    expect(meta).toMatchObject({ status: 'SUCCESS', envelopeXdr: honest.envelopeXdr, resultXdr: honest.resultXdr });
    const changes =
      xdr.TransactionMeta.fromXDR(String(meta.resultMetaXdr), 'base64').v4().operations()[0]?.changes() ?? [];
    const accounts = changes
      .filter((one) => one.switch().name === 'ledgerEntryUpdated')
      .map((one) => accountFromXdr(one.updated()));
    expect(accounts.find(({ address }) => address === alice.address)?.balance).toBe(
      chain.balance(alice.address) + 1_000_000_000n,
    );
    node.faults = { ledger: 'envelope' };
    const envelope = decodeTransaction((await ask('getTransaction', { hash: txid })).envelopeXdr, chain.passphrase);
    expect(envelope.operations[0]?.body().paymentOp().amount().toString()).toBe('5000');
    expect(signedBy(envelope, [chain.bank.address]).size).toBe(0);
    node.faults = { ledger: 'result' };
    expect(await ask('getTransaction', { hash: txid })).toMatchObject({ status: 'FAILED' });
  });

  it('serves another network, or says so', async () => {
    const other = startStellar({ passphrase: 'Another Network ; 2026', firstSeq: 5 });
    node.faults = { chain: other };
    expect(await ask('getLatestLedger')).toMatchObject({ sequence: 5, id: other.head.hash });
    expect(await ask('getNetwork')).toMatchObject({ passphrase: 'Another Network ; 2026' });
    node.faults = { passphrase: 'Public', protocolVersion: 99 };
    expect(await ask('getNetwork')).toEqual({ passphrase: 'Public', protocolVersion: 99 });
  });

  it('is behind, stands still, forgets old ledgers or lacks some', async () => {
    const { head, firstSeq } = chain;
    node.faults = { lag: 1 };
    expect(await ask('getLatestLedger')).toMatchObject({ sequence: head.seq - 1 });
    expect(await ask('getTransaction', { hash: txid })).toMatchObject({ status: 'NOT_FOUND' });
    node.faults = { stuckAt: head.seq };
    chain.closeEmpty(7);
    expect((await refused('getHealth'))[1]).toContain('latency (35s)');
    expect(await ask('getLatestLedger')).toMatchObject({ sequence: head.seq });
    node.faults = { oldest: head.seq + 1 };
    expect(await ask('getTransaction', { hash: txid })).toMatchObject({
      status: 'NOT_FOUND',
      oldestLedger: head.seq + 1,
    });
    expect((await refused('getLedgers', { startLedger: head.seq }))[0]).toBe(-32_600);
    node.faults = { gap: [firstSeq + 1, head.seq] };
    const { ledgers } = await ask('getLedgers', { startLedger: firstSeq, pagination: { limit: 6 } });
    expect((ledgers as calls.LedgerJson[]).map(({ sequence }) => sequence - firstSeq)).toEqual([0, 4, 5]);
    expect(await refused('getTransactions', { startLedger: firstSeq })).toEqual([
      ...[-32_602, `database does not contain metadata for ledger: ${firstSeq + 1}`],
    ]);
    node.faults = { unhealthy: true };
    expect((await refused('getHealth'))[0]).toBe(-32_603);
  });

  it('lies about transactions', async () => {
    const about = (hash: string): Promise<Json> => ask('getTransaction', { hash });
    node.faults = { forgets: [txid] };
    expect(await about(txid)).toMatchObject({ status: 'NOT_FOUND' });
    expect(calls.idsInResults(await askLedger())).toContain(txid);
    node.faults = { status: 'FAILED' };
    expect(await about(txid)).toMatchObject({ status: 'FAILED', ledger: chain.head.seq });
    node.faults = { status: 'SUCCESS' };
    expect(await about('ab'.repeat(32))).toMatchObject({ status: 'SUCCESS', txHash: 'ab'.repeat(32) });
    node.faults = { createdAt: 1 };
    expect(await about(txid)).toMatchObject({ createdAt: '1' });
    const { base64, txid: sent } = chain.sign(alice, { operations: [operations.payment(chain.bank.address, 1n)] });
    node.faults = { send: { reaches: false } };
    expect(await ask('sendTransaction', { transaction: base64 })).toMatchObject({ status: 'PENDING' });
    expect(chain.pool.has(sent)).toBe(false);
    node.faults = { send: { status: 'ERROR', code: 'txInsufficientFee' } };
    expect(await ask('sendTransaction', { transaction: base64 })).toMatchObject({ status: 'ERROR' });
    expect(chain.pool.has(sent)).toBe(true);
  });

  it('lies about entries', async () => {
    const keys = [keyXdr(chain.account(alice.address)).toXDR('base64')];
    const shown = async (entries: NonNullable<StellarFaults['entries']>): Promise<string[][]> => {
      node.faults = { entries };
      const answer = (await ask('getLedgerEntries', { keys })) as { entries: { key: string; xdr: string }[] };
      return answer.entries.map((one) => {
        const data = xdr.LedgerEntryData.fromXDR(one.xdr, 'base64').account();
        return [one.key === keys[0] ? 'asked' : 'other', data.balance().toString()];
      });
    };
    const [own, bank] = [alice, chain.bank].map(({ address }) => String(chain.balance(address)));
    expect(await shown('huge')).toEqual([['asked', String(2n ** 63n - 1n)]]);
    expect(await shown('other')).toEqual([['other', bank]]);
    expect(await shown('swapped')).toEqual([['asked', bank]]);
    expect(await shown('more')).toEqual([
      ['asked', own],
      ['other', bank],
    ]);
    expect(await shown('none')).toEqual([]);
  });

  it('answers with false numbers, odd texts, errors, or what a test wants', async () => {
    const { seq, closeTime } = chain.head;
    const latest = async (faults: StellarFaults): Promise<Json> => {
      node.faults = faults;
      return ask('getLatestLedger');
    };
    expect(await latest({ numbers: 'text' })).toMatchObject({ sequence: String(seq), closeTime });
    expect(await latest({ numbers: 'float' })).toMatchObject({ sequence: seq + 0.5, closeTime: `${closeTime}.5` });
    expect(await latest({ numbers: 'negative' })).toMatchObject({ sequence: -seq, closeTime: `-${closeTime}` });
    expect(await latest({ numbers: 'huge' })).toMatchObject({ closeTime: '9'.repeat(60) });
    expect(await latest({ rewrite: (method) => ({ method }) })).toEqual({ method: 'getLatestLedger' });
    node.faults = { texts: 'odd' };
    expect((await ask('getNetwork')).passphrase).toContain('\u0000');
    expect(String((await refused('getTransaction'))[1])).toContain('</script>');
    node.faults = { error: 'internal', methods: /^getNetwork$/ };
    expect((await refused('getNetwork'))[0]).toBe(-32_603);
    expect(await ask('getHealth')).toMatchObject({ status: 'healthy' });
    node.faults = { before: () => chain.closeEmpty() };
    expect(await ask('getLatestLedger')).toMatchObject({ sequence: seq + 1 });
  });

  it.each([429, 500, 503, 'html', 'empty', 'half'] as const)('fails altogether: %s', async (transport) => {
    node.faults = { transport, methods: /^getHealth$/ };
    const response = await calls.post(node, '{"jsonrpc":"2.0","id":1,"method":"getHealth"}');
    expect(response.status).toBe(typeof transport === 'number' ? transport : 200);
    const text = await response.text();
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(await ask('getNetwork')).toMatchObject({ protocolVersion: 23 });
  });
});
