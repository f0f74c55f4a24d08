import { encodeRippleClassic } from '../../../src/chains/addresses/ripple.ts';
import { XrpNode } from '../../../src/chains/xrp/xrp-node.ts';
import { hasLedgers } from '../../../src/chains/xrp/xrp-state.ts';

const ours = encodeRippleClassic(new Uint8Array(20).fill(1));
const theirs = encodeRippleClassic(new Uint8Array(20).fill(2));
const txid = 'AB'.repeat(32);

interface Asked {
  readonly method: string;
  readonly params: readonly Readonly<Record<string, unknown>>[];
}

/** A server that gives these results, one for each question. */
function server(...results: readonly unknown[]): { readonly node: XrpNode; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const post = async (_path: string, body: unknown): Promise<unknown> => {
    asked.push(body as Asked);
    return { result: results[asked.length - 1] };
  };
  return { node: new XrpNode({ name: 'http://server', post }), asked };
}

const good = (members: object): object => ({ status: 'success', validated: true, ...members });
const refusal = (error: string, members: object = {}): object => ({ status: 'error', error, ...members });

const state = {
  network_id: '0',
  complete_ledgers: '90-95,100-120',
  validated_ledger: {
    seq: '120',
    hash: txid,
    close_time: '819429360',
    base_fee: '10',
    reserve_base: '1000000',
    reserve_inc: '200000',
  },
};
const account = { Account: ours, Balance: '5000000', Sequence: '7', OwnerCount: '2', Flags: '0' };
const ticket = (sequence: number) => ({ LedgerEntryType: 'Ticket', Account: ours, TicketSequence: String(sequence) });

