import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { TransactionSigner } from '../../../src/chains/port/transaction-signer.ts';
import { type LocalSigner, openLocalSigner } from '../../../src/signer/local-signer.ts';
import { TestClock } from '../../support/gateway/clock.ts';

/** A kind of transactions that finds no fault. The payload is the time of the head, if any. */
const kind: TransactionSigner = {
  get traits() {
    return traits;
  },
  hotWallet: () => 'home',
  isHotWallet: (_chain, address) => address === 'home',
  open: (_chain, { id, attempt }, { payload }) => ({
    faults: [],
    ...(payload === 'no time' ? {} : { builtAtMs: Number(payload) }),
    ...(leastCounted === undefined ? {} : { leastCounted }),
    sign: () => ({ txid: `${id}-${attempt}`, raw: `signed ${payload}` }),
  }),
};

const start = new Date('2026-01-31T12:00:00Z').getTime();
const room = {
  maxFee: 10n,
  feesPerDay: 100n,
  assets: new Map([['', { perPayment: 5n, perDay: 15n, commissionPerDay: 1n }]]),
};

let dir: string;
let clock: TestClock;
let traits: TransactionSigner['traits'];
let leastCounted: bigint | undefined;
let signer: LocalSigner;
/** The txids that a gateway would know. */
let known: readonly string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signer-death-'));
  clock = new TestClock(new Date(start));
  traits = { exclusive: false, furtherAttempts: 3, paysFromDeposits: false };
  known = [];
  leastCounted = undefined;
  signer = await open();
});

afterEach(async () => {
  await signer.close();
  await rm(dir, { recursive: true, force: true });
});

function open(): Promise<LocalSigner> {
  return openLocalSigner({
    entropy: new Uint8Array(32).fill(7),
    dataDir: dir,
    live: () => new Map([['tron', kind]]),
    limits: new Map([['tron', room]]),
    clock,
  });
}

async function restart(): Promise<void> {
  await signer.close();
  signer = await open();
}

interface Ask {
  readonly expiresAt?: Expiry | null;
  readonly reserves?: readonly string[];
  /** Milliseconds of the head's time before the signer's clock; null when the bytes have none. */
  readonly headBehindMs?: number | null;
}

const intent: Omit<PaymentIntent, 'attempt'> = {
  id: 'p',
  from: null,
  contract: null,
  to: 'recipient',
  tag: null,
  amount: 5n,
};

/** Asks for an attempt, and names the others that were signed. */
async function sign(attempt: number, { expiresAt, reserves, headBehindMs = 0 }: Ask = {}): Promise<string> {
  const now = clock.now().getTime();
  const tx: PreparedTx = {
    payload: headBehindMs === null ? 'no time' : String(now - headBehindMs),
    reserves: reserves ?? [`attempt:p:${attempt}`],
    fee: 1n,
    expiresAt: expiresAt === undefined ? { timeMs: now + 60_000 } : expiresAt,
  };
  const { txid } = await signer.sign('tron', { ...intent, attempt }, tx, known);
  known = [...new Set([...known, txid])];
  return txid;
}

async function expectRefused(signing: Promise<unknown>, reason: string | RegExp): Promise<void> {
  await expect(signing).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
  await expect(signing).rejects.toThrow(reason);
}

