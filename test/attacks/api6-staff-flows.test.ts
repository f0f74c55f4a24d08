import { StaffAuthenticator } from '../../src/accounts/staff/staff-authenticator.ts';
import { StaffSessions } from '../../src/accounts/staff/staff-sessions.ts';
import { openHasher } from '../../src/app/bootstrap.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { changingNothing } from '../support/database/database-state.ts';
import {
  failedOrder,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';
import { StaffBrowser } from '../support/staff/staff-browser.ts';
import {
  changeStaff,
  enrol,
  kinds,
  type Member,
  newMember,
  proposeChange,
  type StaffReply,
  staffClient,
} from '../support/staff/staff-client.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows, by staff: money moved by one
 * person alone or more than once, rights that race, and changes without an audit row.
 */

let gateway: SettledGateway;
let viewer: Member;
let operator: Member;
let second: Member;
let admin: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000' } });
  viewer = await newMember(gateway, 'viewer');
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

const refund =
  'mutation ($id: ID!, $to: String!) { orderRefund(input: { orderId: $id, address: $to }, reason: "x") { id } }';
const approve = 'mutation ($id: ID!) { actionApprove(id: $id, reason: "x") { state } }';

async function proposeRefund(by: Member, order: MadeOrder): Promise<string> {
  return (await by.data(refund, { id: order.id, to: addressExample('BTC') })).orderRefund.id;
}

function refunds(order: MadeOrder): Promise<unknown[]> {
  return gateway.query("select id from payment where order_id = $1 and kind = 'refund'", [order.id]);
}

describe('a proposal', () => {
  it('is not approved by its own proposer, in any session and by any spelling of its id', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: operator.token });
    const bySession = await fetch(`${gateway.app.internalUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: browser.cookie, Origin: gateway.app.internalUrl },
      body: JSON.stringify({ query: approve, variables: { id } }),
    });
    const told = (await bySession.json()) as Pick<StaffReply, 'errors'>;
    attempt('approving in a session', kinds(told), ['second_member_needed']);
    for (const [spelling, refusal] of [
      [id, 'second_member_needed'],
      [id.toUpperCase(), 'second_member_needed'],
      [`{${id}}`, 'action_not_found'],
      [id.replaceAll('-', ''), 'action_not_found'],
      [` ${id}`, 'action_not_found'],
    ] as const) {
      attempt(`approving ${spelling}`, kinds(await operator.ask(approve, { id: spelling })), [refusal]);
    }
    for (const member of [viewer, await newMember(gateway, 'support')]) {
      attempt('approving without the right to', kinds(await member.ask(approve, { id })), ['insufficient_role']);
    }
    attempt('refunds of what one member wants', await refunds(order), []);
  });

  it('is carried out once when five members approve it at once', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const third = await newMember(gateway, 'admin');
    const replies = await Promise.all([second, second, third, third, operator].map((one) => one.ask(approve, { id })));
    expect(replies.filter(({ errors }) => errors.length === 0)).toHaveLength(1);
    // Late approvers are told that it was decided, even the proposer.
    for (const kind of replies.flatMap(kinds)) expect(kind).toMatch(/^(action_not_possible|second_member_needed)$/);
    attempt('the proposer among those who approve', replies[4]?.errors.length, 1);
    attempt('refunds that five approve at once', (await refunds(order)).length, 1);
    const audited = await gateway.query("select 1 from audit_log where target = $1 and operation = 'actionApprove'", [
      `order:${order.id}`,
    ]);
    expect(audited).toHaveLength(1);
  });

  it('is stored once when four are sent at once, and pays once when three members approve it', async () => {
    const order = await failedOrder(gateway);
    const input = { orderId: order.id, address: addressExample('BTC') };
    const propose = 'mutation ($input: RefundInput!) { orderRefund(input: $input, reason: "x") { id } }';
    const proposals = await Promise.all(Array.from({ length: 4 }, () => operator.ask(propose, { input })));
    attempt('four proposals at once', proposals.flatMap(kinds), Array(3).fill('already_exists'));
    const id = proposals.find(({ data }) => data)?.data.orderRefund.id;
    const replies = await Promise.all([second, admin, second].map((member) => member.ask(approve, { id })));
    attempt('three approvals at once', replies.flatMap(kinds), ['action_not_possible', 'action_not_possible']);
    expect(await refunds(order)).toHaveLength(1);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    const after = await second.ask(approve, { id });
    attempt('approving what was paid', after.errors.length, 1);
    // Refused because it was decided, not only because the order cannot be refunded again.
    expect(after.errors).toMatchObject([{ message: expect.stringContaining('another member acted first') }]);
    attempt('refunds after all', (await refunds(order)).length, 1);
  });

  it('that is approved and rejected at once has one final state', async () => {
    const order = await failedOrder(gateway);
    const id = await proposeRefund(operator, order);
    const reject = 'mutation ($id: ID!) { actionReject(id: $id, reason: "x") { state } }';
    const replies = await Promise.all([second.ask(approve, { id }), admin.ask(reject, { id })]);
    attempt('approving and rejecting at once', replies.flatMap(kinds), ['action_not_possible']);
    attempt('rejecting again', kinds(await second.ask(reject, { id })), ['action_not_possible']);
    attempt('approving again', kinds(await second.ask(approve, { id })), ['action_not_possible']);
  });

  it('needs one connection of the pool, so that several at once do not block each other', async () => {
    const small = await startSettledGateway({ settings: { STAFF_POOL_SIZE: '2' } });
    try {
      const { ask } = await newMember(small, 'operator');
      const orders = await Promise.all([small.order(), small.order(), small.order(), small.order()]);
      for (const { id } of orders) {
        await ask('mutation ($id: ID!) { orderHold(orderId: $id, reason: "x") { id } }', { id });
      }
      const release = 'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "x") { state } }';
      const replies = await Promise.all(orders.map(({ id }) => ask(release, { id })));
      expect(replies.map(({ data }) => data?.orderRelease.state)).toEqual(orders.map(() => 'PROPOSED'));
    } finally {
      await small.stop();
    }
  });
});

describe('changes at once', () => {
  it('leave one price override when a price is set by hand many times', async () => {
    const { quote } = await viewer.data(
      '{ quote(input: { coinFrom: "ETH", networkFrom: "ETH", coinTo: "BTC", amount: "1" }) { amountTo } }',
    );
    const input = {
      coinFrom: 'ETH',
      coinTo: 'BTC',
      price: quote.amountTo,
      endsAt: new Date(gateway.clock.now().getTime() + 60_000),
    };
    const set = 'mutation ($input: PriceOverrideInput!) { priceOverride(input: $input, reason: "x") { id } }';
    const replies = await Promise.all(Array.from({ length: 5 }, () => admin.ask(set, { input })));
    expect(replies.flatMap(kinds)).toEqual([]);
    expect((await admin.data('{ priceOverrides { id } }')).priceOverrides).toHaveLength(1);
    await admin.data('mutation { priceOverrideEnd(coinFrom: "ETH", coinTo: "BTC", reason: "x") { id } }');
    for (const changes of [{ coinFrom: 'eth' }, { coinTo: 'BTC2' }]) {
      expect(kinds(await admin.ask(set, { input: { ...input, ...changes } }))).toEqual(['unknown_coin']);
    }
  });

  it('give a partner five keys, not six', async () => {
    const partner = await gateway.partners.create('Keys');
    const issue = 'mutation ($id: ID!) { keyIssue(partnerId: $id, reason: "x") { keyId } }';
    const replies = await Promise.all(Array.from({ length: 8 }, () => operator.ask(issue, { id: partner.id })));
    attempt('eight keys at once', replies.flatMap(kinds), Array(3).fill('too_many_keys'));
  });

  it('refuse malformed or too many networks of a key, and store each scope of a key once', async () => {
    const { id } = await gateway.partners.create('Networks');
    const issue = 'mutation ($id: ID!, $key: KeyInput!) { keyIssue(partnerId: $id, key: $key, reason: "x") { keyId } }';
    for (const allowedCidrs of [['1/8'], ['0x7f000001/8'], Array(101).fill('192.0.2.0/24')]) {
      const reply = await operator.ask(issue, { id, key: { allowedCidrs } });
      attempt(`a key of ${allowedCidrs[0]}`, kinds(reply), ['invalid_value']);
    }
    await operator.data(issue, {
      id,
      key: { scopes: Array(500).fill('ORDERS_READ'), allowedCidrs: ['2001:db8::/32'] },
    });
    const { partner } = await operator.data('query ($id: ID!) { partner(id: $id) { keys { scopes } } }', { id });
    expect(partner.keys).toEqual([{ scopes: ['ORDERS_READ'] }]);
  });

  it('let only one of two admins revoke the other', async () => {
    const small = await startSettledGateway();
    try {
      // The admin of the first start would be left in any case.
      await small.query('update staff_member set revoked_at = now()');
      const [one, two] = [await newMember(small, 'admin'), await newMember(small, 'admin')];
      await Promise.all([
        proposeChange(one, `staffRevoke(id: "${two.id}", reason: "x")`),
        proposeChange(two, `staffRevoke(id: "${one.id}", reason: "x")`),
      ]);
      const left = await small.query(
        "select 1 from staff_member where role = 'admin' and revoked_at is null and suspended_at is null",
      );
      attempt('two admins at once', left.length, 1);
    } finally {
      await small.stop();
    }
  });
});

describe('the audit log', () => {
  it('names the changed row by its stored id, in any spelling of the request', async () => {
    const { id } = await gateway.partner();
    const member = await newMember(gateway, 'viewer');
    await operator.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { name: "Big" }, reason: "x") { id } }',
      {
        id: id.toUpperCase(),
      },
    );
    await proposeChange(admin, `staffRole(id: "${member.id.toUpperCase()}", role: SUPPORT, reason: "x")`);
    const { auditLog } = await admin.data('{ auditLog(first: 2) { edges { node { target before } } } }');
    expect(auditLog.edges).toMatchObject([
      { node: { target: `staff:${member.id}`, before: expect.stringContaining('"role":"viewer"') } },
      { node: { target: `partner:${id}` } },
    ]);
  });

  it('has one row for each change of a document, and none for a failed change', async () => {
    const counts = async () => {
      const [row] = await gateway.query<{ audit: number; partners: number }>(
        'select (select count(*)::int from audit_log) as audit, (select count(*)::int from partner) as partners',
      );
      return row ?? { audit: 0, partners: 0 };
    };
    const before = await counts();
    const reply = await operator.ask(
      'mutation { a: partnerCreate(name: "one", reason: "x") { id } b: partnerCreate(name: "", reason: "x") { id } }',
    );
    expect(kinds(reply)).toEqual(['invalid_value']);
    expect(await counts()).toEqual({ audit: before.audit + 1, partners: before.partners + 1 });
  });

  it('and the change are rolled back together', async () => {
    const { id } = await gateway.order();
    await gateway.query('alter table audit_log add constraint never check (false) not valid');
    try {
      await changingNothing(gateway, async () => {
        for (const [member, query] of [
          [operator, 'mutation { partnerCreate(name: "x", reason: "x") { id } }'],
          [operator, `mutation { orderHold(orderId: "${id}", reason: "x") { id } }`],
          [operator, `mutation { orderNote(orderId: "${id}", text: "x") { id } }`],
          [admin, 'mutation { staffInvite(email: "never@example.com", role: ADMIN, reason: "x") { enrolmentCode } }'],
        ] as const) {
          const reply = await member.ask(query);
          attempt(`unwritten, ${query}`, kinds(reply), ['INTERNAL_SERVER_ERROR']);
          expect(reply.text).not.toMatch(/x[se]_|never|constraint/);
        }
      });
    } finally {
      await gateway.query('alter table audit_log drop constraint never');
    }
  });

  it('chains the values before and after when changes arrive at once', async () => {
    const { id } = await gateway.partner();
    const names = ['A', 'B', 'C', 'D'];
    await Promise.all(
      names.map((name) =>
        operator.data(
          'mutation ($id: ID!, $name: String!) { partnerChange(id: $id, changes: { name: $name }, reason: "x") { id } }',
          {
            id,
            name,
          },
        ),
      ),
    );
    const { auditLog } = await operator.data(
      'query ($target: String) { auditLog(target: $target) { edges { node { before after } } } }',
      { target: `partner:${id}` },
    );
    const steps: { before: string; after: string }[] = auditLog.edges.map(({ node }: { node: unknown }) => node);
    const befores = steps.map(({ before }) => JSON.parse(before).name).sort();
    const afters = steps.map(({ after }) => JSON.parse(after).name);
    expect(afters.sort()).toEqual(names);
    // Each name but the last was also what a change began with.
    expect(new Set(befores).size).toBe(names.length);
  });
});

describe('one admin who tries to act as two members', () => {
  const day = 24 * 3_600_000;
  let small: SettledGateway;
  let rogue: Member;
  let honest: Member;
  beforeAll(async () => {
    small = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000' } });
    await small.query('update staff_member set revoked_at = now()');
    rogue = await newMember(small, 'admin');
    honest = await newMember(small, 'admin');
    for (let i = 0; i < 12; i++) proposed.push(await proposeRefund(rogue, await failedOrder(small)));
  });
  afterAll(() => small?.stop());

  /** Refunds that the rogue proposed, from before the clock goes on and prices grow old. */
  const proposed: string[] = [];
  const nextRefund = (): string => proposed.pop() ?? '';

  const approval = async (member: Member | null, id: string): Promise<unknown> =>
    member ? kinds(await member.ask(approve, { id })) : 'no member';
  const outcomeOf = ({ data }: StaffReply) => data?.outcome;

  it('cannot enrol a puppet account alone, nor a second one', async () => {
    const id = nextRefund();
    for (const email of ['puppet@example.com', 'puppet2@example.com']) {
      const invited = outcomeOf(await proposeChange(rogue, `staffInvite(email: "${email}", role: ADMIN, reason: "x")`));
      attempt(
        `inviting ${email}`,
        [invited.change.state, invited.member, invited.enrolmentCode],
        ['PROPOSED', null, null],
      );
      const own = await proposeChange(rogue, `staffChangeApprove(id: "${invited.change.id}", reason: "x")`);
      attempt(`approving the invitation of ${email}`, kinds(own), ['second_member_needed']);
    }
    const made = await small.query("select 1 from staff_member where email like 'puppet%'");
    attempt('puppets', made.length, 0);
    attempt('the refund', await approval(rogue, id), ['second_member_needed']);
  });

  it('gets no approval from a newly enrolled member for a day after the enrolment', async () => {
    const { enrolmentCode } = await changeStaff(
      rogue,
      honest,
      'staffInvite(email: "hire@example.com", role: OPERATOR, reason: "x")',
    );
    // A code that was kept for a day does not shorten the day.
    small.clock.advance(day + 1);
    const hire = await enrol(small, enrolmentCode);
    const id = nextRefund();
    attempt('at once', await approval(hire, id), ['approval_too_early']);
    small.clock.advance(day - 60_000);
    attempt('a minute too early', await approval(hire, id), ['approval_too_early']);
    small.clock.advance(120_000);
    expect(await approval(hire, id)).toEqual([]);
  });

  it('cannot promote or re-token a helper who then approves', async () => {
    const helper = await newMember(small, 'support');
    const promoted = outcomeOf(
      await proposeChange(rogue, `staffRole(id: "${helper.id}", role: OPERATOR, reason: "x")`),
    );
    attempt('a promotion by one admin', promoted.change.state, 'PROPOSED');
    const id = nextRefund();
    attempt('approving before it', await approval(helper, id), ['insufficient_role']);
    const second = await proposeChange(honest, `staffChangeApprove(id: "${promoted.change.id}", reason: "x")`);
    expect(second.errors).toEqual([]);
    attempt('approving right after it', await approval(helper, id), ['approval_too_early']);

    const colleague = await newMember(small, 'operator');
    const renewed = outcomeOf(await proposeChange(rogue, `staffToken(id: "${colleague.id}", reason: "x")`));
    attempt('a new token by one admin', [renewed.change.state, renewed.enrolmentCode], ['PROPOSED', null]);
    attempt('the old token', (await colleague.ask('{ me { id } }')).status, 401);
    const given = outcomeOf(await proposeChange(honest, `staffChangeApprove(id: "${renewed.change.id}", reason: "x")`));
    const again = await enrol(small, given.enrolmentCode);
    attempt('approving with a new token', await approval(again, id), ['approval_too_early']);
  });

  it('does not become the only admin by suspending the other one, and is overruled by a third', async () => {
    const third = await newMember(small, 'admin');
    const revoked = outcomeOf(await proposeChange(rogue, `staffRevoke(id: "${honest.id}", reason: "x")`));
    expect([revoked.change.state, (await honest.ask('{ me { id } }')).status]).toEqual(['PROPOSED', 401]);
    const own = await proposeChange(rogue, `staffChangeApprove(id: "${revoked.change.id}", reason: "x")`);
    attempt('approving it', kinds(own), ['second_member_needed']);
    await small.query('update staff_member set revoked_at = now() where id = $1', [third.id]);
    const puppet = outcomeOf(
      await proposeChange(rogue, 'staffInvite(email: "late@example.com", role: ADMIN, reason: "x")'),
    );
    attempt('inviting while the other is suspended', puppet.change.state, 'PROPOSED');
    await small.query('update staff_member set revoked_at = null where id = $1', [third.id]);
    expect(kinds(await proposeChange(third, `staffChangeReject(id: "${revoked.change.id}", reason: "x")`))).toEqual([]);
    expect((await honest.ask('{ me { id } }')).status).toBe(200);
    await small.query('update staff_member set revoked_at = now() where id = $1', [third.id]);
  });

  it('counts as one person under every spelling of an email address and under one account of the identity provider', async () => {
    for (const email of ['ROGUE+2@Example.com', ' rogue+x@example.com']) {
      await small.query("update staff_member set email = 'rogue@example.com' where id = $1", [rogue.id]);
      const invited = await proposeChange(honest, `staffInvite(email: "${email}", role: OPERATOR, reason: "x")`);
      attempt(`inviting ${email}`, kinds(invited), ['already_exists']);
    }
    const alias = await newMember(small, 'operator');
    const id = nextRefund();
    await small.query("update staff_member set email = 'rogue+alias@example.com' where id = $1", [alias.id]);
    attempt('approving as an alias', await approval(alias, id), ['second_member_needed']);
    const sessions = new StaffSessions(
      small.app.orm,
      new StaffAuthenticator(small.app.orm, await openHasher(small.config, small.app.orm), small.clock),
      small.clock,
    );
    const account = { issuer: 'https://idp.example', subject: 'rogue' };
    expect(await sessions.signInVerified('rogue@example.com', account)).not.toBeNull();
    attempt('one account for two members', await sessions.signInVerified('rogue+alias@example.com', account), null);
    const foreign = { ...account, subject: 'another' };
    attempt('two accounts for one member', await sessions.signInVerified('rogue@example.com', foreign), null);
  });

  it('cannot have a proposal approved by a member who is lowered or suspended at that moment', async () => {
    for (let i = 0; i < 4; i++) {
      const helper = await newMember(small, 'operator');
      const id = nextRefund();
      const lowered = outcomeOf(await proposeChange(rogue, `staffRole(id: "${helper.id}", role: VIEWER, reason: "x")`));
      const [change, money] = await Promise.all([
        proposeChange(honest, `staffChangeApprove(id: "${lowered.change.id}", reason: "x")`),
        helper.ask(approve, { id }),
      ]);
      expect(change.errors).toEqual([]);
      // Either it came first, or it found a member who may not.
      if (money.errors.length > 0) {
        expect(['insufficient_role', 'unauthorized', 'UNAUTHENTICATED']).toContain(kinds(money)[0]);
      }
      const after = nextRefund();
      attempt('approving after it', (await helper.ask(approve, { id: after })).status, 401);
    }
  });

  it('cannot use an enrolment code twice, late or as a token, and no code approves a change', async () => {
    const invite = (email: string) =>
      changeStaff(rogue, honest, `staffInvite(email: "${email}", role: VIEWER, reason: "x")`);
    const once = await invite('once@example.com');
    const uses = await Promise.all([1, 2, 3].map(() => enrol(small, once.enrolmentCode)));
    attempt('a code used three times at once', uses.filter((member) => member !== null).length, 1);
    const late = await invite('late2@example.com');
    small.clock.advance(3 * day + 1);
    attempt('a code after three days', await enrol(small, late.enrolmentCode), null);
    const asToken = await staffClient(small.app.internalUrl, late.enrolmentCode)('{ me { id } }');
    attempt('a code as a token', asToken.status, 401);
    const gone = await invite('gone@example.com');
    await proposeChange(rogue, `staffRevoke(id: "${gone.member.id}", reason: "x")`);
    attempt('a code of a suspended member', await enrol(small, gone.enrolmentCode), null);
  });

  it('on a fresh installation changes staff at once, and the reply marks the change as made alone', async () => {
    const fresh = await startSettledGateway();
    try {
      await fresh.query('update staff_member set revoked_at = now()');
      const first = await newMember(fresh, 'admin');
      const outcome = outcomeOf(
        await proposeChange(first, 'staffInvite(email: "second@example.com", role: ADMIN, reason: "x")'),
      );
      expect(outcome.change).toMatchObject({ state: 'DONE', alone: true });
      const second = await enrol(fresh, outcome.enrolmentCode);
      // From the second admin on there is a second one, who approves after a day.
      const waiting = outcomeOf(
        await proposeChange(first, 'staffInvite(email: "third@example.com", role: OPERATOR, reason: "x")'),
      );
      attempt('a third member on the first day', waiting.change.state, 'PROPOSED');
      const early = second
        ? await proposeChange(second, `staffChangeApprove(id: "${waiting.change.id}", reason: "x")`)
        : null;
      attempt('approved on the first day', early && kinds(early), ['approval_too_early']);
      // Nor does the first admin approve what the second one, who may be a puppet, proposes on its
      // first day.
      const puppets = second
        ? outcomeOf(await proposeChange(second, 'staffInvite(email: "fourth@example.com", role: ADMIN, reason: "x")'))
        : null;
      const own = await proposeChange(first, `staffChangeApprove(id: "${puppets?.change.id}", reason: "x")`);
      attempt('proposed on the first day', kinds(own), ['approval_too_early']);
      const { attention } = await first.data('{ attention { kind subjectId } }');
      expect(attention).toContainEqual({ kind: 'STAFF_CHANGE_OPEN', subjectId: waiting.change.id });
    } finally {
      await fresh.stop();
    }
  });
});
