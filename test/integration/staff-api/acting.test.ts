import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32 } from '@scure/base';
import { Big, floorTo } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { encodeBase58check } from '../../../src/chains/addresses/base58check.ts';
import { failedOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { changeStaff, enrol, newMember } from '../../support/staff/staff-client.ts';
import { staffStates } from '../../support/staff/staff-states.ts';

type Member = Awaited<ReturnType<typeof newMember>>;

let gateway: SettledGateway;
let viewer: Member;
let support: Member;
let operator: Member;
let second: Member;
let admin: Member;

beforeAll(async () => {
  gateway = await startSettledGateway();
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

/** The newest entries of the audit log about a target, newest first. */
async function audited(
  target: string,
): Promise<{ operation: string; reason: string; before: string | null; after: string | null }[]> {
  const { auditLog } = await operator.data(
    `query ($target: String) { auditLog(target: $target) { edges { node {
       operation target reason before after requestId ip at actor { email } } } } }`,
    { target },
  );
  return auditLog.edges.map(({ node }: { node: unknown }) => node);
}

function countAudit(): Promise<number> {
  return gateway
    .query<{ count: number }>('select count(*)::int as count from audit_log')
    .then(([row]) => row?.count ?? 0);
}

const refund = `mutation ($input: RefundInput!, $reason: String!) { orderRefund(input: $input, reason: $reason) {
  id action state address tag reason proposedBy { email } decidedBy { email } order { id status } } }`;
const approve = `mutation ($id: ID!) { actionApprove(id: $id, reason: "checked") { id state decidedBy { email } order { status } } }`;

describe('orders', () => {
  it('are refunded to an address once a second member approves', async () => {
    const order = await failedOrder(gateway);
    const input = { orderId: order.id, address: addressExample('BTC') };
    const { orderRefund } = await operator.data(refund, { input, reason: 'the user asked' });
    expect(orderRefund).toMatchObject({
      action: 'REFUND',
      state: 'PROPOSED',
      address: addressExample('BTC'),
      proposedBy: { email: operator.email },
      decidedBy: null,
      order: { id: order.id, status: 'FAILED' },
    });
    const { proposals } = await support.data('{ proposals { id order { id } } }');
    expect(proposals).toContainEqual({ id: orderRefund.id, order: { id: order.id } });

    const own = await operator.ask(approve, { id: orderRefund.id });
    expect(own.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', kind: 'second_member_needed' } }]);
    const { actionApprove } = await second.data(approve, { id: orderRefund.id });
    expect(actionApprove).toMatchObject({
      state: 'DONE',
      decidedBy: { email: second.email },
      order: { status: 'REFUNDING' },
    });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');

    const again = await second.ask(approve, { id: orderRefund.id });
    expect(again.errors).toMatchObject([{ extensions: { code: 'CONFLICT', kind: 'action_not_possible' } }]);
    expect(await audited(`order:${order.id}`)).toMatchObject([
      { operation: 'actionApprove', reason: 'checked', actor: { email: second.email } },
      { operation: 'orderRefund', reason: 'the user asked', actor: { email: operator.email } },
    ]);
  });

  it('get a deposit without a tag once a second member approves, and the evidence is kept', async () => {
    const { orderId, depositId } = await staffStates(gateway, operator).untaggedDeposit();
    const list = `query ($txid: String, $withSmall: Boolean!) {
      unassignedDeposits(txid: $txid, withSmall: $withSmall) { edges { node { id problem payments { id } } } pageInfo { hasNextPage } } }`;
    const ids = async (variables: object): Promise<string[]> =>
      (await operator.data(list, { withSmall: false, ...variables })).unassignedDeposits.edges.map(
        ({ node }: { node: { id: string } }) => node.id,
      );
    const [row] = await gateway.query<{ txid: string }>('select txid from deposit where id = $1', [depositId]);
    expect(await ids({})).toEqual([depositId]);
    expect(await ids({ txid: row?.txid.toUpperCase() })).toEqual([depositId]);
    expect(await ids({ txid: 'another' })).toEqual([]);
    const propose =
      'mutation ($input: DepositAssignInput!) { depositAssign(input: $input, reason: "by the form") { id evidence order { id } deposit { id } } }';
    const evidence = 'the sending exchange confirms the account';
    const input = { orderId, depositId, evidence };
    const { depositAssign } = await operator.data(propose, { input });
    expect(depositAssign).toMatchObject({ evidence, order: { id: orderId }, deposit: { id: depositId } });
    expect((await operator.ask(propose, { input: { ...input, evidence: '' } })).errors).toMatchObject([
      { extensions: { kind: 'missing_field' } },
    ]);
    for (const text of ['x'.repeat(4_001), 'a\0b', '\ud800']) {
      expect((await operator.ask(propose, { input: { ...input, evidence: text } })).errors).toMatchObject([
        { extensions: { kind: 'invalid_value' } },
      ]);
    }
    await second.data(approve, { id: depositAssign.id });
    await gateway.tick();
    expect(await ids({})).toEqual([]);
    const { auditLog } = await operator.data(
      `{ auditLog(target: "order:${orderId}") { edges { node { operation after } } } }`,
    );
    const entry = auditLog.edges.find(
      ({ node }: { node: { operation: string } }) => node.operation === 'depositAssign',
    );
    expect(JSON.parse(entry.node.after)).toMatchObject({ depositId, evidence });
  });

  it('keep their state when a proposal is turned down, or was impossible', async () => {
    const order = await failedOrder(gateway);
    const before = await countAudit();
    const wrong = await operator.ask(refund, { input: { orderId: order.id, address: 'nonsense' }, reason: 'x' });
    expect(wrong.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', kind: 'invalid_address' } }]);
    const none = await operator.ask(refund, {
      input: { orderId: order.id, address: addressExample('BTC') },
      reason: '  ',
    });
    expect(none.errors).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
    const done = await operator.ask('mutation ($id: ID!) { orderMarkFailed(orderId: $id, reason: "x") { id } }', {
      id: order.id,
    });
    expect(done.errors).toMatchObject([{ extensions: { kind: 'action_not_possible' } }]);
    expect(await countAudit()).toBe(before);
    expect(await gateway.query('select 1 from staff_action where order_id = $1', [order.id])).toEqual([]);

    const { orderRefund } = await operator.data(refund, {
      input: { orderId: order.id, address: addressExample('BTC') },
      reason: 'the user asked',
    });
    const { actionReject } = await second.data(
      'mutation ($id: ID!) { actionReject(id: $id, reason: "wrong address") { state } }',
      { id: orderRefund.id },
    );
    expect(actionReject.state).toBe('REJECTED');
    expect((await gateway.show(order)).status).toBe('failed');
  });

  it('are held by support and released by two operators', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.tick();
    const { orderHold } = await support.data(
      'mutation ($id: ID!) { orderHold(orderId: $id, reason: "looks odd") { state order { hold { reason } } } }',
      { id: order.id },
    );
    expect(orderHold).toMatchObject({ state: 'DONE', order: { hold: { reason: expect.any(String) } } });
    await gateway.mine('BTC', 3);
    await gateway.tick();
    expect(await gateway.query('select 1 from payment where order_id = $1', [order.id])).toEqual([]);
    const { attention } = await viewer.data('{ attention { kind subjectId } }');
    expect(attention).toContainEqual({ kind: 'HELD_ORDER', subjectId: order.id });
    const { orderRelease } = await operator.data(
      'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "all well") { id state } }',
      { id: order.id },
    );
    expect(orderRelease.state).toBe('PROPOSED');
    await second.data(approve, { id: orderRelease.id });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
  });

  it('stay held when they were held again after a release was proposed', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.tick();
    const hold = 'mutation ($id: ID!) { orderHold(orderId: $id, reason: "odd") { id } }';
    const release = 'mutation ($id: ID!) { orderRelease(orderId: $id, reason: "fine") { id } }';
    await support.data(hold, { id: order.id });
    const { orderRelease } = await operator.data(release, { id: order.id });
    const twice = await operator.ask(release, { id: order.id });
    expect(twice.errors).toMatchObject([{ extensions: { code: 'CONFLICT', kind: 'already_exists' } }]);
    await gateway.query("update exchange_order set held_at = held_at + interval '1 second' where id = $1", [order.id]);
    const stale = await second.ask(approve, { id: orderRelease.id });
    expect(stale.errors).toMatchObject([{ extensions: { kind: 'action_not_possible' } }]);
    await second.data('mutation ($id: ID!) { actionReject(id: $id, reason: "stale") { state } }', {
      id: orderRelease.id,
    });
    gateway.clock.advance(2_000);
    const { orderRelease: next } = await operator.data(release, { id: order.id });
    await second.data(approve, { id: next.id });
    expect(
      (await viewer.data('query ($id: ID!) { order(id: $id) { hold { since } } }', { id: order.id })).order.hold,
    ).toBeNull();
  });

  it('are never refunded to an address of our own', async () => {
    const order = await failedOrder(gateway);
    const other = await gateway.order();
    const input = { orderId: order.id, address: other.depositAddress };
    const { errors } = await operator.ask(refund, { input, reason: 'x' });
    expect(errors).toMatchObject([{ extensions: { kind: 'own_address' } }]);
    // The same key in another form.
    const hash = bech32.fromWords(bech32.decode(other.depositAddress as 'bc1').words.slice(1));
    const nested = ripemd160(sha256(Uint8Array.from([0, 20, ...hash])));
    for (const address of [encodeBase58check([0x00], hash), encodeBase58check([0x05], nested)]) {
      const again = await operator.ask(refund, { input: { orderId: order.id, address }, reason: 'x' });
      expect(again.errors).toMatchObject([{ extensions: { kind: 'own_address' } }]);
    }
    const wallet = addressExample('BTC');
    await gateway.query("insert into setting (name, value) values ('hot_wallet:bitcoin', $1)", [wallet]);
    const paying = await operator.ask(refund, { input: { orderId: order.id, address: wallet }, reason: 'x' });
    await gateway.query("delete from setting where name = 'hot_wallet:bitcoin'");
    expect(paying.errors).toMatchObject([{ extensions: { kind: 'own_address' } }]);
    const nothing = await operator.ask(refund, { input: { address: addressExample('BTC') }, reason: 'x' });
    expect(nothing.errors).toMatchObject([{ extensions: { kind: 'missing_field' } }]);
  });

  it('get notes', async () => {
    const order = await gateway.order();
    const text = 'called the partner; "all fine" <b>';
    await support.data('mutation ($id: ID!, $text: String!) { orderNote(orderId: $id, text: $text) { id } }', {
      id: order.id,
      text,
    });
    const { order: read } = await viewer.data(
      'query ($id: ID!) { order(id: $id) { notes { text author { email } } } }',
      {
        id: order.id,
      },
    );
    expect(read.notes).toEqual([{ text, author: { email: support.email } }]);
    const { errors } = await support.ask('mutation { orderNote(orderId: "XP-AAAAAA", text: "x") { id } }');
    expect(errors).toMatchObject([{ extensions: { kind: 'order_not_found' } }]);
  });
});

describe('partners and keys', () => {
  it('are made, priced, limited, switched and keyed, and each step is written down', async () => {
    const { partnerCreate } = await operator.data(
      'mutation { partnerCreate(name: "Shop", reason: "contract 7") { id status } }',
    );
    const { id } = partnerCreate;
    const { keyIssue } = await operator.data(
      'mutation ($id: ID!) { keyIssue(partnerId: $id, key: { label: "web" }, reason: "first key") { keyId key } }',
      { id },
    );
    const rate = (key?: string) =>
      gateway
        .call(
          'GET',
          '/partner/rates?coin_from=BTC&coin_to=ETH&network_to=ETH&amount=0.1',
          key === undefined ? {} : { key },
        )
        .then(({ json }) => json.rate);
    await admin.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { pricing: { float: "0.2" } }, reason: "contract 7") { id } }',
      {
        id,
      },
    );
    await admin.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { limits: { requests: 7, lists: 9 } }, reason: "contract 7") { id } }',
      { id },
    );
    await operator.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { name: "Big Shop" }, reason: "new name") { id } }',
      {
        id,
      },
    );
    await operator.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { requireSignature: true }, reason: "asked") { id } }',
      {
        id,
      },
    );
    await operator.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { publicStatus: true }, reason: "asked") { id } }',
      {
        id,
      },
    );
    const page =
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { orderPage: true, displayName: "Big Wallet" }, reason: "asked") { id } }';
    await operator.data(page, { id });
    const { partner } = await support.data(
      'query ($id: ID!) { partner(id: $id) { name feeRateFloat rateLimitPerMin listsLimitPerMin publicStatus orderPage displayName requireSignature pricing { float fixed } keys { keyId } } }',
      { id },
    );
    expect(partner).toMatchObject({
      name: 'Big Shop',
      feeRateFloat: '0.2',
      rateLimitPerMin: 7,
      listsLimitPerMin: 9,
      publicStatus: true,
      orderPage: true,
      displayName: 'Big Wallet',
      requireSignature: true,
      pricing: { float: '0.2' },
      keys: [{ keyId: keyIssue.keyId }],
    });
    expect(await rate(keyIssue.key)).not.toBe(await rate());

    const { keyRoll } = await operator.data(
      'mutation ($k: ID!) { keyRoll(keyId: $k, hours: 0, reason: "leak") { keyId key } }',
      {
        k: keyIssue.keyId,
      },
    );
    const { keyChange } = await operator.data(
      'mutation ($k: ID!) { keyChange(keyId: $k, key: { label: "api", scopes: [ORDERS_READ] }, reason: "less") { label scopes } }',
      { k: keyRoll.keyId },
    );
    expect(keyChange).toEqual({ label: 'api', scopes: ['ORDERS_READ'] });
    await operator.data('mutation ($k: ID!) { keyRevoke(keyId: $k, reason: "done") { revokedAt } }', {
      k: keyRoll.keyId,
    });
    await operator.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { status: INACTIVE }, reason: "left") { status } }',
      {
        id,
      },
    );
    expect((await audited(`partner:${id}`)).map(({ operation }) => operation)).toEqual([
      ...Array.from({ length: 7 }, () => 'partnerChange'),
      'partnerCreate',
    ]);
    const [entry] = await audited(`key:${keyRoll.keyId}`);
    expect(entry).toMatchObject({ operation: 'keyRevoke' });
    const log = await gateway.query<{ line: string }>('select (a.*)::text as line from audit_log a');
    for (const { key } of [keyIssue, keyRoll]) {
      expect(log.some(({ line }) => line.includes(key.split('.')[1]))).toBe(false);
    }
  });

  it('are refused what makes no sense, and nothing is written', async () => {
    const { id } = await gateway.partner();
    const before = await countAudit();
    const wrong: [Member, string, string][] = [
      [operator, 'mutation { partnerCreate(name: "", reason: "x") { id } }', 'invalid_value'],
      [
        operator,
        'mutation { partnerChange(id: "x", changes: { name: "y" }, reason: "x") { id } }',
        'partner_not_found',
      ],
      [
        admin,
        `mutation { partnerChange(id: "${id}", changes: { pricing: { float: "0.9" } }, reason: "x") { id } }`,
        'invalid_value',
      ],
      [
        admin,
        `mutation { partnerChange(id: "${id}", changes: { limits: { orders: 0 } }, reason: "x") { id } }`,
        'invalid_value',
      ],
      [operator, 'mutation { keyRevoke(keyId: "x", reason: "x") { keyId } }', 'key_not_found'],
      [operator, `mutation { keyIssue(partnerId: "${id}", reason: "") { keyId } }`, 'invalid_value'],
    ];
    for (const [member, mutation, kind] of wrong) {
      const { errors, data } = await member.ask(mutation);
      expect({ mutation, errors }).toMatchObject({ errors: [{ extensions: { kind } }] });
      expect(data).toBeNull();
    }
    expect(await countAudit()).toBe(before);
  });
});

