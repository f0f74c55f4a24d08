import { randomUUID } from 'node:crypto';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { CommissionEntries } from '../../../src/settlement/commission/commission-entries.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { closedMonth, commissionPayment } from '../../support/gateway/commission-payments.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember, type StaffReply } from '../../support/staff/staff-client.ts';

// What members of staff see of commission, and what they decide about it.

let gateway: SettledGateway;
let viewer: Member;
let support: Member;
let operator: Member;
let second: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-11-20T10:00:00.000Z')),
    settings: { RECONCILE_EVERY_SEC: '0' },
  });
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
});
afterAll(() => gateway?.stop());

const newPartner = async (): Promise<string> => (await gateway.partner()).id;

const call = (by: Member, mutation: string): Promise<StaffReply> =>
  by.ask(`mutation { made: ${mutation} { id action state month coin network amount corrects address tag oldIsLost
                                         partner { id } proposedBy { email } decidedBy { email } } }`);
const onMonth = (by: Member, what: string, partnerId: string, month = '2026-10'): Promise<StaffReply> =>
  call(by, `commission${what}(partnerId: "${partnerId}", month: "${month}", reason: "asked around")`);
const correct = (by: Member, partnerId: string, amount: string, more = ''): Promise<StaffReply> =>
  call(
    by,
    `commissionCorrect(input: { partnerId: "${partnerId}", coin: "BTC", network: "BTC", amount: "${amount}"${more} },
                              reason: "a deposit was lost")`,
  );
const approve = (by: Member, { data }: StaffReply): Promise<StaffReply> =>
  by.ask(`mutation { made: actionApprove(id: "${data.made.id}", reason: "right") { state } }`);

/** One member proposes, and another one approves. */
async function decide(proposed: Promise<StaffReply>): Promise<StaffReply> {
  const reply = await proposed;
  expect(reply.errors).toEqual([]);
  const approved = await approve(second, reply);
  expect(approved.errors).toEqual([]);
  return reply;
}

interface Row {
  state: string;
  due: string | null;
  hold_reason: string | null;
  problem: string | null;
  is_approved: boolean;
}

async function rowOf(partnerId: string, month = '2026-10'): Promise<Row | undefined> {
  const [row] = await gateway.query<Row & { held: boolean }>(
    `select state, trim_scale(due)::text as due, hold_reason, problem, approved_at is not null as is_approved
       from commission_statement where partner_id = $1 and month = $2`,
    [partnerId, `${month}-01`],
  );
  return row;
}

/** An address of the partner that has taken effect, by a decision of staff. */
async function addressInEffect(partnerId: string): Promise<void> {
  const now = gateway.clock.now().toISOString();
  const id = randomUUID();
  await gateway.query(
    `insert into staff_action (id, action, partner_id, coin, network, address, reason, state, proposed_by, proposed_at,
                               decided_by, decided_at, acknowledges)
     values ($1, 'commission_address', $2, 'BTC', 'BTC', $3, 'x', 'done', $4, $5, $6, $5, false)`,
    [id, partnerId, addressExample('BTC'), operator.id, now, second.id],
  );
  await gateway.query(
    `insert into commission_address (id, partner_id, coin, network, address, requested_at, action_id, effective_at,
                                     took_effect_at)
     values ($1, $2, 'BTC', 'BTC', $3, $4, $1, $4, $4)`,
    [id, partnerId, addressExample('BTC'), now],
  );
}

const payments = (partnerId: string): Promise<{ amount: string; state: string }[]> =>
  gateway.query(
    `select trim_scale(p.amount + p.fee_charged)::text as amount, p.state from commission_statement s
       join payment p on p.id = s.payment_id where s.partner_id = $1 order by s.month`,
    [partnerId],
  );

