import type { PaymentIntent, PreparedTx } from '../../../src/chains/port/chain-adapter.ts';
import { rulesByName, sandboxVariants, traitsOf, usualRules } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { SandboxTransactions } from '../../../src/chains/sandbox/sandbox-transactions.ts';
import {
  decodePayload,
  encodePayload,
  hasExpired,
  reservationOf,
  type SandboxPayload,
  sandboxTraits,
} from '../../../src/chains/sandbox/sandbox-tx.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const plain = { chain: 'bitcoin', from: 'sbx1', to: 'someone', tag: null, contract: null, amount: '5', fee: '1000' };

describe('a payload of the sandbox', () => {
  it('has the bytes that it always had, where nothing expires', () => {
    const text =
      '{"chain":"bitcoin","from":"sbx1","nonce":3,"to":"someone","tag":null,"contract":null,"amount":"5","fee":"1000"}';
    expect(encodePayload({ ...plain, nonce: 3 })).toBe(text);
    expect(decodePayload(text)).toEqual({ ...plain, nonce: 3 });
  });

  it.each<Partial<SandboxPayload>>([
    { nonce: 0, expiresAt: { height: 9 } },
    { attempt: 'p:1', expiresAt: { timeMs: 9 }, builtAtMs: 4 },
  ])('gives the members that were encoded: %j', (members) => {
    const payload = { ...plain, ...members };
    expect(decodePayload(encodePayload(payload))).toEqual(payload);
  });

  it.each<Record<string, unknown>>([
    {},
    { nonce: 1, attempt: 'p:1' },
    { nonce: -1 },
    { nonce: 1.5 },
    { attempt: '' },
    { attempt: 7 },
    { nonce: 1, expiresAt: null },
    { nonce: 1, expiresAt: {} },
    { nonce: 1, expiresAt: 'soon' },
    { nonce: 1, expiresAt: { height: 1, timeMs: 2 } },
    { nonce: 1, expiresAt: { height: -1 } },
    { nonce: 1, expiresAt: { height: '1' } },
    { nonce: 1, expiresAt: { blocks: 1 } },
    { nonce: 1, expiresAt: { height: 1 }, builtAtMs: 1 },
    { nonce: 1, expiresAt: { timeMs: 1 } },
    { nonce: 1, builtAtMs: 1 },
  ])('is refused with wrong members: %j', (members) => {
    const text = encodePayload({ ...plain, ...members } as SandboxPayload);
    expect(() => decodePayload(text)).toThrow('not a sandbox transaction');
  });

  it('expires at its height or time, to the unit', () => {
    expect(hasExpired(undefined, { height: 99, timeMs: 99 })).toBe(false);
    for (const [at, has] of [
      [9, false],
      [10, true],
      [11, true],
    ] as const) {
      expect(hasExpired({ height: 10 }, { height: at, timeMs: 99 })).toBe(has);
      expect(hasExpired({ timeMs: 10 }, { height: 99, timeMs: at })).toBe(has);
    }
  });
});

describe('rules of sandbox chains', () => {
  it('are the usual ones unless named otherwise, with the traits of the family', () => {
    expect(rulesByName('usual')).toBe(usualRules);
    expect(traitsOf(usualRules)).toEqual(sandboxTraits);
    expect(() => rulesByName('other')).toThrow(/choose usual, gaps, /);
    for (const rules of Object.values(sandboxVariants)) expect(() => traitsOf(rules)).not.toThrow();
  });

  it('that no chain can have are refused', () => {
    expect(() => traitsOf({ ...usualRules, mempool: false })).toThrow(RangeError);
    expect(() => traitsOf({ ...usualRules, exclusive: false })).toThrow(RangeError);
    expect(() => traitsOf({ ...usualRules, exclusive: false, expiry: { heights: 5 } })).toThrow(RangeError);
  });
});

describe('the signer of the sandbox', () => {
  const intent: PaymentIntent = {
    ...{ id: 'p', attempt: 2, from: null, contract: null, to: 'someone', tag: null, amount: 5n },
  };
  const keys = new SignerKeys(new Uint8Array(32).fill(3));
  const from = new SandboxTransactions(keys).hotWallet();
  const faults = (
    rules: keyof typeof sandboxVariants,
    members: Partial<SandboxPayload>,
    stated: Partial<PreparedTx> = {},
  ) => {
    const payload = { ...plain, from, ...members };
    const tx = {
      ...{ payload: encodePayload(payload), reserves: [reservationOf(payload)], fee: 1_000n },
      ...{ expiresAt: payload.expiresAt ?? null, ...stated },
    };
    return new SandboxTransactions(keys, sandboxVariants[rules]).open('bitcoin', intent, tx).faults;
  };
  const time = { expiresAt: { timeMs: 9_000 }, builtAtMs: 3_000 };
  const height = { expiresAt: { height: 60 } };

  it('signs what follows the rules', () => {
    expect(faults('usual', { nonce: 1 })).toEqual([]);
    expect(faults('expiry-height', { nonce: 1, ...height })).toEqual([]);
    expect(faults('expiry-time', { nonce: 1, ...time })).toEqual([]);
    expect(faults('not-exclusive', { attempt: 'p:2', ...time })).toEqual([]);
  });

  it('refuses an expiry of another kind, and one that is not stated as it is', () => {
    const never = ['the transaction never expires, and it states that it does'];
    expect(faults('usual', { nonce: 1, ...height })).toEqual(never);
    expect(faults('usual', { nonce: 1 }, { expiresAt: { height: 60 } })).toEqual(never);
    const ofHeight = ['the expiry of the transaction is not the height stated'];
    expect(faults('expiry-height', { nonce: 1 })).toEqual(ofHeight);
    expect(faults('expiry-height', { nonce: 1, ...time })).toEqual(ofHeight);
    expect(faults('expiry-height', { nonce: 1, ...height }, { expiresAt: { height: 59 } })).toEqual(ofHeight);
    expect(faults('expiry-height', { nonce: 1, ...height }, { expiresAt: null })).toEqual(ofHeight);
    const ofTime = ['the expiry of the transaction is not the time stated'];
    expect(faults('expiry-time', { nonce: 1, ...height })).toEqual(ofTime);
    expect(faults('expiry-time', { nonce: 1, ...time }, { expiresAt: { timeMs: 8_999 } })).toEqual(ofTime);
  });

  it('refuses an attempt where there are nonces, and the reverse, and that of another payment', () => {
    const wrong = ['the attempt of the transaction is not that of the payment'];
    expect(faults('usual', { attempt: 'p:2' })).toEqual(wrong);
    expect(faults('not-exclusive', { nonce: 1, ...time })).toEqual(wrong);
    for (const attempt of ['p:1', 'q:2', 'p:22']) {
      expect(faults('not-exclusive', { attempt, ...time })).toEqual(wrong);
    }
  });
});