describe('currencies and prices', () => {
  it('are switched and changed, at once in this process', async () => {
    const quote = () => gateway.call('GET', '/partner/rates?coin_from=LTC&coin_to=BTC');
    expect((await quote()).status).toBe(200);
    const off =
      'mutation { currencySwitch(coin: "LTC", network: "LTC", switches: { isDepositEnabled: false }, reason: "node") { isDepositEnabled } }';
    await operator.data(off);
    expect((await quote()).json.code).toBe('deposit_disabled');
    await operator.data(off.replace('false', 'true'));
    expect((await quote()).status).toBe(200);
    await admin.data(
      'mutation { currencyTerms(coin: "LTC", network: "LTC", terms: { minAmount: "1.5", minConfirmations: 9 }, reason: "x") { minAmount } }',
    );
    const { currencies } = await viewer.data('{ currencies { coin network minAmount minConfirmations } }');
    expect(currencies).toContainEqual({ coin: 'LTC', network: 'LTC', minAmount: '1.5', minConfirmations: 9 });
    const [entry] = await audited('currency:LTC/LTC');
    expect(JSON.parse(entry?.before ?? '{}')).not.toEqual(JSON.parse(entry?.after ?? '{}'));
  });

  it('have a price set by hand until its end', async () => {
    const query = '{ quote(input: { coinFrom: "ETH", networkFrom: "ETH", coinTo: "BTC", amount: "1" }) { amountTo } }';
    const market = (await viewer.data(query)).quote.amountTo;
    const endsAt = new Date(gateway.clock.now().getTime() + 600_000);
    const set =
      'mutation ($input: PriceOverrideInput!) { priceOverride(input: $input, reason: "source is off") { price setBy { email } } }';
    const price = floorTo(new Big(market).times('1.2'), 6).toFixed();
    const { priceOverride } = await admin.data(set, { input: { coinFrom: 'ETH', coinTo: 'BTC', price, endsAt } });
    expect(priceOverride).toEqual({ price, setBy: { email: admin.email } });
    const byHand = (await viewer.data(query)).quote.amountTo;
    expect(new Big(byHand).gt(new Big(market).times('1.15')) && new Big(byHand).lt(price)).toBe(true);
    const order = await gateway.order({
      coin_from: 'ETH',
      network_from: 'ETH',
      coin_to: 'BTC',
      network_to: 'BTC',
      recipient_address: addressExample('BTC'),
      amount_from: 1,
    });
    expect(order.amountTo).toBe(byHand);
    const slip = await admin.ask(set, { input: { coinFrom: 'ETH', coinTo: 'BTC', price: '0.5', endsAt } });
    expect(slip.errors).toMatchObject([{ message: expect.stringContaining('more than a quarter away') }]);
    expect((await viewer.data('{ priceOverrides { coinFrom coinTo } }')).priceOverrides).toEqual([
      { coinFrom: 'ETH', coinTo: 'BTC' },
    ]);
    gateway.clock.advance(601_000);
    await gateway.app.catalogue.refresh();
    expect(new Big((await viewer.data(query)).quote.amountTo).minus(market).abs().lt('0.01')).toBe(true);
    const { errors } = await admin.ask(set, {
      input: { coinFrom: 'ETH', coinTo: 'ETH', price: '1', endsAt: new Date() },
    });
    expect(errors).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
  });
});