describe('a month that is to be paid', () => {
  it('is held by one member at once, and two members release it', async () => {
    const partnerId = await newPartner();
    await addressInEffect(partnerId);
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    expect(kinds(await onMonth(support, 'Hold', partnerId))).toEqual(['insufficient_role']);
    const held = await onMonth(operator, 'Hold', partnerId);
    expect(held.data.made).toMatchObject({
      action: 'COMMISSION_HOLD',
      state: 'DONE',
      month: '2026-10',
      partner: { id: partnerId },
      decidedBy: { email: operator.email },
    });
    expect(await rowOf(partnerId)).toMatchObject({ state: 'payable', hold_reason: 'asked around' });
    expect(kinds(await onMonth(operator, 'Hold', partnerId))).toEqual(['action_not_possible']);
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([]);

    const released = await onMonth(operator, 'Release', partnerId);
    expect(released.data.made).toMatchObject({ action: 'COMMISSION_RELEASE', state: 'PROPOSED', decidedBy: null });
    expect(kinds(await onMonth(second, 'Release', partnerId))).toEqual(['already_exists']);
    expect(kinds(await approve(operator, released))).toEqual(['second_member_needed']);
    expect(kinds(await approve(support, released))).toEqual(['insufficient_role']);
    expect((await approve(second, released)).data.made.state).toBe('DONE');
    expect(await rowOf(partnerId)).toMatchObject({ hold_reason: null, is_approved: false });
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([{ amount: '0.02', state: 'ready' }]);
    expect(
      await gateway.query('select operation, target, after from audit_log where target = $1 order by id', [
        `partner:${partnerId}`,
      ]),
    ).toMatchObject([
      { operation: 'commissionHold', after: { state: 'done', month: '2026-10' } },
      { operation: 'commissionRelease', after: { action: released.data.made.id, state: 'proposed', month: '2026-10' } },
      { operation: 'actionApprove', after: { action: released.data.made.id, state: 'done' } },
    ]);
  });

  it('stays held when it was held again after the release was proposed', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    await onMonth(operator, 'Hold', partnerId);
    const [release, pay] = [await onMonth(operator, 'Release', partnerId), await onMonth(operator, 'Pay', partnerId)];
    gateway.clock.advance(1_000);
    await gateway.query('update commission_statement set held_at = $2 where partner_id = $1', [
      partnerId,
      gateway.clock.now(),
    ]);
    for (const proposal of [release, pay]) {
      expect(kinds(await approve(second, proposal))).toEqual(['action_not_possible']);
    }
    expect(await rowOf(partnerId)).toMatchObject({ hold_reason: 'asked around' });
  });

  it('is not released by a member who came within a day, nor on the proposal of one', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    await onMonth(operator, 'Hold', partnerId);
    const puppet = await newMember(gateway, 'operator');
    await gateway.query('update staff_member set approves_from = $2 where id = $1', [
      puppet.id,
      new Date(gateway.clock.now().getTime() + 3_600_000),
    ]);
    const corrections = [await correct(operator, partnerId, '0.5'), await onMonth(puppet, 'Release', partnerId)];
    expect(kinds(await approve(puppet, corrections[0] as StaffReply))).toEqual(['approval_too_early']);
    expect(kinds(await approve(second, corrections[1] as StaffReply))).toEqual(['approval_too_early']);
    expect(await rowOf(partnerId)).toMatchObject({ hold_reason: 'asked around' });
  });

  it('of an inactive partner is paid when two members say so', async () => {
    const partnerId = await newPartner();
    await addressInEffect(partnerId);
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    await gateway.partners.change(partnerId, { status: 'inactive' });
    await gateway.settlement.commission.run();
    expect(await rowOf(partnerId)).toMatchObject({ problem: 'partner_inactive' });
    await decide(onMonth(operator, 'Pay', partnerId));
    expect(await rowOf(partnerId)).toMatchObject({ problem: null, is_approved: true });
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([{ amount: '0.02', state: 'ready' }]);
    // The payment that was decided goes on.
    expect(kinds(await onMonth(operator, 'Pay', partnerId))).toEqual(['action_not_possible']);
    expect((await onMonth(operator, 'Hold', partnerId)).data.made.state).toBe('DONE');
  });

  it('waits for two members again when its partner became inactive after they decided', async () => {
    const [rolled, begun] = [await newPartner(), await newPartner()];
    for (const partnerId of [rolled, begun]) {
      await addressInEffect(partnerId);
      await closedMonth(gateway, { partnerId, state: 'rolled', balance: '0.002' });
      await decide(onMonth(operator, 'Pay', partnerId));
      if (partnerId === begun) await gateway.settlement.commission.run();
      await gateway.partners.change(partnerId, { status: 'inactive' });
    }
    const run = async (): Promise<void> => {
      await gateway.settlement.commission.run();
      await gateway.tick();
    };
    await run();
    expect(await payments(rolled)).toEqual([]);
    expect(await rowOf(rolled)).toMatchObject({ problem: 'partner_inactive' });
    // The payment was decided while the partner was active, and has no transaction yet.
    expect(await payments(begun)).toEqual([{ amount: '0.002', state: 'ready' }]);
    for (const partnerId of [rolled, begun]) await decide(onMonth(operator, 'Pay', partnerId));
    await run();
    await run();
    for (const partnerId of [rolled, begun]) {
      expect(await payments(partnerId)).toEqual([{ amount: '0.002', state: 'sent' }]);
      expect(kinds(await onMonth(operator, 'Pay', partnerId))).toEqual(['action_not_possible']);
    }
  });

  it('goes on at once after payments that died, when two members say so', async () => {
    const partnerId = await newPartner();
    await addressInEffect(partnerId);
    const { id } = await commissionPayment(gateway, { partnerId, amount: '0.02' });
    await gateway.query(`update payment set state = 'dead', ended_at = $2, next_action_at = null where id = $1`, [
      id,
      gateway.clock.now(),
    ]);
    await gateway.query(
      `update commission_statement set attempts = 3, problem = 'payment_failed' where partner_id = $1`,
      [partnerId],
    );
    gateway.clock.advance(1_000);
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([{ amount: '0.0201', state: 'dead' }]);
    await decide(onMonth(operator, 'Pay', partnerId));
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([{ amount: '0.0201', state: 'ready' }]);
  });

  it('is not paid without an address by any decision', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    await gateway.settlement.commission.run();
    expect(await rowOf(partnerId)).toMatchObject({ problem: 'no_address' });
    const { errors } = await onMonth(operator, 'Pay', partnerId);
    expect(errors[0]?.message).toBe("'no_address' keeps the payment back, and no decision ends that");
  });
});

