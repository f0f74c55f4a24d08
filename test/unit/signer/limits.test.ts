import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evmTraits } from '../../../src/chains/evm/evm-traits.ts';
import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { TransactionSigner } from '../../../src/chains/port/transaction-signer.ts';
import { type ChainLimits, limitsDigest, type SigningLimits } from '../../../src/signer/limits.ts';
import { type LocalSigner, openLocalSigner } from '../../../src/signer/local-signer.ts';
import { TestClock } from '../../support/gateway/clock.ts';

/** A kind of transactions that believes everything, so that only the limits say no. */
const anything: TransactionSigner = {
  traits: evmTraits,
  hotWallet: () => 'Home',
  hasSetups: true,
  isHotWallet: (_chain, address) => address === 'Home',
  movingLimits: () => ({ once: 10n, perDay: 60n }),
  open: (_chain, intent, tx) => ({
    faults: [],
    moved: BigInt(/^channel:(\d+)$/.exec(intent.setup ?? '')?.[1] ?? 0),
    sign: () => ({ txid: `${intent.id}-${tx.payload}`, raw: `signed ${tx.payload}` }),
  }),
};

const limits: SigningLimits = new Map([
  [
    'ethereum',
    {
      maxFee: 10n,
      feesPerDay: 1_000n,
      assets: new Map([
        ['', { perPayment: 100n, perDay: 250n, commissionPerDay: 25n }],
        ['0xtoken', { perPayment: 5n, perDay: 8n, commissionPerDay: 0n }],
      ]),
    },
  ],
  [
    'litecoin',
    {
      maxFee: 10n,
      feesPerDay: 30n,
      assets: new Map([['', { perPayment: 100n, perDay: 100n, commissionPerDay: 10n }]]),
    },
  ],
]);

let dir: string;
let clock: TestClock;
let signer: LocalSigner;

const open = () =>
  openLocalSigner({
    entropy: new Uint8Array(32).fill(7),
    dataDir: dir,
    live: () => new Map(['ethereum', 'litecoin', 'dogecoin'].map((chain) => [chain, anything])),
    limits,
    clock,
  });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signer-limits-'));
  clock = new TestClock(new Date('2026-01-31T12:00:00Z'));
  signer = await open();
});

