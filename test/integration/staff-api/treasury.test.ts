import { WatchedGateway } from '../../support/exchanges/watched-account.ts';
import { sampleOf } from '../../support/http/exposition.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

const stranger = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
let watched: WatchedGateway;
let viewer: Member;
let support: Member;
let operator: Member;
let second: Member;

async function start(): Promise<void> {
  watched = await WatchedGateway.start();
  viewer = await newMember(watched.gateway, 'viewer');
  support = await newMember(watched.gateway, 'support');
  operator = await newMember(watched.gateway, 'operator');
  second = await newMember(watched.gateway, 'operator');
}

const accounts = `{ treasury { accounts {
  venue isWatched watchedFrom openedAt listedAt balancesAt failingSince failure
  balances { coin total free comparedTotal booked inFlight difference comparedAt readAt differing differingSince isClassifiable } } } }`;
const transfers = `query ($state: [TreasuryTransferState!], $first: Int, $after: String) { treasury {
  transfers(state: $state, first: $first, after: $after) {
    edges { cursor node { id venue movementKind reference coin network chain state amount bookedAmount bookedFee arrived
                          writtenOff gas problem isClassifiable explorerUrl arrivals { txid amount state } movement { id txid told } } }
    pageInfo { hasNextPage hasPreviousPage endCursor } } } }`;
