import { causeWords, operationWords, targetWords } from '../../../web/cabinet/cause-words.ts';
import { assetName, monthName, monthState } from '../../../web/cabinet/commission-words.ts';
import { actionFaults } from '../../../web/cabinet/faults.ts';
import { keyMoves } from '../../../web/cabinet/key-moves.ts';
import { limitGroups } from '../../../web/cabinet/limits.ts';
import { isUnderWay, momentsOf } from '../../../web/cabinet/moments.ts';
import { networksOf } from '../../../web/cabinet/network.ts';
import { askedByOwnId, askedOrders } from '../../../web/cabinet/order-filter.ts';
import { browserName, deviceName } from '../../../web/cabinet/passkey-names.ts';
import { steps } from '../../../web/cabinet/tasks.ts';
import {
  answerOf,
  creationOptions,
  fromBase64Url,
  requestDigest,
  requestOptions,
  toBase64Url,
} from '../../../web/cabinet/webauthn.ts';
import { GatewayError } from '../../../web/ui/failure.ts';

describe('what the cabinet asks of the list of orders', () => {
  it('comes from the address, without what no filter knows', () => {
    expect(askedOrders({})).toEqual({ limit: 25, include: ['details'] });
    expect(askedOrders({ q: 'xp-7k2m9q' })).toMatchObject({ ids: ['xp-7k2m9q'] });
    expect(askedOrders({ q: '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90' })).not.toHaveProperty('external_id');
    expect(
      askedOrders({
        q: 'cart-1',
        status: 'completed,unknown,failed',
        coin: 'btc',
        from: '2026-11-01',
        to: '2026-11-30',
      }),
    ).toEqual({
      limit: 25,
      include: ['details'],
      external_id: 'cart-1',
      status: ['completed', 'failed'],
      coin: 'BTC',
      created_from: '2026-11-01T00:00:00.000Z',
      created_to: '2026-12-01T00:00:00.000Z',
    });
    expect(askedOrders({ status: 'unknown', from: '2026-99-99', to: 'soon', cursor: 'abc' })).toEqual({
      limit: 25,
      include: ['details'],
      cursor: 'abc',
    });
  });
});

it('a text with the form of a name may be an id of the partner', () => {
  for (const q of ['order-123456', '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90']) {
    expect(askedByOwnId({ q, coin: 'btc' })).toEqual({
      limit: 25,
      include: ['details'],
      external_id: q,
      coin: 'BTC',
    });
  }
  expect([askedByOwnId({}), askedByOwnId({ q: 'cart-1' })]).toEqual([null, null]);
});

describe('a refusal of an action', () => {
  const faults = [{ field: 'networks.1', detail: "'1.2.3.4/99' is not a network" }];
  const refusal = new GatewayError('invalid_value', "'1.2.3.4/99' is not a network", { requestId: '01', faults });

  it('stands at the field that the server names', () => {
    const values = { label: 'checkout', networks: '203.0.113.0/24\n1.2.3.4/99' };
    expect(actionFaults(refusal, values)).toEqual({
      whole: null,
      fields: { networks: "'1.2.3.4/99' is not a network" },
      waitSec: null,
    });
  });

  it('stands below the form that has no such field', () => {
    expect(actionFaults(refusal, { label: 'checkout' }).whole).toBe("'1.2.3.4/99' is not a network (request 01)");
    const limited = new GatewayError('rate_limited', 'too many requests', { retryAfterSec: 3 });
    expect(actionFaults(limited, { label: '' })).toEqual({ whole: 'too many requests', fields: {}, waitSec: 3 });
  });
});

describe('what needs action', () => {
  it('is told in words, with the way to it', () => {
    const shown = steps([
      { code: 'orders_ask', count: 3 },
      { code: 'one_passkey', count: 1 },
      { code: 'key_expires', count: 0 },
    ]);
    expect(shown.map(({ detail, to }) => [detail, to])).toEqual([
      ['3 orders wait for your decision.', '/orders'],
      ['You have a single passkey. With a second one, a lost device does not lock you out.', '/me'],
    ]);
    // A newer server may know more.
    expect(steps([{ code: 'unknown' as 'orders_ask', count: 1 }])).toEqual([]);
  });
});

