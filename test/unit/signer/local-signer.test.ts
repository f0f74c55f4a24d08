import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { entropyToMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SandboxTransactions } from '../../../src/chains/sandbox/sandbox-transactions.ts';
import {
  encodePayload,
  openSandboxTx,
  type SandboxPayload,
  sandboxAddress,
  sandboxTxid,
} from '../../../src/chains/sandbox/sandbox-tx.ts';
import { SignerJournal } from '../../../src/signer/journal.ts';
import { LocalSigner, openLocalSigner } from '../../../src/signer/local-signer.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { slip10Key } from '../../../src/signer/slip10.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const sandbox = new SandboxTransactions(keys);
const own = sandbox.hotWallet();
const stranger = new SandboxTransactions(new SignerKeys(new Uint8Array(32).fill(8))).hotWallet();

const intent: PaymentIntent = {
  id: '0199f7a2-0000-7000-8000-000000000001',
  from: null,
  attempt: 1,
  contract: null,
  to: stranger,
  tag: '42',
  amount: 123_456_789_012_345_678_901_234_567_890n,
};

const payload: SandboxPayload = {
  chain: 'ethereum',
  from: own,
  nonce: 3,
  to: intent.to,
  tag: intent.tag,
  contract: intent.contract,
  amount: intent.amount.toString(),
  fee: '21',
};

/** A transaction that states of itself what its payload says. */
function txOf(changed: Partial<SandboxPayload> = {}): PreparedTx {
  const full = { ...payload, ...changed };
  return {
    payload: encodePayload(full),
    reserves: [`nonce:${full.from}:${full.nonce}`],
    fee: BigInt(full.fee),
    expiresAt: null,
  };
}

let dir: string;
let journal: SignerJournal;
let signer: LocalSigner;

beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'signer-local-')), 'journal');
  journal = new SignerJournal(dir);
  signer = new LocalSigner({ keys, journal });
});

afterEach(async () => {
  await rm(join(dir, '..'), { recursive: true, force: true });
});

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // Those of attempts: each transaction is noted besides.
  return files.filter((file) => !file.includes('/transactions/'));
}