describe('a month below the minimum', () => {
  it('is paid when two members say so, if it is the last one', async () => {
    const partnerId = await newPartner();
    await addressInEffect(partnerId);
    const owed = '0.001434567891';
    await closedMonth(gateway, { partnerId, state: 'rolled', balance: owed, monthsAgo: 2 });
    await closedMonth(gateway, { partnerId, state: 'rolled', opening: owed, balance: '0' });
    const { errors } = await onMonth(operator, 'Pay', partnerId, '2026-09');
    expect(errors[0]?.message).toBe('what was not paid then is part of 2026-10; pay that month');
    // A correction since then makes it smaller.
    await decide(correct(operator, partnerId, '-0.0002'));
    await decide(onMonth(operator, 'Pay', partnerId));
    expect(await rowOf(partnerId)).toMatchObject({ state: 'payable', due: '0.00123456', is_approved: true });
    await gateway.settlement.commission.run();
    expect(await payments(partnerId)).toEqual([{ amount: '0.00123456', state: 'ready' }]);
  });

  it('is not paid when it does not exceed the fee of its network', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, state: 'rolled', balance: '0.00000002' });
    const { errors } = await onMonth(operator, 'Pay', partnerId);
    expect(errors[0]?.message).toBe('what is owed, 0.00000002 BTC, does not exceed the fee of its network');
  });
});

it('a month in another state is neither held, released nor paid', async () => {
  const partnerId = await newPartner();
  await closedMonth(gateway, { partnerId, state: 'closed', balance: '-0.01' });
  for (const what of ['Hold', 'Release', 'Pay']) {
    expect(kinds(await onMonth(operator, what, partnerId))).toEqual(['action_not_possible']);
    expect(kinds(await onMonth(operator, what, partnerId, '2026-09'))).toEqual(['not_found']);
    expect(kinds(await onMonth(operator, what, partnerId, '2026-13'))).toEqual(['invalid_value']);
    expect(kinds(await onMonth(operator, what, 'unknown'))).toEqual(['partner_not_found']);
  }
});

