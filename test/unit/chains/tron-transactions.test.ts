import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';
import { tronAddress, tronDigits } from '../../../src/chains/addresses/tron.ts';
import type { Expiry, PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { TronTransactions } from '../../../src/chains/tron/tron-transactions.ts';
import {
  decodePayload,
  encodePayload,
  openTronTx,
  signTronTx,
  spreadMs,
  type TronTx,
} from '../../../src/chains/tron/tron-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const keys = new SignerKeys(new Uint8Array(32).fill(7));
const network = { chain: 'tron', expireAfterSec: 1_800 };
const signer = new TronTransactions({ network, keys });
const hot = signer.hotWallet();
const deposit = await deriveDepositAddress('TRX', keys.accountXpub('TRX'), 5);
const other = await deriveDepositAddress('TRX', keys.accountXpub('TRX'), 6);
const hotPath = "m/44'/195'/1'/0/0";
const depositPath = "m/44'/195'/0'/0/5";
const to = tronAddress('4112ab345eafdc9af9eaad7c97a2e9c3d4ddc0d7e1');
const thief = tronAddress(`41${'beef'.repeat(10)}`);
const token = tronAddress('41a614f803b6fd780986a42c78ec9c7f77e6ded13c');

function digits(address: string): string {
  return tronDigits(address) ?? '';
}

const builtAtMs = 1_777_438_106_000;
const expiresAtMs = builtAtMs + 1_800_000;
const coins: TronTx = {
  refBlockBytes: '1d00',
  refBlockHash: '081a3fe1f1440f1d',
  expiresAtMs,
  builtAtMs,
  feeLimit: 0n,
  owner: digits(hot),
  contract: null,
  to: digits(to),
  amount: 5_000_000n,
};
const tokens: TronTx = { ...coins, feeLimit: 30_000_000n, contract: digits(token) };
const intent: PaymentIntent = { id: 'one', attempt: 1, from: null, contract: null, to, tag: null, amount: 5_000_000n };

/** A payment with its transaction; both can be changed apart from each other. */
interface Case {
  readonly intent: PaymentIntent;
  readonly path: string;
  readonly tx: TronTx;
  readonly fee: bigint;
  readonly reserves: readonly string[];
  readonly expiresAt: Expiry | null;
  readonly chain: string;
}

const shared = { reserves: ['attempt:one:1'], expiresAt: { timeMs: expiresAtMs }, chain: 'tron' };
const ofHot = { ...shared, path: hotPath, fee: 30_000_000n };
const ofDeposit = { ...ofHot, path: depositPath };
const home = { owner: digits(deposit), to: digits(hot) };
const cases: Record<string, Case> = {
  'a payment of coins': { ...ofHot, intent, tx: coins, fee: 1_100_000n },
  'a payment of tokens': { ...ofHot, intent: { ...intent, contract: token }, tx: tokens },
  'a sweep of coins': {
    ...ofDeposit,
    intent: { ...intent, from: [deposit], to: hot },
    tx: { ...coins, ...home, amount: 5_000_000n - 300_000n },
    fee: 300_000n,
  },
  'a sweep of tokens': {
    ...ofDeposit,
    intent: { ...intent, from: [deposit], to: hot, contract: token },
    tx: { ...tokens, ...home },
  },
};

function prepared({ path, tx, fee, reserves, expiresAt }: Case): PreparedTx {
  const named = reserves.map((one) => one.replace('attempt:', `attempt:${path === hotPath ? hot : deposit}:`));
  return { payload: encodePayload({ path, tx }), reserves: named, fee, expiresAt };
}

/** What is wrong with a payment; 'no transaction' for a payload that is none. */
function faultsOf(one: Case, tx = prepared(one)): readonly string[] {
  try {
    return signer.open(one.chain, one.intent, tx).faults;
  } catch (error) {
    if (error instanceof SignerError && error.code === 'refused') return ['no transaction'];
    throw error;
  }
}

/** Each member of a transaction, changed by the least that it can be. */
function mutated(tx: TronTx): Record<string, TronTx> {
  const lastDigit = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`;
  const change = (value: TronTx[keyof TronTx]): readonly TronTx[keyof TronTx][] => {
    if (value === null) return [digits(token)];
    if (typeof value === 'string') return [lastDigit(value)];
    return typeof value === 'bigint' ? [value + 1n, value - 1n] : [value + 1, value - 1];
  };
  return Object.fromEntries(
    Object.entries(tx).flatMap(([name, value]) =>
      change(value).map((next, index) => [`${name} ${index}`, { ...tx, [name]: next }]),
    ),
  );
}

/** The reference is free: with a wrong one nothing is paid. A lower fee limit pays less. */
const free = /^refBlock|^builtAtMs|^feeLimit 1/;

describe('TronTransactions', () => {
  it('pays from an address that is no deposit address', () => {
    expect(hot).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    expect(hot).not.toBe(deposit);
  });

  it('knows its address by all capitals, and no other', () => {
    expect(signer.isHotWallet('tron', hot)).toBe(true);
    for (const other of [deposit, hot.toLowerCase(), hot.toUpperCase(), digits(hot), `${hot} `, '']) {
      expect(signer.isHotWallet('tron', other)).toBe(false);
    }
  });

  it('tells how further attempts are judged: by their expiry, and the time in the bytes', () => {
    expect(signer.traits).toMatchObject({ exclusive: false, furtherAttempts: 3 });
    const payment = cases['a payment of coins'] as Case;
    expect(signer.open('tron', payment.intent, prepared(payment)).builtAtMs).toBe(builtAtMs);
  });

  it('refuses chains that are not Tron', () => {
    expect(() => new TronTransactions({ network: { ...network, chain: 'ethereum' }, keys })).toThrow(/ethereum/);
    expect(() => new TronTransactions({ network: { ...network, chain: 'nowhere' }, keys })).toThrow(/nowhere/);
  });

  describe.each(Object.entries(cases))('%s', (_name, sound) => {
    it('is signed by its sender, always to the same bytes', () => {
      const { faults, sign } = signer.open('tron', sound.intent, prepared(sound));
      expect(faults).toEqual([]);
      const { txid, raw } = sign();
      expect(signer.open('tron', sound.intent, prepared(sound)).sign()).toEqual({ txid, raw });
      expect(openTronTx(raw)).toEqual({ txid, sender: sound.intent.from?.[0] ?? hot, tx: sound.tx });
    });

    it('is refused with any member changed', () => {
      const all = Object.entries(mutated(sound.tx));
      expect(new Set(all.map(([name]) => name.split(' ')[0]))).toEqual(new Set(Object.keys(sound.tx)));
      const accepted = all.filter(([, tx]) => faultsOf({ ...sound, tx }).length === 0).map(([name]) => name);
      expect(accepted.filter((name) => !free.test(name))).toEqual([]);
    });

    it('is refused when the payload differs in any byte of the payment', () => {
      const { payload } = prepared(sound);
      const { path, tx } = JSON.parse(payload) as { path: string; tx: string };
      const accepted = new Set<string>();
      for (let at = 0; at < tx.length; at += 2) {
        const byte = (Number.parseInt(tx.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
        const changed = JSON.stringify({ path, tx: tx.slice(0, at) + byte + tx.slice(at + 2) });
        if (faultsOf(sound, { ...prepared(sound), payload: changed }).length > 0) continue;
        for (const [name, value] of Object.entries(decodePayload(changed).tx)) {
          if (value !== sound.tx[name as keyof TronTx]) accepted.add(name);
        }
      }
      // A lower limit of the fee, another reference, another time of building within the bounds.
      const allowed = new Set(['refBlockBytes', 'refBlockHash', 'builtAtMs', 'feeLimit']);
      expect([...accepted].filter((name) => !allowed.has(name))).toEqual([]);
    });

    it('is refused when anything stated differs from the decided payment', () => {
      const changed = (changes: Partial<TronTx>): Case => ({ ...sound, tx: { ...sound.tx, ...changes } });
      const meant = (changes: Partial<PaymentIntent>): Case => ({ ...sound, intent: { ...sound.intent, ...changes } });
      const isSweep = sound.intent.from !== null;
      const late = expiresAtMs + spreadMs;
      const wrong: Record<string, Case> = {
        'another chain': { ...sound, chain: 'ethereum' },
        'another owner': changed({ owner: digits(thief) }),
        'another recipient': changed({ to: digits(thief) }),
        'nothing paid': { ...changed({ amount: 0n }), intent: { ...sound.intent, amount: isSweep ? sound.fee : 0n } },
        'a fee limit above the fee': changed({ feeLimit: sound.fee + 1n }),
        'the highest fee limit': changed({ feeLimit: 2n ** 63n - 1n }),
        'a negative fee': { ...sound, fee: -1n },
        'no expiration stated': { ...sound, expiresAt: null },
        'a height stated': { ...sound, expiresAt: { height: 100 } },
        'an earlier expiration stated': { ...sound, expiresAt: { timeMs: expiresAtMs - 1 } },
        'a later expiration stated': { ...sound, expiresAt: { timeMs: expiresAtMs + 1 } },
        'an expiration too far away': { ...changed({ expiresAtMs: late }), expiresAt: { timeMs: late } },
        'an expiration at once': { ...changed({ expiresAtMs: builtAtMs }), expiresAt: { timeMs: builtAtMs } },
        'no reservation': { ...sound, reserves: [] },
        'the reservation of another payment': { ...sound, reserves: ['attempt:two:1'] },
        'the reservation of another attempt': { ...sound, reserves: ['attempt:one:2'] },
        'two reservations': { ...sound, reserves: ['attempt:one:1', 'attempt:one:2'] },
        'another key': { ...sound, path: isSweep ? hotPath : depositPath },
        'the key of another deposit': { ...sound, path: "m/44'/195'/0'/0/6" },
        'a key of another account': { ...sound, path: "m/44'/195'/2'/0/0" },
        'a key of another coin': { ...sound, path: "m/44'/60'/1'/0/0" },
        'a key of no path': { ...sound, path: 'm' },
        'a key with an index of another form': { ...sound, path: "m/44'/195'/0'/0/05" },
        'a hardened index': { ...sound, path: "m/44'/195'/0'/0/2147483653" },
        'a tag': meant({ tag: '7' }),
        'another attempt': meant({ attempt: 2 }),
        'another payment': meant({ id: 'two' }),
        'another amount': meant({ amount: 5_000_001n }),
        'another recipient meant': meant({ to: thief }),
        'the recipient in other capitals': meant({ to: sound.intent.to.toLowerCase() }),
        'the recipient in digits': meant({ to: digits(sound.intent.to) }),
        'no address meant': meant({ to: 'no address' }),
        'another token meant': meant({ contract: thief }),
        'no token meant': meant({ contract: 'no address' }),
        'coins meant instead, or tokens': meant({ contract: sound.intent.contract === null ? token : null }),
        'another sender meant': meant({ from: [isSweep ? other : deposit] }),
        'no sender meant': meant({ from: [] }),
        'two senders meant': meant({ from: [deposit, deposit] }),
        'the hot wallet as a deposit': meant({ from: [hot] }),
      };
      const accepted = Object.entries(wrong).filter(([, one]) => faultsOf(one).length === 0);
      expect(accepted.map(([name]) => name)).toEqual([]);
    });

    it('names members in its faults, and no values', () => {
      const tx = { ...sound.tx, to: digits(thief), amount: 123_456_789n, expiresAtMs: expiresAtMs + 7 };
      const text = faultsOf({ ...sound, tx }).join(' ');
      expect(text).toMatch(/recipient.*amount.*expiration/s);
      expect(text).not.toMatch(/\d|beef|T[1-9A-HJ-NP-Za-km-z]{33}/);
    });

    it('may expire up to the end of the spread, and not later', () => {
      const lasting = (lifeMs: number) => {
        const timeMs = builtAtMs + lifeMs;
        return faultsOf({ ...sound, tx: { ...sound.tx, expiresAtMs: timeMs }, expiresAt: { timeMs } });
      };
      expect(lasting(1)).toEqual([]);
      expect(lasting(network.expireAfterSec * 1_000 + spreadMs - 1)).toEqual([]);
      for (const lifeMs of [0, -1, network.expireAfterSec * 1_000 + spreadMs]) {
        expect(lasting(lifeMs)).toEqual(['the expiration of the transaction is out of bounds']);
      }
    });
  });

  it('refuses a sweep whose amount does not cover its fee', () => {
    const sweep = cases['a sweep of coins'] as Case;
    const small = { ...sweep, intent: { ...sweep.intent, amount: sweep.fee }, tx: { ...sweep.tx, amount: 0n } };
    expect(faultsOf(small)).toContain('the amount of the sweep does not cover its fee');
  });

  it('counts a fee for payments from the hot wallet, also when the gateway states none', () => {
    const counted = (name: string): bigint | undefined => {
      const one = { ...(cases[name] as Case), fee: name.endsWith('of coins') ? 0n : tokens.feeLimit };
      return signer.open(one.chain, one.intent, prepared(one)).leastCounted;
    };
    // The recipient may be a new account. A token's transfer costs its bytes in addition to its
    // energy.
    expect(counted('a payment of coins')).toBe(1_100_000n);
    expect(counted('a payment of tokens')).toBe(tokens.feeLimit + 346_000n);
    // The swept address pays, and its coins are ours.
    expect(counted('a sweep of coins')).toBe(0n);
    expect(counted('a sweep of tokens')).toBe(0n);
  });

  it('refuses coins with a fee limit, and a token without one', () => {
    const fault = ['the fee limit of the transaction is not for coins, or missing for a token'];
    const plain = cases['a payment of coins'] as Case;
    expect(faultsOf({ ...plain, tx: { ...coins, feeLimit: 1n } })).toEqual(fault);
    expect(faultsOf({ ...(cases['a payment of tokens'] as Case), tx: { ...tokens, feeLimit: 0n } })).toEqual(fault);
  });

  it.each([
    ['no text of a payload', 'nonsense'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no members', '{}'],
    ['no transaction', JSON.stringify({ path: hotPath, tx: '' })],
    ['no digits', JSON.stringify({ path: hotPath, tx: 'zz' })],
    ['a number', JSON.stringify({ path: hotPath, tx: 7 })],
    ['signed bytes', JSON.stringify({ path: hotPath, tx: signTronTx(coins, new Uint8Array(32).fill(1)).raw })],
    ['a space', `${encodePayload({ path: hotPath, tx: coins })} `],
    ['upper case', encodePayload({ path: hotPath, tx: coins }).replace('ddc0d7e1', 'DDC0D7E1')],
  ])('refuses %s', (_what, payload) => {
    const open = () => signer.open('tron', intent, { ...prepared(cases['a payment of coins'] as Case), payload });
    expect(open).toThrow(SignerError);
    expect(open).toThrow('the payload is not a transaction of Tron');
  });
});