it('an order that has ended is under way again while it asks, and while a deposit comes or goes back', () => {
  const ended = { status: 'expired', action_required: null, deposits: [], refunds: [] } as const;
  const question = { id: 'act_4', reason: 'late', deadline: '', default: 'refund', actions: [] } as const;
  const orders = [
    ended,
    { ...ended, deposits: [{ state: 'credited' }, { state: 'lost' }], refunds: [{ state: 'confirmed' }] },
    { ...ended, status: 'sending' as const },
    { ...ended, action_required: { ...question, actions: [] } },
    { ...ended, deposits: [{ state: 'confirming' }] },
    { ...ended, refunds: [{ state: 'sent' }] },
  ];
  expect(orders.map(isUnderWay)).toEqual([false, false, true, true, true, true]);
});

describe('the timeline of an order', () => {
  it('merges moves, deposits and payments, each with the time since the previous one', () => {
    const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 23) + seconds * 1_000).toISOString();
    const payment = {
      txid: 'out',
      coin: 'USDT',
      network: 'TRC20',
      amount: '9.5',
      state: 'confirmed' as const,
      created_at: at(140),
      explorer_url: null,
    };
    const moments = momentsOf({
      events: [
        {
          seq: 1,
          event_id: 'evt_1',
          type: 'order.created',
          status: 'waiting_deposit',
          previous_status: null,
          cause: 'created',
          at: at(0),
        },
        {
          seq: 2,
          event_id: 'evt_2',
          type: 'order.deposit_detected',
          status: 'confirming',
          previous_status: 'waiting_deposit',
          cause: 'deposit_seen',
          at: at(60),
        },
        {
          seq: 3,
          event_id: 'evt_3',
          type: 'order.completed',
          status: 'completed',
          previous_status: 'sending',
          cause: 'payout_confirmed',
          at: at(200),
        },
      ],
      deposits: [
        {
          txid: 'in',
          coin: 'BTC',
          network: 'BTC',
          amount: '0.1',
          confirmations: 1,
          state: 'credited',
          role: 'main',
          output_index: 0,
          refund_obstacle: null,
          explorer_url: null,
          seen_at: at(60),
        },
      ],
      payout: { ...payment, sent_at: at(150), confirmed_at: at(200) },
      refunds: [],
    });
    expect(moments.map(({ what, sinceSec, tone }) => [what, sinceSec, tone])).toEqual([
      ['Created', null, 'plain'],
      ['Deposit of 0.1 BTC seen', 60, 'plain'],
      ['Confirming', 0, 'info'],
      ['Payout of 9.5 USDT sent', 90, 'accent'],
      ['Payout of 9.5 USDT confirmed', 50, 'good'],
      ['Completed', 0, 'good'],
    ]);
  });
});

describe('the limits of a partner', () => {
  it('stand in words, with the use where it is known, and whose value it is', () => {
    const limits = [
      { name: 'fixed_day_usd', most: '300000', used: '45000.75', is_own: false },
      { name: 'requests', most: '600', used: '590', is_own: true },
      { name: 'list_requests', most: '120', used: null, is_own: false },
      { name: 'markup_bps', most: '150', used: null, is_own: true },
      { name: 'markup_bps', most: '5', used: null, is_own: true },
      { name: 'deposit_window_sec', most: '1800', used: null, is_own: false },
    ] as const;
    const rows = limitGroups(limits.map((limit) => ({ ...limit }))).flatMap((group) => group.rows);
    expect(rows.map(({ name, most, used, share, isOwn }) => [name, most, used, share, isOwn])).toEqual([
      ['fixed_day_usd', '$300,000', '$45,000', 45000.75 / 300000, false],
      ['requests', '600 a minute', '590', 590 / 600, true],
      ['list_requests', '120 a minute', null, null, false],
      ['markup_bps', '1.5 %', null, null, true],
      ['deposit_window_sec', '30 min', null, null, false],
    ]);
  });
});