describe('a correction', () => {
  it('is an entry of the open month and of the ledger, once two members decided it', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, balance: '0.02' });
    const [earlier] = await gateway.query<{ id: string }>('select id from commission_entry where partner_id = $1', [
      partnerId,
    ]);
    const proposed = await correct(operator, partnerId, '-0.005', `, corrects: "${earlier?.id}"`);
    expect(proposed.data.made).toMatchObject({
      action: 'COMMISSION_CORRECT',
      state: 'PROPOSED',
      month: null,
      coin: 'BTC',
      network: 'BTC',
      amount: '-0.005',
      corrects: earlier?.id,
    });
    const entries = () =>
      gateway.query(
        `select to_char(month, 'YYYY-MM') as month, trim_scale(amount)::text as amount, reason, corrects, action_id
           from commission_entry where partner_id = $1 and kind = 'correction'`,
        [partnerId],
      );
    expect(await entries()).toEqual([]);
    expect((await approve(second, proposed)).errors).toEqual([]);
    expect(await entries()).toEqual([
      {
        month: '2026-11',
        amount: '-0.005',
        reason: 'a deposit was lost',
        corrects: earlier?.id,
        action_id: proposed.data.made.id,
      },
    ]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('is refused once its month is closed, also while that happens', async () => {
    const partnerId = await newPartner();
    const em = gateway.app.orm.em.fork();
    await new CommissionEntries({ coin: 'BTC', network: 'BTC' }).openMonth(em, partnerId, gateway.clock.now());
    const proposed = await correct(operator, partnerId, '0.005');
    const close = `update commission_statement set state = 'closed', closed_at = now(), figures = '[]', orders = 0,
                          sha256 = repeat('a', 64) where partner_id = ? and state = 'open'`;
    let approving: Promise<StaffReply> | undefined;
    await em.transactional(async (closing) => {
      await closing.execute(close, [partnerId]);
      approving = approve(second, proposed);
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await gateway.query(waits)).length === 0);
    });
    const reply = await approving;
    expect(kinds(reply as StaffReply)).toEqual(['action_not_possible']);
    expect(kinds(await approve(second, proposed))).toEqual(['action_not_possible']);
    expect(
      await gateway.query(`select 1 from commission_entry where partner_id = $1 and kind = 'correction'`, [partnerId]),
    ).toEqual([]);
  });

  it('is refused when it is of nothing, of another coin or about an entry of another partner', async () => {
    const [partnerId, other] = [await newPartner(), await newPartner()];
    await closedMonth(gateway, { partnerId: other, balance: '0.02' });
    const [entry] = await gateway.query<{ id: string }>('select id from commission_entry where partner_id = $1', [
      other,
    ]);
    for (const [amount, more, kind] of [
      ['0', '', 'invalid_value'],
      [`0.${'0'.repeat(18)}1`, '', 'invalid_value'],
      ['1', `, corrects: "${entry?.id}"`, 'not_found'],
      ['1', ', corrects: "x"', 'not_found'],
    ] as const) {
      expect(kinds(await correct(operator, partnerId, amount, more))).toEqual([kind]);
    }
    const unknown = `commissionCorrect(input: { partnerId: "${partnerId}", coin: "NOPE", network: "BTC", amount: "1" }, reason: "x")`;
    expect(kinds(await call(operator, unknown))).toEqual(['currency_not_found']);
    expect(kinds(await correct(support, partnerId, '1'))).toEqual(['insufficient_role']);
  });
});