const movements = `query ($venue: String, $kind: VenueMovementKind, $part: VenueMovementPart, $coin: String,
                          $first: Int, $after: String, $last: Int, $before: String) {
  venueMovements(venue: $venue, kind: $kind, part: $part, coin: $coin, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id venue kind reference coin network txid isInternal address tag amount fee state told at part isClassifiable
                          transfer { state } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

async function referencesOf(variables: Record<string, unknown> = {}, by = viewer): Promise<string[]> {
  const { venueMovements } = await by.data(movements, variables);
  return venueMovements.edges.map(({ node }: { node: { reference: string } }) => node.reference);
}

/** Coins, movements and transfers that members may classify now, as the page offers them. */
async function classifiable(): Promise<string[]> {
  type Offered = { isClassifiable: boolean; coin: string; reference: string };
  const [account] = (await viewer.data(accounts)).treasury.accounts;
  const listed = [(await viewer.data(movements)).venueMovements, (await viewer.data(transfers)).treasury.transfers];
  const nodes: Offered[] = listed.flatMap(({ edges }) => edges.map(({ node }: { node: Offered }) => node));
  const offered = (all: Offered[]) => all.filter(({ isClassifiable }) => isClassifiable);
  return [...offered(account.balances).map(({ coin }) => coin), ...offered(nodes).map(({ reference }) => reference)];
}

const propose = (by: Member) =>
  by.ask(`mutation { venueOpeningPropose(venue: "kraken", reason: "checked with its page") {
    id action state venue movementKind reference coin amount class order { id } } }`);
const classify = (by: Member, subject: string, as: string, venue = 'kraken') =>
  by.ask(`mutation { treasuryClassify(venue: "${venue}", ${subject}, class: ${as}, reason: "asked around") {
    id action state venue movementKind reference coin amount class } }`);
const approve = (by: Member, id: string) =>
  by.ask(`mutation { actionApprove(id: "${id}", reason: "right") { state } }`);
const items = async (): Promise<{ kind: string; subjectId: string; detail: string }[]> => {
  const { attention } = await viewer.data('{ attention { kind subjectId detail } }');
  return attention.filter(({ kind }: { kind: string }) => /^(VENUE|TRANSFER)_/.test(kind));
};
/** One member proposes, and another one approves. */
async function decide(subject: string, as: string): Promise<void> {
  const { data } = await classify(operator, subject, as);
  await approve(second, data.treasuryClassify.id);
}
const metrics = async (): Promise<string> => (await fetch(`${watched.gateway.app.internalUrl}/metrics`)).text();

describe('an account at the exchange that is not in the books', () => {
  beforeEach(start);
  afterEach(() => watched?.stop());

  it('is shown before and after two members take it into the books', async () => {
    const unread = (await viewer.data(accounts)).treasury.accounts;
    expect(unread).toEqual([
      {
        venue: 'kraken',
        isWatched: true,
        watchedFrom: expect.any(String),
        openedAt: null,
        listedAt: null,
        balancesAt: null,
        failingSince: null,
        failure: null,
        balances: [],
      },
    ]);
    await watched.turn(2);
    expect(await items()).toEqual([
      {
        kind: 'VENUE_UNOPENED',
        subjectId: 'kraken',
        detail: 'the balances at kraken are not in the books, so they are not compared',
      },
    ]);
    const { data } = await propose(operator);
    expect(data.venueOpeningPropose).toEqual({
      id: expect.any(String),
      action: 'VENUE_OPENING',
      state: 'PROPOSED',
      venue: 'kraken',
      movementKind: null,
      // The digest of what it books.
      reference: expect.stringMatching(/^[0-9a-f]{64}$/),
      coin: null,
      amount: null,
      class: null,
      order: null,
    });
    expect(kinds(await propose(second))).toEqual(['already_exists']);
    const { proposals } = await support.data('{ proposals { action venue } }');
    expect(proposals).toEqual([{ action: 'VENUE_OPENING', venue: 'kraken' }]);
    const { id } = data.venueOpeningPropose;
    expect(kinds(await approve(operator, id))).toEqual(['second_member_needed']);
    expect((await approve(second, id)).data.actionApprove.state).toBe('DONE');
    expect(await items()).toEqual([]);
    const [account] = (await viewer.data(accounts)).treasury.accounts;
    expect(account).toMatchObject({ openedAt: watched.gateway.clock.now().toISOString(), failure: null });
    expect(account.balances).toMatchObject([
      {
        coin: 'BTC',
        total: '10',
        free: '10',
        comparedTotal: '10',
        booked: '10',
        inFlight: '0',
        difference: '0',
        differing: 0,
      },
      { coin: 'USDT', total: '50000', booked: '50000', difference: '0', differing: 0 },
    ]);
    const rows = await watched.gateway.query(
      `select operation, staff_id, target, reason, after from audit_log where target = 'venue:kraken' order by id`,
    );
    expect(rows).toEqual([
      {
        operation: 'venueOpeningPropose',
        staff_id: operator.id,
        target: 'venue:kraken',
        reason: 'checked with its page',
        after: { action: id, state: 'proposed', reference: data.venueOpeningPropose.reference },
      },
      {
        operation: 'actionApprove',
        staff_id: second.id,
        target: 'venue:kraken',
        reason: 'right',
        after: { action: id, state: 'done' },
      },
    ]);
  });

  it('is for members with the permission only', async () => {
    await watched.turn(2);
    for (const reply of [await propose(support), await classify(support, 'coin: "BTC", amount: "1"', 'COST')]) {
      expect(kinds(reply)).toEqual(['insufficient_role']);
    }
    expect(await watched.gateway.query('select from staff_action')).toEqual([]);
  });
});

describe('an account at the exchange that is in the books', () => {
  beforeAll(async () => {
    await start();
    await watched.open();
  });
  beforeEach(() => watched.next());
  afterAll(() => watched?.stop());

  it('shows its ledger account as a venue of that name', async () => {
    const { ledgerBalances } = await support.data('{ ledgerBalances { account venue partner { id } coin balance } }');
    expect(ledgerBalances).toContainEqual({
      account: 'VENUE',
      venue: 'kraken',
      partner: null,
      coin: 'BTC',
      balance: '10',
    });
    expect(ledgerBalances).toContainEqual(expect.objectContaining({ account: 'OPENING', venue: null, coin: 'BTC' }));
  });

  it('is not read: why, and since when', async () => {
    watched.account.isSilent = true;
    await watched.turn();
    const failing = watched.gateway.clock.now();
    await watched.turn(6);
    const [account] = (await viewer.data(accounts)).treasury.accounts;
    expect(account).toMatchObject({ failingSince: failing.toISOString(), failure: 'silent' });
    expect(sampleOf(await metrics(), 'gateway_venue_balance_age_seconds', { venue: 'kraken' })).toBeGreaterThanOrEqual(
      420,
    );
  });

  describe('what staff must look at', () => {
    // Each test ends with nothing to look at.
    afterEach(async () => {
      await watched.turn(2);
      expect(await items()).toEqual([]);
    });

    it('a withdrawal that is none of ours, until two members classify it', async () => {
      const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005', address: stranger });
      await watched.turn();
      const foreign = {
        kind: 'VENUE_FOREIGN',
        subjectId: `kraken:withdrawal:${reference}`,
        detail: `withdrawal of 2 BTC at kraken, address ${stranger}`,
      };
      expect(await items()).toEqual([foreign]);
      expect(sampleOf(await metrics(), 'gateway_venue_foreign', { kind: 'withdrawal' })).toBe(1);
      expect(await classifiable()).toEqual([]);
      watched.account.change(reference, { state: 'done', told: 'Success' });
      await watched.turn(2);
      // Its difference comes after it.
      expect(await classifiable()).toEqual([reference]);
      const { data } = await classify(operator, `kind: WITHDRAWAL, reference: "${reference}"`, 'CAPITAL');
      expect(data.treasuryClassify).toMatchObject({
        action: 'VENUE_CLASSIFY',
        venue: 'kraken',
        movementKind: 'WITHDRAWAL',
        reference,
        coin: null,
        amount: null,
        class: 'CAPITAL',
      });
      await approve(second, data.treasuryClassify.id);
      expect(await items()).toEqual([]);
      expect(sampleOf(await metrics(), 'gateway_venue_foreign', { kind: 'withdrawal' })).toBe(0);
      const [row] = await watched.gateway.query<{ after: object }>(
        `select after from audit_log where operation = 'treasuryClassify'`,
      );
      expect(row?.after).toEqual({
        action: data.treasuryClassify.id,
        state: 'proposed',
        class: 'capital',
        kind: 'withdrawal',
        reference,
      });
    });

    it('a deposit that is none of ours, once it is credited', async () => {
      const reference = watched.credit('USDT', 'TRC20', '500', { txid: 'ab'.repeat(32), state: 'pending' });
      await watched.turn();
      watched.gateway.clock.advance(660_000);
      await watched.turn();
      expect(await referencesOf({ part: 'FOREIGN' })).toEqual([reference]);
      expect(await items()).toEqual([]);
      watched.account.change(reference, { state: 'done' });
      watched.account.add('USDT', '500');
      await watched.turn();
      expect((await items()).map(({ subjectId }) => subjectId)).toEqual([`kraken:deposit:${reference}`]);
      expect(sampleOf(await metrics(), 'gateway_venue_foreign', { kind: 'deposit' })).toBe(1);
      await decide(`kind: DEPOSIT, reference: "${reference}"`, 'CAPITAL');
    });

    it('a difference that lasts, until two members classify it', async () => {
      const booked = Number(await watched.booked('venue:kraken', 'USDT'));
      watched.account.add('USDT', '-3');
      await watched.turn();
      expect(await items()).toEqual([]);
      expect(await classifiable()).toEqual([]);
      await watched.turn();
      expect(await classifiable()).toEqual(['USDT']);
      const since = watched.gateway.clock.now().getTime() - 60_000;
      const { attention } = await viewer.data('{ attention { id since detail } }');
      const difference = {
        id: 'venue_difference:kraken:USDT',
        detail: 'kraken has less than the books: 3 USDT',
        since: new Date(since).toISOString(),
      };
      expect(attention).toEqual([difference]);
      await watched.turn();
      expect((await viewer.data('{ attention { id since detail } }')).attention).toEqual([difference]);
      const text = await metrics();
      expect(sampleOf(text, 'gateway_venue_balance', { venue: 'kraken', coin: 'USDT' })).toBe(booked - 3);
      expect(sampleOf(text, 'gateway_venue_balance_difference', { venue: 'kraken', coin: 'USDT' })).toBe(-3);
      expect(sampleOf(text, 'gateway_venue_balance_difference', { venue: 'kraken', coin: 'BTC' })).toBe(0);
      const [account] = (await viewer.data(accounts)).treasury.accounts;
      expect(account.balances[1]).toMatchObject({
        total: `${booked - 3}`,
        booked: `${booked}`,
        difference: '-3',
        differing: 3,
        differingSince: difference.since,
      });
      // It grows: it still lasts, and its amount was found once.
      watched.account.add('USDT', '-1');
      await watched.turn();
      expect(await classifiable()).toEqual([]);
      expect(kinds(await classify(operator, 'coin: "USDT", amount: "-4"', 'COST'))).toEqual(['action_not_possible']);
      watched.account.add('USDT', '1');
      await watched.turn(2);
      expect(kinds(await classify(operator, 'coin: "USDT", amount: "-4"', 'COST'))).toEqual(['action_not_possible']);
      const { data } = await classify(operator, 'coin: "USDT", amount: "-3"', 'COST');
      expect(data.treasuryClassify).toMatchObject({ coin: 'USDT', amount: '-3', class: 'COST', reference: null });
      await approve(second, data.treasuryClassify.id);
      expect(await items()).toEqual([]);
    });

    it('a transfer that is slow, and one that arrives short', async () => {
      const slow = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
      await watched.turn();
      watched.gateway.clock.advance(7_100_000);
      expect(await items()).toEqual([]);
      expect(sampleOf(await metrics(), 'gateway_treasury_transfers', { state: 'asked' })).toBe(1);
      watched.gateway.clock.advance(200_000);
      const { treasury } = await viewer.data(transfers);
      const [{ node }] = treasury.transfers.edges;
      expect(await classifiable()).toEqual([]);
      expect(await items()).toEqual([
        { kind: 'TRANSFER_SLOW', subjectId: node.id, detail: `asked: 1.0005 BTC from kraken to bitcoin, ${slow}` },
      ]);
      expect(sampleOf(await metrics(), 'gateway_treasury_oldest_seconds', { state: 'asked' })).toBeGreaterThanOrEqual(
        7_200,
      );
      const txid = await watched.arrive('BTC', 'BTC', '0.9');
      watched.account.change(slow, { txid, state: 'done' });
      await watched.mine('BTC');
      await watched.turn(3);
      expect(await items()).toEqual([
        {
          kind: 'TRANSFER_SHORT',
          subjectId: node.id,
          detail: `short_arrival: 1.0005 BTC from kraken to bitcoin, ${slow}`,
        },
      ]);
      expect(await classifiable()).toEqual([slow]);
      const subject = `kind: WITHDRAWAL, reference: "${slow}"`;
      expect(kinds(await classify(operator, subject, 'CAPITAL'))).toEqual(['action_not_possible']);
      const { data } = await classify(operator, subject, 'COST');
      await approve(second, data.treasuryClassify.id);
      expect(await items()).toEqual([]);
      const ended = (await viewer.data(transfers, { state: 'DONE' })).treasury.transfers;
      expect(ended.edges[0].node).toMatchObject({ reference: slow, arrived: '0.9', writtenOff: '0.1', problem: null });
    });

    it('a movement in a state that the gateway does not know', async () => {
      const reference = await watched.withdraw('BTC', 'BTC', {
        gross: '1.0005',
        fee: '0.0005',
        state: 'unknown',
        told: 'Partial',
      });
      await watched.turn();
      expect(await items()).toEqual([
        {
          kind: 'TRANSFER_UNKNOWN',
          subjectId: `kraken:withdrawal:${reference}`,
          detail: 'withdrawal of 1.0005 BTC at kraken, state: Partial',
        },
      ]);
      watched.account.change(reference, { state: 'returned' });
      watched.account.add('BTC', '1.0005');
    });

    it('is refused where it names nothing', async () => {
      expect(kinds(await classify(operator, 'kind: DEPOSIT, reference: "none"', 'CAPITAL'))).toEqual(['not_found']);
      expect(kinds(await classify(operator, 'kind: DEPOSIT', 'CAPITAL'))).toEqual(['invalid_value']);
      expect(kinds(await classify(operator, 'reference: "none"', 'CAPITAL'))).toEqual(['invalid_value']);
      expect(kinds(await classify(operator, 'coin: "BTC", amount: "1"', 'CAPITAL', 'bitstamp'))).toEqual(['not_found']);
    });
  });
});

describe('movements at the exchange', () => {
  beforeEach(async () => {
    await start();
    await watched.open();
  });
  afterEach(() => watched?.stop());

  it('are listed newest first, in pages and by filters', async () => {
    const references: string[] = [];
    for (let i = 0; i < 3; i++) {
      references.unshift(await watched.withdraw('BTC', 'BTC', { gross: `0.${i + 1}005`, fee: '0.0005' }));
    }
    watched.gateway.clock.advance(1_000);
    references.unshift(watched.credit('USDT', 'TRC20', '500', { txid: 'ab'.repeat(32) }));
    await watched.turn();
    const all = await referencesOf();
    // Those of one moment are sorted by kind and reference.
    const [deposit = '', ...withdrawals] = references;
    expect(all).toEqual([deposit, ...withdrawals.toSorted()]);
    const page = (await viewer.data(movements, { first: 2 })).venueMovements;
    expect(page.pageInfo).toMatchObject({
      hasNextPage: true,
      hasPreviousPage: false,
      endCursor: page.edges[1].cursor,
    });
    expect(page.edges[1].cursor).toBe(page.edges[1].node.id);
    expect(await referencesOf({ first: 2, after: page.pageInfo.endCursor })).toEqual(all.slice(2));
    const back = (await viewer.data(movements, { last: 2, before: `kraken:withdrawal:${all[3]}` })).venueMovements;
    expect(back.edges.map(({ node }: { node: { reference: string } }) => node.reference)).toEqual(all.slice(1, 3));
    expect(back.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    expect(await referencesOf({ kind: 'DEPOSIT' })).toEqual([deposit]);
    expect(await referencesOf({ coin: 'BTC' })).toEqual(all.slice(1));
    expect(await referencesOf({ part: 'TRANSFER', venue: 'kraken' })).toEqual(all.slice(1));
    expect(await referencesOf({ venue: 'binance' })).toEqual([]);
    for (const after of ['x', 'kraken:withdrawal:none', `kraken:gift:${all[0]}`]) {
      expect(kinds(await viewer.ask(movements, { after }))).toEqual(['invalid_value']);
    }
  });

  it('belong to transfers, which tell both sides', async () => {
    const txid = await watched.arrive('BTC', 'BTC', '1');
    const reference = await watched.withdraw('BTC', 'BTC', {
      gross: '1.0005',
      fee: '0.0005',
      txid,
      state: 'done',
      told: 'Success',
    });
    await watched.mine('BTC');
    await watched.turn(2);
    const waiting = await watched.withdraw('BTC', 'BTC', { gross: '0.2005', fee: '0.0005' });
    await watched.turn();
    const { edges } = (await viewer.data(transfers)).treasury.transfers;
    expect(edges.map(({ node }: { node: { reference: string } }) => node.reference)).toEqual([waiting, reference]);
    expect(edges[1].node).toMatchObject({
      venue: 'kraken',
      movementKind: 'WITHDRAWAL',
      coin: 'BTC',
      network: 'BTC',
      chain: 'bitcoin',
      state: 'DONE',
      amount: '1.0005',
      bookedAmount: '1.0005',
      bookedFee: '0.0005',
      arrived: '1',
      writtenOff: '0',
      problem: null,
      explorerUrl: null,
      arrivals: [{ txid, amount: '1', state: 'CREDITED' }],
      movement: { id: `kraken:withdrawal:${reference}`, txid, told: 'Success' },
    });
    const open = (await viewer.data(transfers, { state: ['ASKED', 'SENT'] })).treasury.transfers;
    expect(open.edges.map(({ node }: { node: { reference: string } }) => node.reference)).toEqual([waiting]);
    const first = (await viewer.data(transfers, { first: 1 })).treasury.transfers;
    expect(first.pageInfo.hasNextPage).toBe(true);
    const next = (await viewer.data(transfers, { first: 1, after: first.pageInfo.endCursor })).treasury.transfers;
    expect(next.edges[0].node.reference).toBe(reference);
    expect((await viewer.ask(transfers, { after: 'x' })).errors).toMatchObject([
      { extensions: { kind: 'invalid_value' } },
    ]);
    const listed = (await viewer.data(movements)).venueMovements.edges;
    expect(listed.map(({ node }: { node: { transfer: object } }) => node.transfer)).toEqual([
      { state: 'ASKED' },
      { state: 'DONE' },
    ]);
  });
});