describe('staff', () => {
  it('are invited, changed and shut out by two admins', async () => {
    const other = await newMember(gateway, 'admin');
    const outcome = await changeStaff(
      admin,
      other,
      'staffInvite(email: "New@Example.com", role: SUPPORT, reason: "joins")',
    );
    const { id } = outcome.member;
    expect(outcome.member).toMatchObject({ email: 'new@example.com', role: 'SUPPORT', hasToken: false });
    const joined = await enrol(gateway, outcome.enrolmentCode);
    expect(await joined?.data('{ me { role } }')).toEqual({ me: { role: 'SUPPORT' } });
    expect(await enrol(gateway, outcome.enrolmentCode)).toBeNull();
    const lowered = await changeStaff(admin, other, `staffRole(id: "${id}", role: VIEWER, reason: "moved")`);
    expect((await joined?.ask('{ me { role } }'))?.status).toBe(401);
    const again = await enrol(gateway, lowered.enrolmentCode);
    expect(await again?.data('{ me { role } }')).toEqual({ me: { role: 'VIEWER' } });
    const renewed = await changeStaff(admin, other, `staffToken(id: "${id}", reason: "lost")`);
    expect((await again?.ask('{ me { role } }'))?.status).toBe(401);
    const last = await enrol(gateway, renewed.enrolmentCode);
    expect((await last?.ask('{ me { role } }'))?.status).toBe(200);
    await changeStaff(admin, other, `staffRevoke(id: "${id}", reason: "left")`);
    expect((await last?.ask('{ me { role } }'))?.status).toBe(401);
    const { staff } = await admin.data('{ staff { id email role revokedAt } }');
    expect(staff.find((member: { id: string }) => member.id === id).revokedAt).not.toBeNull();
    expect((await audited(`staff:${id}`)).map(({ operation }) => operation)).toEqual([
      'staffChangeApprove',
      'staffRevoke',
      'staffEnrol',
      'staffChangeApprove',
      'staffToken',
      'staffEnrol',
      'staffChangeApprove',
      'staffRole',
      'staffEnrol',
      'staffChangeApprove',
    ]);
    expect((await audited('staff:new@example.com')).map(({ operation }) => operation)).toEqual(['staffInvite']);
  });
});