describe('a local signer', () => {
  it('refuses set-ups on chains that have none', async () => {
    const setup = { ...intent, amount: 0n, to: own, setup: 'tickets:40' };
    await expect(signer.sign('ethereum', setup, txOf({ amount: '0', to: own }))).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('the chain has no set-ups'),
    });
  });

  it('signs the decided payment, with bytes that the sandbox accepts', async () => {
    const tx = txOf();
    const signed = await signer.sign('ethereum', intent, tx);

    expect(openSandboxTx(signed.raw)).toEqual({ payload, txid: signed.txid });
    expect(signed).toEqual({
      txid: sandboxTxid(tx.payload),
      raw: expect.any(String),
      reserves: [`nonce:${own}:3`],
      expiresAt: null,
    });
  });

  it('pays from the one account of its seed on every chain', async () => {
    expect(await signer.hotWallet('ethereum')).toBe(own);
    expect(await signer.hotWallet('bitcoin')).toBe(own);
    const seed = mnemonicToSeedSync(entropyToMnemonic(new Uint8Array(32).fill(7), wordlist));
    expect(own).toBe(sandboxAddress(slip10Key(seed, "m/44'/1'/0'").publicKey));
    expect(stranger).not.toBe(own);
    // Its addresses are base58: another letter's case is another address.
    expect(
      [own, own.toLowerCase(), own.toUpperCase(), stranger].map((text) => sandbox.isHotWallet('bitcoin', text)),
    ).toEqual([true, false, false, false]);
  });

  it('returns the same bytes for the same request, also after a restart', async () => {
    const first = await signer.sign('ethereum', intent, txOf());
    const again = await signer.sign('ethereum', intent, txOf());
    const restarted = new LocalSigner({ keys, journal: new SignerJournal(dir) });

    expect(again).toEqual(first);
    expect(await restarted.sign('ethereum', intent, txOf())).toEqual(first);
    expect(await filesOf(dir)).toHaveLength(1);
  });

  it('never signs a revoked attempt, and returns the bytes of a signed one', async () => {
    expect(await signer.revoke('ethereum', intent, txOf())).toBeNull();
    expect(await signer.revoke('ethereum', intent, txOf())).toBeNull();
    const restarted = new LocalSigner({ keys, journal: new SignerJournal(dir) });
    await expect(restarted.sign('ethereum', intent, txOf())).rejects.toMatchObject({ code: 'revoked' });

    const second = { ...intent, attempt: 2 };
    const signed = await signer.sign('ethereum', second, txOf());
    expect(await signer.revoke('ethereum', second, txOf())).toEqual(signed);
    const third = restarted.revoke('ethereum', { ...intent, attempt: 0 }, txOf());
    await expect(third).rejects.toMatchObject({ code: 'refused' });
  });

  it('either signs or revokes an attempt when both are requested at once', async () => {
    for (let attempt = 1; attempt <= 20; attempt++) {
      const asked = { ...intent, id: `raced-${attempt}` };
      const others = new LocalSigner({ keys, journal: new SignerJournal(dir) });
      const [signed, revoked] = await Promise.all([
        signer.sign('ethereum', asked, txOf()).catch(() => null),
        others.revoke('ethereum', asked, txOf()),
      ]);
      expect(revoked).toEqual(signed);
    }
  });

  it('signs tokens and payments without a tag', async () => {
    const token = { ...intent, contract: '0xdac17f958d2ee523a2206206994597c13d831ec7', tag: null };
    const signed = await signer.sign('ethereum', token, txOf({ contract: token.contract, tag: null }));
    expect(openSandboxTx(signed.raw).payload).toMatchObject({ contract: token.contract, tag: null });
  });

  type Change = { chain?: string; intent?: Partial<PaymentIntent>; tx?: Partial<PreparedTx> };
  const refusals: [string, Change, RegExp][] = [
    ['another chain', { chain: 'bitcoin' }, /^the chain of/],
    ['another recipient', { tx: txOf({ to: own }) }, /^the recipient \(to\) of/],
    ['another tag', { tx: txOf({ tag: '43' }) }, /^the tag of/],
    ['no tag', { tx: txOf({ tag: null }) }, /^the tag of/],
    ['an empty tag for none', { intent: { tag: null }, tx: txOf({ tag: '' }) }, /^the tag of/],
    ['another asset', { tx: txOf({ contract: '0xdac17f' }) }, /^the contract of/],
    ['more coins', { tx: txOf({ amount: `${intent.amount + 1n}` }) }, /^the amount of the transaction/],
    ['fewer coins', { tx: txOf({ amount: `${intent.amount - 1n}` }) }, /^the amount of the transaction/],
    ["a stranger's account", { tx: txOf({ from: stranger }) }, /^the transaction does not pay from the hot wallet/],
    ['a fee above the stated one', { tx: { fee: 20n } }, /^the fee of/],
    ['a fee below the stated one', { tx: { fee: 22n } }, /^the fee of/],
    ['no reservation', { tx: { reserves: [] } }, /^the reserves/],
    ['the reservation of another nonce', { tx: { reserves: [`nonce:${own}:4`] } }, /^the reserves/],
    ['one reservation too many', { tx: { reserves: [`nonce:${own}:3`, `nonce:${own}:4`] } }, /^the reserves/],
    ['an expiry that the bytes lack', { tx: { expiresAt: { height: 77 } } }, /^the transaction never expires/],
    ['an amount of 0', { intent: { amount: 0n }, tx: txOf({ amount: '0' }) }, /^the amount of the payment/],
    ['an amount below 0', { intent: { amount: -1n } }, /^the amount of the payment/],
    ['attempt 0', { intent: { attempt: 0 } }, /^the attempt/],
    ['half an attempt', { intent: { attempt: 1.5 } }, /^the attempt/],
    ['a payment without id', { intent: { id: '' } }, /^the payment has no id/],
    ['a payload that is no JSON', { tx: { payload: 'pay' } }, /^the payload is not a sandbox transaction/],
    ['a payload of nothing', { tx: { payload: 'null' } }, /^the payload is not a sandbox transaction/],
    [
      'a payload in another form',
      { tx: { payload: ` ${txOf().payload}` } },
      /^the payload is not a sandbox transaction/,
    ],
    [
      'a payload with one more member',
      { tx: { payload: txOf().payload.replace('{', '{"to":"x",') } },
      /^the payload is not a sandbox transaction/,
    ],
    [
      'an amount that is a number',
      { intent: { amount: 5n }, tx: { payload: txOf({ amount: '5' }).payload.replace('"5"', '5') } },
      /^the (payload is no sandbox transaction|amount of the transaction)/,
    ],
  ];

  it.each(refusals)('refuses %s, names the member, and stores nothing', async (_what, change, detail) => {
    const { chain = 'ethereum' } = change;
    const refused = signer.sign(chain, { ...intent, ...change.intent }, { ...txOf(), ...change.tx });
    await expect(refused).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
    await expect(refused).rejects.toThrow(detail);
    expect(await filesOf(dir)).toEqual([]);
  });

  it('names every difference at once, and no values', async () => {
    const refused = signer.sign('bitcoin', intent, txOf({ to: own, tag: null }));
    await expect(refused).rejects.toThrow(/^the chain [^;]+; the recipient [^;]+; the tag [^;]+$/);
    await expect(refused).rejects.not.toThrow(own);
  });

  it('refuses another transaction for an attempt that was signed, and signs it for the next attempt', async () => {
    const first = await signer.sign('ethereum', intent, txOf());

    const other = signer.sign('ethereum', intent, txOf({ nonce: 4 }));
    await expect(other).rejects.toMatchObject({ code: 'refused' });
    await expect(other).rejects.toThrow('attempt 1 of payment 0199f7a2-0000-7000-8000-000000000001 was signed before');
    const otherPayment = signer.sign('ethereum', { ...intent, to: own }, txOf({ to: own }));
    await expect(otherPayment).rejects.toMatchObject({ code: 'refused' });

    const second = { ...intent, attempt: 2 };
    const forgotten = signer.sign('ethereum', second, txOf({ nonce: 4 }));
    await expect(forgotten).rejects.toMatchObject({ code: 'refused' });
    await expect(forgotten).rejects.toThrow(
      'attempt 1 of payment 0199f7a2-0000-7000-8000-000000000001 was signed and may have paid',
    );
    const next = await signer.sign('ethereum', second, txOf({ nonce: 4 }), [first.txid]);
    expect(next.txid).not.toBe(first.txid);
    expect(await signer.sign('ethereum', intent, txOf())).toEqual(first);
  });

  it('refuses a further attempt that pays something else', async () => {
    const { txid } = await signer.sign('ethereum', intent, txOf());
    const other = { ...intent, attempt: 2, amount: 5n };
    const refused = signer.sign('ethereum', other, txOf({ nonce: 4, amount: '5' }), [txid]);
    await expect(refused).rejects.toMatchObject({ code: 'refused' });
    await expect(refused).rejects.toThrow('another attempt of payment');
    expect(await filesOf(dir)).toHaveLength(1);
  });

  it('signs a payment as three transactions that do not exclude each other, and no more', async () => {
    const known: string[] = [];
    const sign = async (attempt: number, nonce: number) => {
      const tx = txOf({ nonce, fee: String(20 + attempt) });
      const signed = await signer.sign('ethereum', { ...intent, attempt }, tx, known);
      known.push(signed.txid);
      return signed;
    };
    const first = await sign(1, 3);
    await sign(2, 4);
    await sign(3, 5);
    await expect(sign(4, 6)).rejects.toThrow('as 3 transactions that do not exclude each other');
    // One that takes the place of another adds none.
    await sign(5, 5);
    await sign(6, 3);
    expect(await sign(1, 3)).toEqual(first);
  });

  it('signs one of two concurrent different transactions of a payment', async () => {
    const results = await Promise.allSettled([
      signer.sign('ethereum', intent, txOf()),
      signer.sign('ethereum', { ...intent, attempt: 2, amount: 5n }, txOf({ nonce: 4, amount: '5' })),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('is unavailable, and returns no bytes, when the journal cannot be written', async () => {
    await rm(dir, { recursive: true });
    await writeFile(dir, 'no directory');
    await expect(signer.sign('ethereum', intent, txOf())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('opens from a seed and a data directory, where all signers share one journal', async () => {
    const open = () => openLocalSigner({ entropy: new Uint8Array(32).fill(7), dataDir: dir });
    const signed = await (await open()).sign('ethereum', intent, txOf());

    expect(await (await open()).fingerprint()).toBe(keys.fingerprint());
    expect(await (await open()).sign('ethereum', intent, txOf())).toEqual(signed);
    await expect((await open()).sign('ethereum', intent, txOf({ nonce: 9 }))).rejects.toMatchObject({
      code: 'refused',
    });
    expect(await filesOf(join(dir, 'signer-journal'))).toHaveLength(1);
  });
});

describe('the journal of a signer', () => {
  const contents = {
    chain: 'ethereum',
    intentDigest: 'i',
    payloadDigest: 'p',
    txid: 't',
    reserves: ['nonce:a:1'],
    fee: 5n,
    expiresAt: null,
  };

  it('stores an attempt once, and another instance finds it', async () => {
    expect(await journal.record('payment', 1, contents)).toBe('recorded');
    expect(await journal.record('payment', 1, { ...contents })).toBe('same');
    expect(await new SignerJournal(dir).record('payment', 1, contents)).toBe('same');
    expect(await journal.record('payment', 2, contents)).toBe('recorded');
    expect(await journal.record('other payment', 1, contents)).toBe('recorded');
  });

  it('gives the stored bytes back for the very same request only', async () => {
    const { txid, ...asked } = contents;
    expect(await journal.kept('payment', 1, asked)).toBeNull();
    await journal.record('payment', 1, { ...contents, raw: 'ab' });
    expect(await new SignerJournal(dir).kept('payment', 1, asked)).toEqual({ txid, raw: 'ab' });
    const others = [{ chain: 'x' }, { intentDigest: 'x' }, { payloadDigest: 'x' }, { reserves: [] }, { fee: 6n }];
    for (const other of others) expect(await journal.kept('payment', 1, { ...asked, ...other })).toBeNull();
    expect(await journal.kept('payment', 1, { ...asked, expiresAt: { height: 1 } })).toBeNull();
    const second = journal.record('payment', 1, { ...contents, raw: 'cd' });
    await expect(second).rejects.toMatchObject({ code: 'refused' });
    // Entries without bytes, and a revoked attempt, have none.
    await journal.record('payment', 2, contents);
    expect(await journal.kept('payment', 2, asked)).toBeNull();
    await journal.revoke('payment', 3);
    await expect(journal.kept('payment', 3, asked)).rejects.toMatchObject({ code: 'revoked' });
  });

  it.each(['chain', 'intentDigest', 'payloadDigest', 'txid'])('refuses an attempt with another %s', async (member) => {
    await journal.record('payment', 1, contents);
    const other = new SignerJournal(dir).record('payment', 1, { ...contents, [member]: 'other' });
    await expect(other).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
  });

  it('stores one entry for 20 concurrent writers of the same attempt', async () => {
    const journals = [journal, new SignerJournal(dir)];
    const record = (txid: string) => (_: unknown, index: number) =>
      journals[index % 2]?.record('payment', 1, { ...contents, txid });

    const outcomes = await Promise.all(Array.from({ length: 20 }, record('t')));
    expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'same')).toHaveLength(19);
    expect(await filesOf(dir)).toHaveLength(1);
  });

  it('stores one of 20 concurrent different entries, and refuses the others', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => journal.record('payment', 1, { ...contents, txid: `t${index}` })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array.from({ length: 19 }, () => 'refused'));

    const [file = ''] = await filesOf(dir);
    const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      paymentId: 'payment',
      attempt: 1,
      chain: 'ethereum',
      intentDigest: 'i',
      payloadDigest: 'p',
      txid: `t${winner}`,
      reserves: ['nonce:a:1'],
      fee: '5',
    });
  });

  it('is stored in files that only their owner can read', async () => {
    await journal.record('payment', 1, contents);
    const [file = ''] = await filesOf(dir);
    const modes = await Promise.all([dir, join(file, '..'), file].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  it('ignores a torn file that a crash left', async () => {
    await journal.record('payment', 1, contents);
    const [file = ''] = await filesOf(dir);
    await rm(file);
    await writeFile(`${file}.0199f7a2-0000-7000-8000-000000000002.draft`, '{"paymentId":"pay');

    expect(await journal.record('payment', 1, contents)).toBe('recorded');
    expect(await new SignerJournal(dir).record('payment', 1, contents)).toBe('same');
  });

  it('reads entries of its first format, and adds no second entry', async () => {
    const { chain, intentDigest, payloadDigest, txid } = contents;
    const name = bytesToHex(sha256(utf8ToBytes('payment')));
    await mkdir(join(dir, name.slice(0, 2)));
    const early = { paymentId: 'payment', attempt: 1, chain, intentDigest, payloadDigest, txid };
    await writeFile(join(dir, name.slice(0, 2), `${name}-1.json`), `${JSON.stringify(early)}\n`);

    expect(await journal.record('payment', 1, contents)).toBe('same');
    const other = journal.record('payment', 1, { ...contents, txid: 'other' });
    await expect(other).rejects.toMatchObject({ code: 'refused' });
    expect(await filesOf(dir)).toHaveLength(1);
    expect(await journal.record('payment', 2, contents)).toBe('recorded');
    expect((await journal.entries('payment', 9)).toSorted((a, b) => a.attempt - b.attempt)).toEqual([
      { attempt: 1, intentDigest: 'i', txid, reserves: null, fee: 0n, expiresAt: null },
      { attempt: 2, intentDigest: 'i', txid, reserves: ['nonce:a:1'], fee: 5n, expiresAt: null },
    ]);
    expect(await journal.entries('other payment', 1)).toEqual([]);
  });

  it('accepts a transaction for one payload only, also from another payment', async () => {
    await journal.claim('litecoin', 'txid', 'payload');
    await journal.claim('litecoin', 'txid', 'payload');
    await journal.claim('bitcoin', 'txid', 'another payload');
    const lying = journal.claim('litecoin', 'txid', 'another payload');
    await expect(lying).rejects.toMatchObject({ code: 'refused' });
    await expect(lying).rejects.toThrow('signed before from another payload');
  });

  it('returns no entries of a payment when one of them is damaged', async () => {
    await journal.record('payment', 1, contents);
    const [file = ''] = await filesOf(dir);
    await truncate(file, 10);
    await expect(journal.entries('payment', 9)).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
  });

  it('refuses an attempt whose entry is damaged', async () => {
    await journal.record('payment', 1, contents);
    const [file = ''] = await filesOf(dir);
    await truncate(file, 10);
    await expect(journal.record('payment', 1, contents)).rejects.toMatchObject({ code: 'refused' });
  });
});