describe('the history of an order and of an account', () => {
  it('is told in words, and names people and keys', () => {
    expect(causeWords('liquidity_bought')).toBe('The exchange is done');
    expect(causeWords('some_later_cause')).toBe('Some later cause');
    expect(operationWords('setKeyNetworks')).toBe('Set the IP addresses of a key');
    expect(operationWords('someLaterOperation')).toBe('Some later operation');
    const names = new Map([['01', 'Ada Osei']]);
    const targets = ['member:01', 'member:02', 'key:xp_test_1', 'webhook:03'];
    expect(targets.map((target) => targetWords(target, names))).toEqual([
      'Ada Osei',
      'a former member',
      'xp_test_1',
      null,
    ]);
  });
});

describe('names of the cabinet', () => {
  it('say what happens to an old key, and which range an address alone is', () => {
    expect(keyMoves(0)).toBe('The old one has ended.');
    expect(keyMoves(168)).toBe('Both work now. The old one ends in 7 d; change over before that.');
    expect(networksOf('203.0.113.7, 2001:db8::1\n 10.0.0.0/8 nonsense')).toEqual([
      '203.0.113.7/32',
      '2001:db8::1/128',
      '10.0.0.0/8',
      'nonsense',
    ]);
  });

  it('read a User-Agent for people', () => {
    const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/146.0 Safari/537.36';
    expect([browserName(mac), deviceName(mac)]).toEqual(['Chrome on Mac', 'Mac']);
    expect([browserName('curl/8'), browserName(''), deviceName('curl/8')]).toEqual([
      'curl/8',
      'Unknown browser',
      'Passkey',
    ]);
  });
});