describe('the audit log', () => {
  it('refuses changes and deletions, also by SQL', async () => {
    await expect(gateway.query('update audit_log set reason = $1', ['x'])).rejects.toThrow('append-only');
    await expect(gateway.query('delete from audit_log')).rejects.toThrow('append-only');
    await expect(gateway.query('delete from order_note')).rejects.toThrow('append-only');
  });

  it('is paged both ways', async () => {
    const page = (args: string) =>
      operator.data(
        `{ auditLog(${args}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } }`,
      );
    const { auditLog: all } = await page('first: 100');
    const { auditLog: first } = await page('first: 3');
    const { auditLog: next } = await page(`first: 3, after: "${first.pageInfo.endCursor}"`);
    expect([...first.edges, ...next.edges]).toEqual(all.edges.slice(0, 6));
    const { auditLog: back } = await page(`last: 3, before: "${next.pageInfo.startCursor}"`);
    expect(back.edges).toEqual(first.edges);
    expect((await operator.ask('{ auditLog(after: "x") { edges { cursor } } }')).errors).toMatchObject([
      { extensions: { kind: 'invalid_value' } },
    ]);
  });

  it('is filtered by operation and time', async () => {
    const { id } = await gateway.order();
    await operator.data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
    const list = async (args: string) =>
      (await operator.data(`{ auditLog(first: 100, ${args}) { edges { node { at operation target } } } }`)).auditLog
        .edges;
    const holds = await list('operation: "orderHold"');
    expect(new Set(holds.map((edge: { node: { operation: string } }) => edge.node.operation))).toEqual(
      new Set(['orderHold']),
    );
    const { at, target } = holds[0].node;
    expect(target).toBe(`order:${id}`);
    const after = new Date(Date.parse(at) + 1).toISOString();
    expect(await list(`target: "order:${id}", from: "${at}", to: "${after}"`)).toHaveLength(1);
    expect(await list(`target: "order:${id}", to: "${at}"`)).toEqual([]);
    expect(await list(`target: "order:${id}", from: "${after}"`)).toEqual([]);
    expect(
      (await operator.ask(`{ auditLog(from: "${after}", to: "${at}") { edges { cursor } } }`)).errors,
    ).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
  });
});

