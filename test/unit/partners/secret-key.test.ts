import fc from 'fast-check';
import { generateKey, KeyHasher, parseKey } from '../../../src/accounts/partners/secret-key.ts';

describe('a key', () => {
  it('has the documented form and can be parsed', () => {
    const key = generateKey('xp_test_');
    expect(key.whole).toMatch(/^xp_test_[0-9A-Za-z]{12}\.[0-9A-Za-z]{49}$/);
    expect(parseKey(key.whole)).toEqual(key);
  });

  it('is refused when any character is changed, missing or added', () => {
    fc.assert(
      fc.property(fc.nat({ max: 69 }), fc.constantFrom(...'0aZ.-_ é'), (position, character) => {
        const { whole } = generateKey('xp_live_');
        const changed = whole.slice(0, position) + character + whole.slice(position + 1);
        expect(parseKey(changed) === null).toBe(changed !== whole);
        expect(parseKey(whole.slice(0, position) + whole.slice(position + 1))).toBeNull();
        expect(parseKey(whole.slice(0, position) + character + whole.slice(position))).toBeNull();
      }),
    );
  });

  it.each([
    '',
    '.',
    'plaintextkey',
    'a.b',
    'xp_live_.',
    `xp_live_${'a'.repeat(12)}`,
    'x'.repeat(10_000),
  ])("refuses '%.40s'", (text) => {
    expect(parseKey(text)).toBeNull();
  });
});

describe('KeyHasher', () => {
  const hasher = new KeyHasher([
    { version: 2, secret: 'n'.repeat(32) },
    { version: 1, secret: 'o'.repeat(32) },
  ]);
  const old = new KeyHasher([{ version: 1, secret: 'o'.repeat(32) }]);

  it('verifies the key that it hashed and no other', () => {
    const key = generateKey('xp_test_');
    expect(hasher.matches(key, hasher.hash(key))).toBe(true);
    expect(hasher.matches(generateKey('xp_test_'), hasher.hash(key))).toBe(false);
    expect(hasher.matches(key, null)).toBe(false);
    // A key that matched before matches its own hash only.
    expect(hasher.matches(key, hasher.hash(key))).toBe(true);
    expect(hasher.matches(key, hasher.hash(generateKey('xp_test_')))).toBe(false);
    expect(hasher.matches(key, null)).toBe(false);
  });

  it('verifies keys of an older pepper, and none of an unknown pepper', () => {
    const key = generateKey('xp_test_');
    expect(hasher.matches(key, old.hash(key))).toBe(true);
    expect(old.matches(key, hasher.hash(key))).toBe(false);
  });

  it('stores nothing that reveals the secret', () => {
    const key = generateKey('xp_test_');
    const { mac } = hasher.hash(key);
    expect(mac.toString('latin1')).not.toContain(key.secret);
    expect(mac).toHaveLength(32);
  });
});