describe('a payout address', () => {
  const set = (by: Member, partnerId: string, address = addressExample('BTC'), more = ''): Promise<StaffReply> =>
    call(
      by,
      `commissionAddressSet(input: { partnerId: "${partnerId}", coin: "BTC", network: "BTC", address: "${address}"${more} },
                            reason: "by telephone")`,
    );
  const addresses = async (partnerId: string): Promise<object[]> =>
    (
      await viewer.data(`{ partnerCommission(partnerId: "${partnerId}") {
        addresses { address tag oldIsLost requestedBy effectiveAt tookEffectAt } } }`)
    ).partnerCommission.addresses;

  it('waits 72 hours once two members decided it', async () => {
    const partnerId = await newPartner();
    const proposed = await set(operator, partnerId, undefined, ', oldIsLost: true');
    expect(proposed.data.made).toMatchObject({
      action: 'COMMISSION_ADDRESS',
      state: 'PROPOSED',
      address: addressExample('BTC'),
      tag: null,
      oldIsLost: true,
    });
    expect(await addresses(partnerId)).toEqual([]);
    expect(kinds(await approve(operator, proposed))).toEqual(['second_member_needed']);
    expect((await approve(second, proposed)).errors).toEqual([]);
    const effectiveAt = new Date(gateway.clock.now().getTime() + 72 * 3_600_000).toISOString();
    expect(await addresses(partnerId)).toEqual([
      {
        address: addressExample('BTC'),
        tag: null,
        oldIsLost: true,
        requestedBy: null,
        effectiveAt,
        tookEffectAt: null,
      },
    ]);
    // The same one waits already.
    expect(kinds(await set(operator, partnerId))).toEqual(['action_not_possible']);
  });

  it('is refused when it is none, or one of this service', async () => {
    const partnerId = await newPartner();
    const { depositAddress } = await gateway.order({ coin_from: 'BTC', network_from: 'BTC', amount_from: 0.1 });
    expect(kinds(await set(operator, partnerId, 'nowhere'))).toEqual(['invalid_address']);
    expect(kinds(await set(operator, partnerId, depositAddress))).toEqual(['own_address']);
    expect(kinds(await set(support, partnerId))).toEqual(['insufficient_role']);
  });
});