describe('decided proposals', () => {
  it('are listed with who decided, the last first', async () => {
    const ids: string[] = [];
    for (const reason of ['first', 'second']) {
      const { id } = await gateway.order();
      await operator.data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
      const made = await operator.data(`mutation { orderRelease(orderId: "${id}", reason: "${reason}") { id } }`);
      expect((await operator.data('{ decidedProposals { id } }')).decidedProposals).not.toContainEqual({
        id: made.orderRelease.id,
      });
      await operator.data(`mutation { actionReject(id: "${made.orderRelease.id}", reason: "no") { id } }`);
      ids.push(made.orderRelease.id);
    }
    const { decidedProposals } = await operator.data('{ decidedProposals(limit: 2) { id state decidedBy { email } } }');
    expect(decidedProposals).toEqual(
      ids.reverse().map((id) => ({ id, state: 'REJECTED', decidedBy: { email: operator.email } })),
    );
    expect((await operator.ask('{ decidedProposals(limit: 0) { id } }')).errors).toMatchObject([
      { extensions: { kind: 'invalid_value' } },
    ]);
  });
});

describe('sessions of a member', () => {
  const own = '{ sessions { id isCurrent via lastSeenAt endedAt } }';

  it('are listed, and end at once', async () => {
    const member = await newMember(gateway, 'viewer');
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: member.token });
    expect((await browser.get('/console')).status).toBe(200);
    const { sessions } = await member.data(own);
    expect(sessions).toMatchObject([{ isCurrent: false, via: 'TOKEN', endedAt: null }]);
    await member.data(`mutation { sessionEnd(id: "${sessions[0].id}", reason: "left it open") { id endedAt } }`);
    expect((await browser.get('/console')).status).toBe(302);
    expect((await member.data(own)).sessions).toEqual([]);
    expect((await audited(`staff:${member.id}`)).map(({ operation }) => operation)).toEqual(['sessionEnd']);
  });

  it('of another member cannot be ended, nor an ended one', async () => {
    const [member, other] = [await newMember(gateway, 'viewer'), await newMember(gateway, 'admin')];
    const browser = new StaffBrowser(gateway.app.internalUrl);
    await browser.post('/sign-in', { token: member.token });
    const { id } = (await member.data(own)).sessions[0];
    const end = `mutation { sessionEnd(id: "${id}", reason: "x") { id } }`;
    expect((await other.ask(end)).errors).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
    expect((await browser.get('/console')).status).toBe(200);
    await member.data(end);
    expect((await member.ask(end)).errors).toMatchObject([{ extensions: { kind: 'invalid_value' } }]);
  });
});