describe('a further attempt on a chain whose attempts do not exclude each other', () => {
  it('is signed 120 s after the earlier one expired by the clock of the signer, and not 1 ms before', async () => {
    await sign(1);
    const reason =
      'attempt 1 of payment p may still confirm; a further one may be asked for from 2026-01-31T12:03:00.000Z';
    await expectRefused(sign(2), reason);
    clock.advance(60_000 + 119_999);
    await restart();
    await expectRefused(sign(2), reason);
    clock.advance(1);
    expect(await sign(2)).toBe('p-2');
  });

  it('waits for the last of all earlier ones, in any order of signing', async () => {
    await sign(2, { expiresAt: { timeMs: start - 500_000 } });
    await sign(1, { expiresAt: { timeMs: start + 700_000 } });
    clock.advance(700_000 + 119_999);
    await expectRefused(sign(3), 'attempt 1 of payment p may still confirm');
    clock.advance(1);
    await sign(3);
  });

  it.each([29_999, -29_999])('is signed when the head is %i ms behind the clock', async (headBehindMs) => {
    await sign(1);
    clock.advance(180_000);
    expect(await sign(2, { headBehindMs })).toBe('p-2');
  });

  it.each([
    30_000,
    -30_000,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('is refused when the head is %d ms behind the clock, and signed when it is built on a newer head', async (headBehindMs) => {
    await sign(1);
    clock.advance(180_000);
    await expectRefused(
      sign(2, { headBehindMs }),
      "the time of the chain in attempt 2 of payment p is 30 s or more from the signer's clock; " +
        'it may be asked for again once it is built on a block of the present time, and the clock is right',
    );
    expect(await sign(2)).toBe('p-2');
  });

  it('is refused when its bytes state no time of the chain', async () => {
    await sign(1, { headBehindMs: null });
    clock.advance(180_000);
    await expectRefused(sign(2, { headBehindMs: null }), 'attempt 2 of payment p does not state the time of the chain');
  });

  it.each([null, { height: 7 }])('is never signed while there is one that expires at %j', async (expiresAt) => {
    await sign(1, { expiresAt });
    clock.advance(86_400_000 * 3_650);
    await expectRefused(
      sign(2),
      'attempt 1 of payment p has no time of expiry that the signer can judge; no further one is ever signed',
    );
  });

  it('is never signed while there is one that an earlier version signed, whose entry holds no expiry', async () => {
    traits = { exclusive: true, furtherAttempts: 3, paysFromDeposits: false };
    await sign(1, { expiresAt: null });
    traits = { exclusive: false, furtherAttempts: 3, paysFromDeposits: false };
    clock.advance(86_400_000);
    await expectRefused(sign(2), 'no further one is ever signed');
  });

  it('is never signed when the gateway names a signed one that the journal has lost', async () => {
    known = ['lost'];
    const reason = 'payment p has a signed transaction that is not in the journal, so its expiry is unknown';
    await expectRefused(sign(2), reason);
    clock.advance(86_400_000);
    await expectRefused(sign(2), reason);
    traits = { exclusive: true, furtherAttempts: 3, paysFromDeposits: false };
    expect(await sign(2)).toBe('p-2');
  });

  it('is further also when it states the reservation of an earlier one', async () => {
    traits = { exclusive: false, furtherAttempts: 2, paysFromDeposits: false };
    const reserves = ['attempt:p:1'];
    await sign(1, { reserves });
    await expectRefused(sign(2, { reserves }), 'may still confirm');
    clock.advance(180_000);
    await sign(2, { reserves });
    clock.advance(180_000);
    await expectRefused(sign(3, { reserves }), 'as 2 transactions that do not exclude each other');
  });

  it('is bound by furtherAttempts', async () => {
    traits = { exclusive: false, furtherAttempts: 2, paysFromDeposits: false };
    await sign(1);
    clock.advance(180_000);
    await sign(2);
    clock.advance(180_000);
    await expectRefused(sign(3), 'payment p was signed as 2 transactions that do not exclude each other');
  });

  it('counts its amount again in the limit of the day', async () => {
    const expiresAt = { timeMs: start - 120_000 };
    traits = { exclusive: false, furtherAttempts: 9, paysFromDeposits: false };
    for (const attempt of [1, 2, 3]) await sign(attempt, { expiresAt });
    await expectRefused(sign(4, { expiresAt }), 'per_day');
  });

  it('leaves no entry when it is refused, so that the same attempt can be signed later', async () => {
    await sign(1);
    await expectRefused(sign(2), 'may still confirm');
    clock.advance(180_000);
    expect(await sign(2)).toBe('p-2');
  });

  it('counts the fee that its bytes do not bound, when the gateway states less', async () => {
    leastCounted = 60n;
    await sign(1);
    clock.advance(180_000);
    // 120 of 100 for the day, though the gateway states 2.
    await expectRefused(sign(2), 'fees_per_day');
    leastCounted = 0n;
    expect(await sign(2)).toBe('p-2');
  });

  // A block takes a transaction whose expiration is later than the time of the block before it. The
  // first block after a halt may so take one that expired during the halt.
  it('during a halt of the chain is refused by the time of the head, which only a false gateway hides', async () => {
    await sign(1, { expiresAt: { timeMs: start + 1_000 } });
    clock.advance(600_000);
    await expectRefused(sign(2, { headBehindMs: 600_000 }), "30 s or more from the signer's clock");
    expect(await sign(2, { headBehindMs: 0 })).toBe('p-2');
  });

  it('is not one after an attempt that was revoked', async () => {
    const tx: PreparedTx = { payload: String(start), reserves: [], fee: 1n, expiresAt: { timeMs: start + 60_000 } };
    expect(await signer.revoke('tron', { ...intent, attempt: 1 }, tx)).toBeNull();
    expect(await sign(2)).toBe('p-2');
  });

  it('is not the first one, even on an old head, nor one that was signed before', async () => {
    await sign(1, { headBehindMs: 86_400_000 });
    clock.advance(30);
    const expiresAt = { timeMs: start + 60_000 };
    // The bytes of the first request: the head has the same time.
    expect(await sign(1, { headBehindMs: 86_400_030, expiresAt })).toBe('p-1');
  });
});

describe('a further attempt on a chain whose attempts exclude each other', () => {
  it('is none by the same reservation: it needs neither an expiry nor a time', async () => {
    traits = { exclusive: true, furtherAttempts: 1, paysFromDeposits: false };
    const ask: Ask = { reserves: ['ticket:7'], headBehindMs: null };
    await sign(1, ask);
    await sign(2, ask);
    expect(await sign(3, { ...ask, expiresAt: { height: 9 } })).toBe('p-3');
  });

  it('is bound by furtherAttempts with another reservation', async () => {
    traits = { exclusive: true, furtherAttempts: 2, paysFromDeposits: false };
    await sign(1, { reserves: ['ticket:7'] });
    await sign(2, { reserves: ['ticket:8'] });
    await expectRefused(sign(3, { reserves: ['ticket:9'] }), 'as 2 transactions that do not exclude each other');
    await sign(4, { reserves: ['ticket:8'] });
  });
});

describe('the journal', () => {
  const entryOf = async (): Promise<string> => {
    const files = await readdir(join(dir, 'signer-journal'), { recursive: true });
    return join(dir, 'signer-journal', files.find((name) => name.endsWith('-1.json')) ?? '');
  };
  const textOf = async (): Promise<string> => readFile(await entryOf(), 'utf8');

  it('holds an expiry where there is one', async () => {
    await sign(1, { expiresAt: { timeMs: 5 } });
    expect(await textOf()).toMatch(/"fee":"1","expiresAt":\{"timeMs":5\}\}\n$/);
  });

  it('holds the text of earlier versions where there is none', async () => {
    await sign(1, { expiresAt: null });
    expect(await textOf()).toMatch(/"reserves":\["attempt:p:1"\],"fee":"1"\}\n$/);
  });

  it.each(['{"timeMs":5,"height":5}', '{"timeMs":-5}', '{}', '7'])('is damaged with the expiry %s', async (expiry) => {
    await sign(1, { expiresAt: { timeMs: 5 } });
    await writeFile(await entryOf(), (await textOf()).replace('{"timeMs":5}', expiry));
    await expectRefused(sign(2), 'an entry of payment p in the journal of signatures is damaged');
  });

  it('refuses other expiries for an attempt that was signed', async () => {
    await sign(1, { expiresAt: { timeMs: 5 } });
    for (const expiresAt of [{ timeMs: 6 }, { height: 5 }, null]) {
      await expectRefused(sign(1, { expiresAt }), 'attempt 1 of payment p was signed before as something else');
    }
  });
});