describe('staff read', () => {
  const list = `query ($month: String!, $state: [CommissionState!], $first: Int, $after: String) {
    commissions(month: $month, state: $state, first: $first, after: $after) {
      edges { cursor node { id month coin network state orders due problem heldAt holdReason sha256 partner { id name }
                            figures { coin network opening accrued converted corrected paid closing }
                            payment { id state amount attempts { txid } } entries(first: 5) { edges { node { kind amount } } } } }
      pageInfo { hasNextPage endCursor } } }`;

  it('the months of partners, in pages and by state', async () => {
    const [paid, open] = [await newPartner(), await newPartner()];
    const { id } = await commissionPayment(gateway, { partnerId: paid, amount: '0.01', monthsAgo: 5 });
    await closedMonth(gateway, { partnerId: open, state: 'rolled', balance: '0.001', monthsAgo: 5 });
    const june = { month: '2026-06' };
    const all = (await viewer.data(list, june)).commissions.edges;
    expect(all.map(({ node }: { node: object }) => node)).toMatchObject([
      {
        id: `${paid}:2026-06`,
        month: '2026-06',
        state: 'PAYABLE',
        due: '0.0101',
        partner: { id: paid },
        figures: [{ coin: 'BTC', converted: '0.0101', closing: '0.0101' }],
        payment: { id, state: 'READY', amount: '0.01', attempts: [] },
        entries: { edges: [{ node: { kind: 'CONVERSION', amount: '0.0101' } }] },
      },
      { state: 'ROLLED', due: null, partner: { id: open }, payment: null },
    ]);
    const first = (await viewer.data(list, { ...june, first: 1 })).commissions;
    expect(first.pageInfo).toEqual({ hasNextPage: true, endCursor: paid });
    const next = (await viewer.data(list, { ...june, first: 1, after: paid })).commissions;
    expect(next.edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual([open]);
    expect((await viewer.data(list, { ...june, state: ['ROLLED'] })).commissions.edges).toHaveLength(1);
    for (const wrong of [{ month: 'June' }, { ...june, after: 'x' }]) {
      expect(kinds(await viewer.ask(list, wrong))).toEqual(['invalid_value']);
    }
  });

  it('the figures of an open month as they are now', async () => {
    const partnerId = await newPartner();
    await closedMonth(gateway, { partnerId, state: 'rolled', balance: '0.001' });
    const [em, now] = [gateway.app.orm.em.fork(), gateway.clock.now()];
    await new CommissionEntries({ coin: 'BTC', network: 'BTC' }).openMonth(em, partnerId, now);
    await decide(correct(operator, partnerId, '-0.004'));
    const query = `query ($partnerId: ID!) { partnerCommission(partnerId: $partnerId) { partner { id }
      addresses { address tookEffectAt }
      months { month state orders figures { coin network opening accrued converted corrected paid closing } } } }`;
    const { partnerCommission } = await viewer.data(query, { partnerId });
    expect(partnerCommission).toMatchObject({
      partner: { id: partnerId },
      addresses: [],
      months: [
        {
          month: '2026-11',
          state: 'OPEN',
          orders: 0,
          figures: [
            {
              coin: 'BTC',
              network: 'BTC',
              opening: '0.001',
              accrued: '0',
              converted: '0',
              corrected: '-0.004',
              paid: '0',
              closing: '-0.003',
            },
          ],
        },
        { month: '2026-10', state: 'ROLLED' },
      ],
    });
    expect(kinds(await viewer.ask(query, { partnerId: 'x' }))).toEqual(['partner_not_found']);
  });

  it('the sums of all partners by month and asset, with the price of now', async () => {
    const totals = '{ commissionMonths(limit: 2) { month coin network accrued corrected paid priceUsd } }';
    const { commissionMonths } = await viewer.data(totals);
    const [newest] = commissionMonths.toReversed();
    expect(newest).toMatchObject({ month: '2026-11', coin: 'BTC', accrued: '0', paid: '0' });
    expect(Number(newest.corrected)).toBeLessThan(0);
    expect(Number(newest.priceUsd)).toBeGreaterThan(1_000);
    expect(kinds(await viewer.ask('{ commissionMonths(limit: 0) { month } }'))).toEqual(['invalid_value']);
  });
});

// The last ones, as they move the clock.
it('an address by two members in place of a lost one stops payments, and gets them after 72 hours', async () => {
  const partnerId = await newPartner();
  await addressInEffect(partnerId);
  await closedMonth(gateway, { partnerId, balance: '0.02' });
  const next = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
  await decide(
    call(
      operator,
      `commissionAddressSet(input: { partnerId: "${partnerId}", coin: "BTC", network: "BTC", address: "${next}", oldIsLost: true },
                            reason: "the owner called")`,
    ),
  );
  await gateway.settlement.commission.run();
  expect(await payments(partnerId)).toEqual([]);
  expect(await rowOf(partnerId)).toMatchObject({ problem: 'address_lost' });
  const { errors } = await onMonth(operator, 'Pay', partnerId);
  expect(errors[0]?.message).toBe("'address_lost' keeps the payment back, and no decision ends that");
  gateway.clock.advance(72 * 3_600_000 - 1);
  await gateway.settlement.commission.run();
  expect(await payments(partnerId)).toEqual([]);
  gateway.clock.advance(1);
  await gateway.settlement.commission.run();
  expect(await payments(partnerId)).toEqual([{ amount: '0.02', state: 'ready' }]);
  const paidTo = await gateway.query(
    `select p.address from payment p join commission_statement s on s.payment_id = p.id where s.partner_id = $1`,
    [partnerId],
  );
  expect(paidTo).toEqual([{ address: next }]);
});

it('a correction larger than what is owed leaves a month below zero, which the next one begins with', async () => {
  const partnerId = await newPartner();
  await closedMonth(gateway, { partnerId, state: 'rolled', balance: '0.001' });
  await decide(correct(operator, partnerId, '-0.5'));
  const closed = (): Promise<unknown[]> =>
    gateway.query(
      `select to_char(month, 'YYYY-MM') as month, state, due, figures from commission_statement
        where partner_id = $1 and month > '2026-10-01' and state <> 'open' order by commission_statement.month`,
      [partnerId],
    );
  const figuresOf = (opening: string, corrected: string, closing: string): object =>
    expect.arrayContaining([
      { coin: 'BTC', network: 'BTC', opening, accrued: '0', converted: '0', corrected, paid: '0', closing },
    ]);
  const november = { month: '2026-11', state: 'closed', due: null, figures: figuresOf('0.001', '-0.5', '-0.499') };
  const close = async (at: string): Promise<void> => {
    gateway.clock.advance(new Date(at).getTime() - gateway.clock.now().getTime());
    await gateway.settlement.commission.run();
  };
  await close('2026-12-01T00:06:00.000Z');
  expect(await closed()).toEqual([november]);
  await decide(correct(operator, partnerId, '0.2'));
  await close('2027-01-01T00:06:00.000Z');
  const december = { month: '2026-12', state: 'closed', due: null, figures: figuresOf('-0.499', '0.2', '-0.299') };
  expect(await closed()).toEqual([november, december]);
});