describe('the state of a server', () => {
  test('is read in drops and milliseconds', async () => {
    const { node, asked } = server(good({ state }));
    expect(await node.state()).toEqual({
      networkId: 0,
      isBlocked: false,
      ranges: [
        [90, 95],
        [100, 120],
      ],
      head: { height: 120, hash: txid, timeMs: Date.UTC(2025, 11, 19, 3, 16) },
      baseFee: 10n,
      reserveBase: 1_000_000n,
      reserveStep: 200_000n,
    });
    expect(asked).toEqual([{ method: 'server_state', params: [{ api_version: 2 }] }]);
  });

  test('tells which ledgers it has, to the last one', () => {
    const ranges = [
      [90, 95],
      [100, 120],
    ] as const;
    expect(hasLedgers({ ranges }, 100, 120)).toBe(true);
    expect(hasLedgers({ ranges }, 99, 120)).toBe(false);
    expect(hasLedgers({ ranges }, 100, 121)).toBe(false);
    expect(hasLedgers({ ranges }, 95, 100)).toBe(false);
    expect(hasLedgers({ ranges: [] }, 1, 1)).toBe(false);
  });

  test.each([
    ['a single ledger', '7', [[7, 7]]],
    ['no ledger', 'empty', []],
  ])('has %s', async (_, ranges, found) => {
    const { node } = server(good({ state: { ...state, complete_ledgers: ranges } }));
    expect((await node.state()).ranges).toEqual(found);
  });

  test('knows no network without a number, and a server that is out of date', async () => {
    const { network_id: _, ...rest } = state;
    const { node } = server(good({ state: { ...rest, amendment_blocked: true } }));
    expect(await node.state()).toMatchObject({ networkId: null, isBlocked: true });
  });

  test.each([
    ['no state', {}],
    ['no validated ledger', { state: { ...state, validated_ledger: undefined } }],
    ['ranges of three', { state: { ...state, complete_ledgers: '1-2-3' } }],
    ['ranges of words', { state: { ...state, complete_ledgers: 'all' } }],
    ['ranges without end', { state: { ...state, complete_ledgers: `1${',1'.repeat(6_000)}` } }],
    [
      'an index above the database',
      { state: { ...state, validated_ledger: { ...state.validated_ledger, seq: '2147483648' } } },
    ],
    [
      'a fee with a fraction',
      { state: { ...state, validated_ledger: { ...state.validated_ledger, base_fee: '1e-05' } } },
    ],
  ])('with %s is unsound', async (_, members) => {
    const { node } = server(good(members));
    await expect(node.state()).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('an account', () => {
  test('is read from a validated ledger', async () => {
    const { node, asked } = server(good({ account_data: { ...account, Flags: String(0x00020000 + 0x01000000) } }));
    expect(await node.account(ours)).toEqual({
      balance: 5_000_000n,
      sequence: 7,
      owned: 2,
      requiresTag: true,
      asksSenders: true,
      isMasterOff: false,
      isPseudo: false,
    });
    expect(asked[0]?.params[0]).toMatchObject({ account: ours, ledger_index: 'validated' });
  });

  test.each([
    ['its key is off', { Flags: String(0x00100000) }, { isMasterOff: true }],
    ['it belongs to a pool', { AMMID: txid }, { isPseudo: true }],
    ['it belongs to a vault', { VaultID: txid }, { isPseudo: true }],
  ])('tells that %s', async (_, change, found) => {
    const { node } = server(good({ account_data: { ...account, ...change } }));
    expect(await node.account(ours)).toMatchObject(found);
  });

  test('that does not exist is null', async () => {
    expect(await server(refusal('actNotFound')).node.account(ours)).toBeNull();
  });

  test.each([
    ['of another address', good({ account_data: { ...account, Account: theirs } })],
    ['of a ledger that is not validated', { status: 'success', account_data: account }],
    ['without a balance', good({ account_data: { ...account, Balance: undefined } })],
    ['of another currency', good({ account_data: { ...account, Balance: { value: '1' } } })],
  ])('%s is unsound', async (_, answer) => {
    await expect(server(answer).node.account(ours)).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('tickets', () => {
  test('of several pages are read to their end, the smallest first', async () => {
    const { node, asked } = server(
      good({ account_objects: [ticket(9), ticket(3)], marker: 'next' }),
      good({ account_objects: [ticket(5)] }),
    );
    expect(await node.tickets(ours)).toEqual([3, 5, 9]);
    expect(asked.map(({ params }) => params[0]?.marker)).toEqual([undefined, 'next']);
  });

  test('end, also when a server never stops', async () => {
    const page = good({ account_objects: [ticket(1)], marker: 'next' });
    const { node, asked } = server(page, page, page, page, page);
    await expect(node.tickets(ours)).rejects.toMatchObject({ code: 'unsound_answer' });
    expect(asked).toHaveLength(3);
  });

  test.each([
    ['of another account', { ...ticket(1), Account: theirs }],
    ['that are something else', { ...ticket(1), LedgerEntryType: 'Offer' }],
    ['without a number', { ...ticket(1), TicketSequence: undefined }],
  ])('%s are unsound', async (_, item) => {
    const { node } = server(good({ account_objects: [item] }));
    await expect(node.tickets(ours)).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('a transaction', () => {
  const found = { hash: txid, tx_json: { Fee: '10' }, meta: { TransactionResult: 'tesSUCCESS' }, ledger_index: '8' };

  test('in a validated ledger has its height', async () => {
    expect(await server(good(found)).node.tx(txid)).toMatchObject({ txid, height: 8, meta: found.meta });
  });

  test('that waits has none, also with a result that is foretold', async () => {
    const { node } = server({ ...good(found), validated: false });
    expect(await node.tx(txid)).toEqual({ txid, tx: found.tx_json, meta: {}, height: null });
  });

  test('that is unknown is null once all ledgers were searched', async () => {
    const { node, asked } = server(refusal('txnNotFound', { searched_all: true }));
    expect(await node.tx(txid, { first: 5, last: 9 })).toBeNull();
    expect(asked[0]?.params[0]).toMatchObject({ transaction: txid, min_ledger: 5, max_ledger: 9 });
  });

  test.each([
    [{ searched_all: false }],
    [{}],
    [{ searched_all: 'true' }],
  ])('is not absent where not all ledgers were searched: %j', async (members) => {
    const { node } = server(refusal('txnNotFound', members));
    await expect(node.tx(txid, { first: 5, last: 9 })).rejects.toMatchObject({ code: 'no_index' });
  });

  test.each([
    ['another one', good({ ...found, hash: 'CD'.repeat(32) })],
    ['one without a result', good({ ...found, meta: undefined })],
    ['one without a ledger', good({ ...found, ledger_index: undefined })],
  ])('is unsound as %s', async (_, answer) => {
    await expect(server(answer).node.tx(txid)).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('a broadcast', () => {
  test.each([
    ['tesSUCCESS', { outcome: 'accepted', code: null }],
    ['terQUEUED', { outcome: 'accepted', code: 'terQUEUED' }],
    ['terPRE_TICKET', { outcome: 'accepted', code: 'terPRE_TICKET' }],
    ['tefALREADY', { outcome: 'known', code: 'tefALREADY' }],
    ['tefPAST_SEQ', { outcome: 'known', code: 'tefPAST_SEQ' }],
    ['tefNO_TICKET', { outcome: 'known', code: 'tefNO_TICKET' }],
    ['tefMAX_LEDGER', { outcome: 'uncertain', code: 'tefMAX_LEDGER' }],
    ['telINSUF_FEE_P', { outcome: 'uncertain', code: 'telINSUF_FEE_P' }],
    ['tecUNFUNDED_PAYMENT', { outcome: 'uncertain', code: 'tecUNFUNDED_PAYMENT' }],
    ['temBAD_FEE', { outcome: 'rejected', code: 'temBAD_FEE' }],
    ['tefBAD_AUTH', { outcome: 'rejected', code: 'tefBAD_AUTH' }],
  ])('that is answered %s is a hint', async (engine_result, hint) => {
    expect(await server({ status: 'success', engine_result }).node.submit('00')).toEqual(hint);
  });

  test('without a word is unsound', async () => {
    const { node } = server({ status: 'success', engine_result: '<script>' });
    await expect(node.submit('00')).rejects.toMatchObject({ code: 'unsound_answer' });
  });
});

describe('refusals', () => {
  test.each(['tooBusy', 'slowDown', 'noNetwork', 'noCurrent', 'noClosed'])('%s is a busy server', async (word) => {
    await expect(server(refusal(word)).node.openFee()).rejects.toMatchObject({ code: 'busy' });
  });

  test.each([['amendmentBlocked'], ['unknownCmd']])('%s names the question', async (word) => {
    await expect(server(refusal(word)).node.openFee()).rejects.toMatchObject({
      code: 'node_refused',
      message: expect.stringContaining(`refuses fee: ${word}`),
    });
  });

  test('a hostile word is not repeated', async () => {
    await expect(server(refusal('\u001b[2J'.repeat(1_000))).node.openFee()).rejects.toThrow('refuses fee: no word');
  });

  test.each([[null], [undefined], [[]], ['success'], [{ status: 'success' }]])('%j is unsound', async (answer) => {
    const error = await server(answer)
      .node.openFee()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ChainError' });
  });
});

test('the fee of the open ledger is in drops', async () => {
  expect(await server(good({ drops: { open_ledger_fee: '5000' } })).node.openFee()).toBe(5_000n);
});

test.each([[true], [false]])('whether an account takes payments of a sender: %p', async (deposit_authorized) => {
  const { node, asked } = server(good({ deposit_authorized }));
  expect(await node.takesFrom(theirs, ours)).toBe(deposit_authorized);
  expect(asked[0]?.params[0]).toMatchObject({ source_account: ours, destination_account: theirs });
});

test('a ledger that is not there yet is null', async () => {
  expect(await server(refusal('lgrNotFound')).node.ledger(9)).toBeNull();
});