describe('passkeys in a browser that reads no JSON', () => {
  const known = Object.getOwnPropertyDescriptor(globalThis, 'PublicKeyCredential');
  const attestation = Object.getOwnPropertyDescriptor(globalThis, 'AuthenticatorAttestationResponse');
  class Attestation {
    readonly clientDataJSON = Uint8Array.of(1, 2).buffer;
    readonly attestationObject = Uint8Array.of(255, 254).buffer;
    getTransports = () => ['internal'];
  }
  beforeAll(() => {
    // Without the functions that read JSON.
    Object.assign(globalThis, { PublicKeyCredential: class {}, AuthenticatorAttestationResponse: Attestation });
  });
  afterAll(() => {
    if (known) Object.defineProperty(globalThis, 'PublicKeyCredential', known);
    else Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
    if (attestation) Object.defineProperty(globalThis, 'AuthenticatorAttestationResponse', attestation);
    else Reflect.deleteProperty(globalThis, 'AuthenticatorAttestationResponse');
  });

  it('turn base64url into bytes and back', () => {
    for (const bytes of [[], [0], [255, 254, 253], [1, 2, 3, 4], [251, 239, 190]]) {
      const text = toBase64Url(Uint8Array.from(bytes));
      expect(text).toMatch(/^[\w-]*$/);
      expect([...fromBase64Url(text)]).toEqual(bytes);
    }
  });

  it('get their options as bytes', () => {
    const made = creationOptions({
      challenge: '-_8',
      rp: { id: 'localhost', name: 'Cabinet' },
      user: { id: 'AQI', name: 'ada', displayName: 'Ada' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      excludeCredentials: [{ id: 'AQ', type: 'public-key', transports: ['internal'] }],
    });
    expect([...new Uint8Array(made.challenge as ArrayBuffer)]).toEqual([251, 255]);
    expect([...new Uint8Array(made.user.id as ArrayBuffer)]).toEqual([1, 2]);
    expect(made.excludeCredentials?.[0]?.transports).toEqual(['internal']);
    const asked = requestOptions({ challenge: 'AA', rpId: 'localhost', userVerification: 'required' });
    expect([asked.rpId, asked.userVerification, asked.allowCredentials]).toEqual(['localhost', 'required', []]);
  });

  it('answer in JSON', () => {
    const credential = {
      id: 'AQ',
      rawId: Uint8Array.of(1).buffer,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      response: new Attestation(),
      getClientExtensionResults: () => ({}),
    };
    expect(answerOf(credential as unknown as PublicKeyCredential)).toEqual({
      id: 'AQ',
      rawId: 'AQ',
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: { clientDataJSON: 'AQI', attestationObject: '__4', transports: ['internal'] },
    });
  });
});

it('the digest of a request that a passkey confirms tells its method, path and body', async () => {
  await expect(requestDigest('POST', '/cabinet/api/keys', '{}')).rejects.toThrow('This browser knows no passkeys');
  Object.assign(globalThis, { PublicKeyCredential: class {} });
  Object.defineProperty(navigator, 'credentials', { value: { create: () => null }, configurable: true });
  try {
    const digest = await requestDigest('POST', '/cabinet/api/keys', '{"label":"Ä"}');
    // By openssl dgst -sha256 -binary and basenc --base64url.
    expect(digest).toBe('vWAGNHxRj3juE5eSE1FKcOI1nwCcwJqq9l1DJoEleJE');
    expect(await requestDigest('PUT', '/cabinet/api/keys', '{"label":"Ä"}')).not.toBe(digest);
  } finally {
    Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
    Reflect.deleteProperty(navigator, 'credentials');
  }
});

type Statement = Parameters<typeof monthState>[0];
type Problem = NonNullable<Statement['problem']>;

describe('a month of commission', () => {
  const statement: Statement = {
    month: '2026-11',
    state: 'payable',
    coin: 'USDC',
    network: 'ERC20',
    orders: 2,
    figures: [],
    due: '72.07',
    problem: null,
    sha256: null,
    closed_at: null,
    paid_at: null,
    payment: null,
  };

  it('has the names of its month and its asset', () => {
    expect([monthName('2026-01'), monthName('2026-12')]).toEqual(['January 2026', 'December 2026']);
    expect([assetName(statement), assetName({ coin: 'BTC', network: 'BTC' })]).toEqual(['USDC on ERC20', 'BTC']);
  });

  it('says how it stands, and which minimum it has not reached', () => {
    const said = (['open', 'closed', 'rolled', 'payable', 'paid'] as const).map(
      (state) => monthState({ ...statement, state }, '50')[1],
    );
    expect(said).toEqual(['Open', 'Closed', 'Carried over', 'To be paid', 'Paid']);
    expect(monthState({ ...statement, state: 'rolled' }, '50')[2]).toContain('below the minimum of $50');
    const payment = { txid: null, amount: '70.57', fee: '1.5', explorer_url: null };
    expect(monthState({ ...statement, payment }, '50')[1]).toBe('In payment');
  });

  it('says for each problem what it waits for, and which ones an owner ends', () => {
    // The compiler refuses a missing name.
    const all: Record<Problem, true> = {
      held: true,
      partner_inactive: true,
      payment_failed: true,
      no_asset: true,
      no_address: true,
      address_lost: true,
      below_fee: true,
      payment_dead: true,
      not_covered: true,
    };
    const named = Object.keys(all) as Problem[];
    const said = named.map((problem) => monthState({ ...statement, problem }, '50'));
    expect(new Set(said.map(([, , text]) => text)).size).toBe(named.length);
    expect(named.filter((_problem, index) => said[index]?.[0] === 'bad')).toEqual(['no_address', 'address_lost']);
    expect(monthState({ ...statement, problem: 'no_asset' }, '50')[2]).toContain('USDC on ERC20 is switched off');
  });
});
