import { randomUUID } from 'node:crypto';
import { TestClock } from '../../support/gateway/clock.ts';
import { closedMonth, commissionPayment } from '../../support/gateway/commission-payments.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember, type StaffReply } from '../../support/staff/staff-client.ts';

// A month that cannot be paid goes back into the balance, when two members of staff say so.

let gateway: SettledGateway;
let operator: Member;
let second: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-11-20T10:00:00.000Z')),
    settings: { PRICE_MAX_AGE_SEC: '31536000', RECONCILE_EVERY_SEC: '0' },
  });
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
});
afterAll(() => gateway?.stop());

const newPartner = async (): Promise<string> => (await gateway.partner()).id;
const cancel = (partnerId: string, month = '2026-10'): Promise<StaffReply> =>
  operator.ask(
    `mutation { made: commissionCancel(partnerId: "${partnerId}", month: "${month}", reason: "the asset is off") {
                  id action state } }`,
  );
const approve = ({ data }: StaffReply): Promise<StaffReply> =>
  second.ask(`mutation { made: actionApprove(id: "${data.made.id}", reason: "right") { state } }`);
const months = (partnerId: string) =>
  gateway.query<Record<string, unknown>>(
    `select to_char(s.month, 'YYYY-MM') as month, s.state, trim_scale(s.due)::text as due, s.problem, s.hold_reason,
            p.state as payment, s.figures, s.sha256
       from commission_statement s left join payment p on p.id = s.payment_id
      where s.partner_id = $1 order by s.month`,
    [partnerId],
  );

describe('a month that cannot be paid', () => {
  it('is cancelled by two members, and its balance counts in the next closing', async () => {
    const partnerId = await newPartner();
    await commissionPayment(gateway, { partnerId, amount: '0.02' });
    await gateway.query(
      `update commission_statement set held_at = now(), hold_reason = 'x', problem = 'no_asset', approved_at = now()
        where partner_id = $1`,
      [partnerId],
    );
    const [before] = await months(partnerId);
    const proposed = await cancel(partnerId);
    expect(proposed.data.made).toMatchObject({ action: 'COMMISSION_CANCEL', state: 'PROPOSED' });
    expect(await months(partnerId)).toMatchObject([{ state: 'payable', payment: 'ready' }]);
    expect((await approve(proposed)).errors).toEqual([]);
    const { figures, sha256 } = before ?? {};
    const cancelled = { state: 'rolled', due: null, problem: null, hold_reason: null, payment: 'dead' };
    expect(await months(partnerId)).toMatchObject([{ ...cancelled, figures, sha256 }]);
    expect(kinds(await cancel(partnerId))).toEqual(['action_not_possible']);

    // The next month is closed with the whole balance, which its payment takes.
    await gateway.query(
      `insert into commission_statement (partner_id, month, coin, network) values ($1, '2026-11-01', 'BTC', 'BTC')`,
      [partnerId],
    );
    gateway.clock.advance(11 * 86_400_000);
    await gateway.settlement.commission.run();
    expect((await months(partnerId)).slice(0, 2)).toMatchObject([
      { ...cancelled, figures, sha256 },
      { month: '2026-11', state: 'payable', due: '0.0201' },
    ]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('is cancelled without a payment, and after one that died', async () => {
    const [none, dead] = [await newPartner(), await newPartner()];
    const month = gateway.clock.now().toISOString().slice(0, 7);
    await closedMonth(gateway, { partnerId: none, balance: '0.02', monthsAgo: 0 });
    const { id } = await commissionPayment(gateway, { partnerId: dead, amount: '0.02', monthsAgo: 0 });
    await gateway.query(`update payment set state = 'dead', ended_at = now(), next_action_at = null where id = $1`, [
      id,
    ]);
    for (const partnerId of [none, dead]) {
      expect((await approve(await cancel(partnerId, month))).errors).toEqual([]);
      expect(await months(partnerId)).toMatchObject([{ state: 'rolled', due: null }]);
    }
  });

  it('is not cancelled while its payment may arrive', async () => {
    const month = gateway.clock.now().toISOString().slice(0, 7);
    for (const state of ['prepared', 'sent', 'ready']) {
      const partnerId = await newPartner();
      const { id } = await commissionPayment(gateway, { partnerId, amount: '0.02', monthsAgo: 0 });
      const proposed = await cancel(partnerId, month);
      await gateway.query(
        `insert into payment_attempt (payment_id, attempt, chain, payload, reserves, fee, txid, raw, prepared_at)
         values ($1, 1, 'bitcoin', 'x', '{x}', '0.0001', $2, '00', now())`,
        [id, randomUUID()],
      );
      await gateway.query('update payment set state = $2 where id = $1', [id, state]);
      expect(kinds(await approve(proposed))).toEqual(['action_not_possible']);
      expect(await months(partnerId)).toMatchObject([{ state: 'payable', due: '0.0201', payment: state }]);
    }
  });

  it('is not changed by the database while a payment of it is not dead', async () => {
    const partnerId = await newPartner();
    const month = gateway.clock.now().toISOString().slice(0, 7);
    await commissionPayment(gateway, { partnerId, amount: '0.02', monthsAgo: 0 });
    const roll = `update commission_statement set state = 'rolled', due = null where partner_id = $1 and month = $2`;
    await expect(gateway.query(roll, [partnerId, `${month}-01`])).rejects.toThrow('a closed month does not change');
  });
});