afterEach(async () => {
  await signer.close();
  await rm(dir, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  await signer.close();
  signer = await open();
}

interface Changes extends Partial<Omit<PaymentIntent, 'id' | 'amount'>> {
  readonly chain?: string;
  readonly fee?: bigint;
  readonly spends?: string;
}

/** What a gateway would know of its payments. */
const known = new Map<string, string[]>();

async function sign(id: string, amount: bigint, changes: Changes = {}) {
  const { chain = 'ethereum', fee = 1n, spends = id, ...intent } = changes;
  const tx: PreparedTx = { payload: `${id} ${intent.attempt} ${fee}`, reserves: [spends], fee, expiresAt: null };
  const signed = await signer.sign(
    chain,
    { id, attempt: 1, from: null, contract: null, to: 'stranger', tag: null, amount, ...intent },
    tx,
    known.get(id),
  );
  known.set(id, [...(known.get(id) ?? []), signed.txid]);
  return signed;
}

const refused = { name: 'SignerError', code: 'refused' };
const dayFile = (date = '2026-01-31') => join(dir, 'signer-spending', `${date}.jsonl`);

async function expectRefused(signing: Promise<unknown>, reason: string): Promise<void> {
  await expect(signing).rejects.toMatchObject(refused);
  await expect(signing).rejects.toThrow(reason);
}

describe('the digest of limits', () => {
  it('exists for each signed chain, and differs exactly when the limits differ', async () => {
    const ethereum = limits.get('ethereum') as ChainLimits;
    const told = await signer.limitsDigest('ethereum');
    expect(told).toMatch(/^[0-9a-f]{16}$/);
    expect(told).toBe(limitsDigest({ ...ethereum, assets: new Map([...ethereum.assets].toReversed()) }));
    const others: ChainLimits[] = [
      { ...ethereum, maxFee: 11n },
      { ...ethereum, feesPerDay: 999n },
      { ...ethereum, assets: new Map() },
      {
        ...ethereum,
        assets: new Map([...ethereum.assets, ['', { perPayment: 100n, perDay: 250n, commissionPerDay: 24n }]]),
      },
      {
        ...ethereum,
        assets: new Map([...ethereum.assets, ['', { perPayment: 100n, perDay: 251n, commissionPerDay: 25n }]]),
      },
    ];
    for (const other of others) expect(limitsDigest(other)).not.toBe(told);
    // As versions without a limit of commission told it.
    expect(told).toBe('11337dfcd3a6b4b1');
    expect(await signer.limitsDigest('dogecoin')).toBe(null);
    expect(await signer.limitsDigest('bitcoin')).toBe(null);
  });
});

describe('limits of a signer', () => {
  it('allow a payment of exactly the maximum, and none above it', async () => {
    await sign('a', 100n);
    await expectRefused(sign('b', 101n), 'limit of one payment (per_payment) of the own coin of ethereum');
    await sign('c', 5n, { contract: '0xtoken' });
    await expectRefused(sign('d', 6n, { contract: '0xtoken' }), '(per_payment) of token 0xtoken of ethereum');
  });

  it('allow the daily sum once, also over a restart, and again on the next UTC day', async () => {
    await sign('a', 100n);
    await sign('b', 100n);
    await expectRefused(sign('c', 51n), 'limit of the day (per_day) of the own coin of ethereum');
    await restart();
    await expectRefused(sign('c', 51n), 'until 00:00 UTC');
    await sign('d', 50n);
    await expectRefused(sign('e', 1n), 'per_day');
    // Another asset has its own.
    await sign('f', 5n, { contract: '0xtoken' });
    clock.advance(12 * 3_600_000 - 1);
    await expectRefused(sign('c', 51n), 'per_day');
    clock.advance(1);
    await sign('c', 51n);
    expect(await readFile(dayFile('2026-02-01'), 'utf8')).toContain('"amount":"51"');
  });

  it('show no amounts in their refusals', async () => {
    await sign('a', 77n);
    await sign('b', 99n);
    const signing = sign('c', 98n);
    await expectRefused(signing, 'per_day');
    await expect(signing).rejects.not.toThrow(/\b(77|99|98|176|250)\b/);
  });

  it('return the bytes of a signed payment also after the daily limit is used up', async () => {
    const first = await sign('a', 100n);
    await sign('b', 100n);
    await sign('c', 50n);
    expect(await sign('a', 100n)).toEqual(first);
    clock.advance(86_400_000 * 3);
    await restart();
    expect(await sign('a', 100n)).toEqual(first);
    await expect(stat(dayFile('2026-02-03'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('count a payment once while its transactions exclude each other, and again when they do not', async () => {
    await sign('a', 100n, { spends: 'nonce:1' });
    await sign('a', 100n, { attempt: 2, spends: 'nonce:1', fee: 2n });
    await sign('b', 100n, { spends: 'nonce:2' });
    await sign('b', 100n, { attempt: 2, spends: 'nonce:2', fee: 2n });
    await sign('c', 50n, { spends: 'nonce:3' });
    // The day is full, and a replacement goes out.
    await sign('c', 50n, { attempt: 2, spends: 'nonce:3', fee: 2n });
    await expectRefused(sign('c', 50n, { attempt: 3, spends: 'nonce:4' }), 'per_day');
  });

  it('count only the added fee when a payment of the day before is replaced', async () => {
    await sign('a', 100n, { spends: 'nonce:1', fee: 4n });
    clock.advance(86_400_000);
    await restart();
    await sign('a', 100n, { attempt: 2, spends: 'nonce:1', fee: 9n });
    expect(JSON.parse(await readFile(dayFile('2026-02-01'), 'utf8'))).toMatchObject({ amount: '0', fee: '5' });
  });

  it('bound the fee of each transaction, and the fees of a day', async () => {
    await sign('a', 1n, { chain: 'litecoin', fee: 10n });
    await expectRefused(sign('b', 1n, { chain: 'litecoin', fee: 11n }), 'limit of one fee (max_fee) of litecoin');
    await sign('c', 1n, { chain: 'litecoin', fee: 10n });
    await sign('d', 1n, { chain: 'litecoin', from: ['txid:0'], to: 'Home', fee: 9n });
    await expectRefused(sign('e', 1n, { chain: 'litecoin', fee: 2n }), 'for fees (fees_per_day) of litecoin');
    await sign('f', 1n, { chain: 'litecoin', fee: 1n });
    await sign('g', 1n, { fee: 10n });
  });

  it('count only the fee of a sweep, which goes to the hot wallet and nowhere else', async () => {
    await sign('a', 1_000_000n, { from: ['one'], to: 'Home' });
    await sign('b', 1_000_000n, { from: ['two'], to: 'Home', contract: '0xunlisted' });
    await sign('c', 100n);
    await sign('d', 100n);
    await expectRefused(sign('e', 1n, { from: ['three'], to: 'stranger' }), 'a sweep goes to the hot wallet only');
    // On a chain with base58 addresses this is another address, perhaps without an owner.
    await expectRefused(sign('g', 1n, { from: ['five'], to: 'home' }), 'a sweep goes to the hot wallet only');
    await expectRefused(sign('f', 1n, { from: ['four'], to: 'Home', fee: 11n }), 'max_fee');
    // Said to be a sweep once, a payment stays one.
    await expectRefused(sign('c', 100n, { attempt: 2, from: [], to: 'Home' }), 'signed before as something else');
  });

  it('refuse a coin and a chain without limits, and name the setting', async () => {
    await expectRefused(sign('a', 1n, { contract: '0xother' }), 'name its coin under limits of ethereum');
    await expectRefused(sign('b', 1n, { contract: '0xTOKEN' }), 'token 0xTOKEN of ethereum has no limits');
    await expectRefused(
      sign('c', 1n, { chain: 'dogecoin' }),
      'dogecoin has no limits: name them in the file of networks',
    );
    expect(await readdir(join(dir, 'signer-spending'))).toEqual(['lock']);
  });

  it('allow concurrent payments that fit together', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => sign(`p${index}`, 30n)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect((await readFile(dayFile(), 'utf8')).trim().split('\n')).toHaveLength(8);
  });

  it('belong to one process at a time', async () => {
    await expect(open()).rejects.toThrow('another process signs for live chains');
    await restart();
  });

  it('count a payment once that was counted and not signed before a crash', async () => {
    await sign('a', 100n);
    await rm(join(dir, 'signer-journal'), { recursive: true });
    await restart();
    await sign('a', 100n);
    await sign('b', 100n);
    await sign('c', 50n);
    await expectRefused(sign('d', 1n), 'per_day');
  });

  it('count nothing for an attempt that was revoked', async () => {
    const gone = { id: 'gone', attempt: 1, from: null, contract: null, to: 'stranger', tag: null, amount: 100n };
    const tx: PreparedTx = { payload: 'gone 1 1', reserves: ['gone'], fee: 1n, expiresAt: null };
    expect(await signer.revoke('ethereum', gone, tx)).toBeNull();
    await expect(sign('gone', 100n)).rejects.toMatchObject({ name: 'SignerError', code: 'revoked' });
    await sign('gone', 100n, { attempt: 2 });
    await sign('another', 100n);
    await expectRefused(sign('third', 100n), 'per_day');
  });

  it('count a line that a crash cut as a maximum payment of every asset', async () => {
    await sign('a', 50n);
    await appendFile(dayFile(), '{"key":"b","chain":"ethe');
    await restart();
    await expectRefused(sign('c', 100n, { chain: 'litecoin' }), 'per_day');
    await sign('d', 100n);
    await expectRefused(sign('e', 1n), 'per_day');
    // What came after it is whole.
    await restart();
    await expectRefused(sign('e', 1n), 'per_day');
    expect((await readFile(dayFile(), 'utf8')).split('\n')).toHaveLength(4);
    clock.advance(86_400_000);
    await sign('e', 100n);
  });

  it('return no bytes when the spending cannot be stored', async () => {
    await mkdir(dayFile());
    const signing = sign('a', 1n);
    await expect(signing).rejects.toMatchObject({ name: 'SignerError', code: 'unavailable' });
    expect(await readdir(join(dir, 'signer-journal'))).toEqual([]);
  });

  it('are stored in files that only their owner can read', async () => {
    await sign('a', 1n);
    const modes = [dayFile(), join(dir, 'signer-spending')].map(async (path) => (await stat(path)).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o600, 0o700]);
  });

  it('do not apply on sandbox chains', async () => {
    await expectRefused(sign('a', 1n, { chain: 'bitcoin' }), 'the payload is not a sandbox transaction');
  });
});

describe('set-ups of the wallet', () => {
  const setup = (id: string, changes: Changes = {}) => sign(id, 0n, { to: 'Home', setup: 'tickets:40', ...changes });

  it('count no amount, and their fees apart from those of payments', async () => {
    for (const id of ['a', 'b', 'c']) await sign(id, 10n, { chain: 'litecoin', fee: 10n });
    await expectRefused(sign('d', 10n, { chain: 'litecoin', fee: 1n }), 'fees_per_day');
    await setup('e', { chain: 'litecoin', fee: 10n });
    await restart();
    await setup('f', { chain: 'litecoin', fee: 10n });
  });

  it('may cost twenty times the highest fee in a day, also after a restart, and stop no payment', async () => {
    for (let index = 0; index < 10; index += 1) await setup(`s${index}`, { fee: 10n });
    await restart();
    for (let index = 10; index < 20; index += 1) await setup(`s${index}`, { fee: 10n });
    await expectRefused(setup('more', { fee: 1n }), '20 times max_fee, for set-ups of the wallet');
    await sign('payment', 10n, { fee: 10n });
    clock.advance(86_400_000);
    await setup('tomorrow', { fee: 10n });
  });

  it('move a bounded amount to further accounts of the wallet in a day, also after a restart', async () => {
    for (let index = 0; index < 5; index += 1) await setup(`m${index}`, { setup: 'channel:10' });
    await restart();
    await expectRefused(setup('m5', { setup: 'channel:11' }), 'may move to further accounts of the wallet');
    await setup('m6', { setup: 'channel:10' });
    await expectRefused(setup('m7', { setup: 'channel:1' }), 'is reached until 00:00 UTC');
    await setup('m8');
    // No amount of a payment is counted.
    await sign('payment', 100n);
    await sign('another', 100n);
    clock.advance(86_400_000);
    await setup('m9', { setup: 'channel:10' });
  });

  it('count a damaged line as the largest set-up', async () => {
    for (let index = 0; index < 4; index += 1) await setup(`m${index}`, { setup: 'channel:10' });
    await appendFile(dayFile(), '{"key":\n');
    await restart();
    await setup('m4', { setup: 'channel:10' });
    await expectRefused(setup('m5', { setup: 'channel:1' }), 'may move to further accounts of the wallet');
  });

  it('move the same coins once with attempts that exclude each other', async () => {
    for (let index = 0; index < 5; index += 1) await setup(`m${index}`, { setup: 'channel:10' });
    await setup('again', { setup: 'channel:10' });
    await setup('again', { setup: 'channel:10', attempt: 2, fee: 2n });
    await expectRefused(setup('again', { setup: 'channel:10', attempt: 3, spends: 'another' }), 'may move to further');
  });

  it('are refused with a fee above the highest', async () => {
    await expectRefused(setup('dear', { fee: 11n }), 'max_fee');
  });

  it('are refused with an amount, which a limit of payments would not see', async () => {
    await expectRefused(sign('paying', 1n, { to: 'Home', setup: 'tickets:40' }), 'a set-up has an amount');
  });

  it('are another decision than a payment of nothing, and than another set-up', async () => {
    await setup('one');
    await expectRefused(setup('one', { attempt: 2, setup: 'tickets:41' }), 'was signed before as something else');
  });
});

describe('commission', () => {
  const commission = (id: string, amount: bigint, changes: Changes = {}) =>
    sign(id, amount, { purpose: 'commission', ...changes });

  it('has a part of the day, also over a restart, and counts in the day as well', async () => {
    await commission('a', 20n);
    await expectRefused(commission('b', 6n), 'limit of the day of commission (commission_per_day)');
    await restart();
    await expectRefused(commission('b', 6n), '(commission_per_day) of the own coin of ethereum');
    await commission('b', 5n);
    await expectRefused(commission('c', 1n), 'commission_per_day');
    // Payouts go on, up to the day with the commission in it.
    await sign('d', 100n);
    await sign('e', 100n, { purpose: 'payout' });
    await expectRefused(sign('f', 26n, { purpose: 'refund' }), '(per_day)');
    await sign('f', 25n, { purpose: 'refund' });
    clock.advance(86_400_000);
    await commission('c', 25n);
  });

  it('has no room in a day that payouts have used up', async () => {
    for (const id of ['a', 'b']) await sign(id, 100n);
    await sign('c', 40n);
    await expectRefused(commission('d', 11n), '(per_day)');
    await commission('d', 10n);
  });

  it('is not signed at all with a part of 0', async () => {
    await sign('payout', 5n, { contract: '0xtoken' });
    await expectRefused(commission('a', 1n, { contract: '0xtoken' }), 'no commission of');
  });

  it('is another decision than a payout of the same amount', async () => {
    await commission('a', 5n);
    await expectRefused(sign('a', 5n, { attempt: 2 }), 'was signed before as something else');
    await sign('b', 5n);
    await expectRefused(commission('b', 5n, { attempt: 2 }), 'was signed before as something else');
  });

  it('counts once while its transactions exclude each other', async () => {
    await commission('a', 25n, { spends: 'nonce:1' });
    await commission('a', 25n, { attempt: 2, spends: 'nonce:1', fee: 2n });
    await expectRefused(commission('a', 25n, { attempt: 3, spends: 'nonce:2' }), 'commission_per_day');
  });

  it('has no room after a line that a crash cut, which may have been commission', async () => {
    await sign('a', 1n);
    await appendFile(dayFile(), '{"key":"b","chain":"ethe');
    await restart();
    await expectRefused(commission('c', 1n), 'commission_per_day');
    await sign('d', 100n);
  });
});

describe('the purpose of a payment', () => {
  it.each<[string, Changes]>([
    ['a sweep without sources', { purpose: 'sweep', to: 'Home' }],
    ['commission from deposits', { purpose: 'commission', from: ['one'], to: 'Home' }],
    ['a payout from deposits', { purpose: 'payout', from: ['one'], to: 'Home' }],
    ['gas with a set-up', { purpose: 'gas', setup: 'tickets:40' }],
    ['a set-up without its name', { purpose: 'setup' }],
    ['a sweep that is a set-up', { purpose: 'sweep', from: ['one'], to: 'Home', setup: 'tickets:40' }],
  ])('agrees with its shape: not %s', async (_what, changes) => {
    await expectRefused(sign('a', changes.setup === undefined ? 1n : 0n, changes), 'the payment disagree');
    expect(await readdir(join(dir, 'signer-journal'))).toEqual([]);
  });

  it('is one that the signer knows', async () => {
    await expectRefused(sign('a', 1n, { purpose: 'gift' as 'payout' }), 'the purpose of the payment is unknown');
  });

  it('changes nothing of what was signed before purposes existed', async () => {
    await sign('a', 10n);
    await sign('a', 10n, { attempt: 2, purpose: 'payout', fee: 2n });
    await sign('b', 10n, { from: ['one'], to: 'Home' });
    await sign('b', 10n, { attempt: 2, purpose: 'sweep', from: ['one'], to: 'Home', fee: 2n });
  });
});
